import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { createContact, createWriter, WRITE_RECORDS } from '../../support/fixtures/writes.ts';

const app = await getSharedApp();
const { sandbox } = app.app;

const read = {
  objects: [
    {
      objectName: 'contacts',
      destination: 'records',
      mapToName: 'people',
      requiredFields: [{ fieldName: 'email', mapToName: 'address' }, { mapToName: 'nickname' }],
      optionalFields: [{ fieldName: 'phone' }, { mapToName: 'tier' }],
    },
  ],
};
const config = {
  read: [
    { objectName: 'contacts', fieldMappings: [{ fieldName: 'firstname', mapToName: 'nickname' }] },
  ],
  write: [{ objectName: 'contacts' }],
};

const findContact = (email: unknown) =>
  sandbox.listRecords('contacts').find((row) => row.email === email);

test('translates mapped names and omits unmapped names if the mapping is inherited', async () => {
  const write = { objects: [{ objectName: 'contacts', inheritMapping: true }] };
  const writer = await createWriter(app, { content: { read, write }, config });
  const { email: address } = createContact();
  const record = { address, nickname: 'Ann', phone: '1', tier: 'gold' };
  const response = await writer.write({ objectName: 'people', record });
  expect(response.result).toMatchObject({ success: true });
  expect(findContact(address)).toMatchObject({ email: address, firstname: 'Ann', phone: '1' });
  expect(response.operation.metadata.objects).toEqual(['contacts']);
});

test('writes unmapped names unchanged if any field is allowed', async () => {
  const write = {
    objects: [
      { objectName: 'contacts', inheritMapping: true, valueDefaults: { allowAnyFields: true } },
    ],
  };
  const writer = await createWriter(app, { content: { read, write }, config });
  const { email: address } = createContact();
  await writer.write({ record: { address, score: 7 } });
  expect(findContact(address)).toMatchObject({ email: address, score: 7 });
});

test("writes the provider's names if the mapping is not inherited", async () => {
  const write = { objects: [{ objectName: 'contacts' }] };
  const writer = await createWriter(app, { content: { read, write }, config });
  const { email } = createContact();
  const { result } = await writer.write({ record: { email, score: 7 } });
  expect(result).toMatchObject({ success: true });
  const refusedWrite = await writer.write({ record: { address: email } });
  expect(refusedWrite.result.success).toBe(false);
});

test('refuses a field that is named twice, and a record without mapped fields', async () => {
  const write = { objects: [{ objectName: 'contacts', inheritMapping: true }] };
  const writer = await createWriter(app, { content: { read, write }, config });
  const batch = [{ record: { email: 'a', address: 'b' } }, { record: { tier: 1 } }];
  const { code, problem } = await writer.expectRefusal(
    WRITE_RECORDS,
    writer.createVariables({ batch }),
  );
  expect(code).toBe('BAD_USER_INPUT');
  expect(problem.issues).toMatchObject([
    {
      name: 'input.records.batch[0].record.address',
      detail: 'names the field email a second time.',
    },
    {
      name: 'input.records.batch[1].record',
      detail: 'has no field that is written. These names are omitted: tier.',
    },
  ]);
});

test("translates mapped values to the provider's values", async () => {
  const write = { objects: [{ objectName: 'contacts', inheritMapping: true }] };
  const [object] = read.objects;
  const optionalFields = [
    { fieldName: 'lifecycle', mapToName: 'phase' },
    { fieldName: 'interests' },
  ];
  const content = { read: { objects: [{ ...object, optionalFields }] }, write };
  const createValues = (deliveredValue: string, providerValue: string) => [
    { deliveredValue, providerValue },
  ];
  const valueMappings = [
    { fieldName: 'lifecycle', values: createValues('fresh', 'lead') },
    { fieldName: 'interests', values: createValues('goods', 'product') },
  ];
  const [choice] = config.read;
  const fields = [{ fieldName: 'phase', default: 'fresh' }];
  const writer = await createWriter(app, {
    content,
    config: {
      read: [{ ...choice, valueMappings }],
      write: [{ objectName: 'contacts', fields }],
    },
  });
  const writeAndRead = async (fields: object) => {
    const { email: address } = createContact();
    await writer.write({ objectName: 'people', record: { address, ...fields } });
    const { lifecycle, interests } = findContact(address) ?? {};
    return [lifecycle, interests];
  };
  expect(await writeAndRead({ phase: 'fresh', interests: ['goods', 'events'] })).toEqual([
    'lead',
    ['product', 'events'],
  ]);
  // Values are translated only under the mapped name.
  expect(await writeAndRead({ lifecycle: 'customer' })).toEqual(['customer', null]);
  expect(await writeAndRead({})).toEqual(['lead', null]);
});
