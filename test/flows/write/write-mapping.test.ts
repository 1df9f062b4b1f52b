import { expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';
import { contact, createWriter, WRITE } from '../../support/scenes/writes.ts';

const app = await sharedApp();
const { sandbox } = app.app;

const read = {
  objects: [
    {
      objectName: 'contacts',
      destination: 'records',
      mapToName: 'people',
      requiredFields: [{ fieldName: 'email', mapToName: 'address' }, { mapToName: 'nickname' }],
      optionalFields: [{ fieldName: 'phone' }],
    },
  ],
};
const config = {
  read: [
    { objectName: 'contacts', fieldMappings: [{ fieldName: 'firstname', mapToName: 'nickname' }] },
  ],
  write: [{ objectName: 'contacts' }],
};

const written = (email: unknown) => sandbox.records('contacts').find((row) => row.email === email);

test('with an inherited mapping, mapped names are translated back and others are left out', async () => {
  const write = { objects: [{ objectName: 'contacts', inheritMapping: true }] };
  const writer = await createWriter(app, { content: { read, write }, config });
  const { email: address } = contact();
  const record = { address, nickname: 'Ann', phone: '1', score: 7, unheardOf: true };
  const answer = await writer.write({ objectName: 'people', record });
  expect(answer.result).toMatchObject({ success: true });
  expect(written(address)).toMatchObject({ email: address, firstname: 'Ann', phone: '1' });
  expect(written(address)?.score ?? null).toBeNull();
  expect(answer.operation.metadata.objects).toEqual(['contacts']);
});

test('where any field is allowed, names that are not mapped go as they are', async () => {
  const write = {
    objects: [
      { objectName: 'contacts', inheritMapping: true, valueDefaults: { allowAnyFields: true } },
    ],
  };
  const writer = await createWriter(app, { content: { read, write }, config });
  const { email: address } = contact();
  await writer.write({ record: { address, score: 7 } });
  expect(written(address)).toMatchObject({ email: address, score: 7 });
});

test('without it, names are the provider’s', async () => {
  const write = { objects: [{ objectName: 'contacts' }] };
  const writer = await createWriter(app, { content: { read, write }, config });
  const { email } = contact();
  const { result } = await writer.write({ record: { email, score: 7 } });
  expect(result).toMatchObject({ success: true });
  const refused = await writer.write({ record: { address: email } });
  expect(refused.result.success).toBe(false);
});

test('a field that is named twice, or a record of which nothing is left, is refused', async () => {
  const write = { objects: [{ objectName: 'contacts', inheritMapping: true }] };
  const writer = await createWriter(app, { content: { read, write }, config });
  const batch = [{ record: { email: 'a', address: 'b' } }, { record: { unheardOf: 1 } }];
  const { code, problem } = await writer.refusal(WRITE, writer.input({ batch }));
  expect(code).toBe('BAD_USER_INPUT');
  expect(problem.issues).toMatchObject([
    { name: 'input.batch[0].record.address', detail: 'names the field email a second time.' },
    { name: 'input.batch[1].record' },
  ]);
});

test('values in the words of the builder are written as the provider has them', async () => {
  const write = { objects: [{ objectName: 'contacts', inheritMapping: true }] };
  const [object] = read.objects;
  const optionalFields = [
    { fieldName: 'lifecycle', mapToName: 'phase' },
    { fieldName: 'interests' },
  ];
  const content = { read: { objects: [{ ...object, optionalFields }] }, write };
  const values = (deliveredValue: string, providerValue: string) => [
    { deliveredValue, providerValue },
  ];
  const valueMappings = [
    { fieldName: 'lifecycle', values: values('fresh', 'lead') },
    { fieldName: 'interests', values: values('goods', 'product') },
  ];
  const [choice] = config.read;
  const fields = [{ fieldName: 'phase', default: 'fresh' }];
  const writer = await createWriter(app, {
    content,
    config: {
      read: [{ ...choice, valueMappings }],
      write: [{ objectName: 'contacts', fields }],
    } as never,
  });
  const phaseOf = async (given: object) => {
    const { email: address } = contact();
    await writer.write({ objectName: 'people', record: { address, ...given } });
    const { lifecycle, interests } = written(address) ?? {};
    return [lifecycle, interests];
  };
  expect(await phaseOf({ phase: 'fresh', interests: ['goods', 'events'] })).toEqual([
    'lead',
    ['product', 'events'],
  ]);
  // Under the provider's name it is the provider's value.
  expect(await phaseOf({ lifecycle: 'customer' })).toEqual(['customer', null]);
  expect(await phaseOf({})).toEqual(['lead', null]);
});
