/** Compares the contract of an installation with its reads, searches and writes. */
import { afterAll, expect, test } from 'vitest';
import type { ObjectContract } from '../../../../src/domain/data/contract/contract-resource.ts';
import type { FieldContract } from '../../../../src/domain/data/contract/field-contract.ts';
import type { Provider } from '../../../../src/providers/contract.ts';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import { createSandboxProvider } from '../../../../src/providers/sandbox/sandbox-provider.ts';
import { getSharedApp } from '../../../support/app.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import { CREATE_INSTALLATION, createIntegration } from '../../../support/fixtures/integrations.ts';
import { startSandbox } from '../../../support/providers/sandbox.ts';
import { getDeclaration } from '../../../support/wire/declarations.ts';
import { startVendorServer } from '../../../support/wire/vendor-server.ts';
import { pipedrive } from '../../../support/wire/vendors/crm/pipedrive-wire.ts';
import { zoho } from '../../../support/wire/vendors/crm/zoho-wire.ts';
import { TOKEN } from '../../../support/wire/wire-format.ts';

const servers = {
  sandbox: await startSandbox(),
  pipedrive: await startVendorServer(pipedrive.fixture),
  zoho: await startVendorServer(zoho.fixture),
};
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [
    createSandboxProvider(() => servers.sandbox.url),
    createProviderAt('pipedrive', servers.pipedrive.url),
    createProviderAt('zoho', servers.zoho.url),
  ],
});
afterAll(async () => {
  for (const server of Object.values(servers)) await server[Symbol.asyncDispose]();
});

function createProviderAt(name: string, baseUrl: string): Provider {
  return createDeclarativeProvider({
    ...getDeclaration(name),
    baseUrl,
    modules: undefined,
    authSchemes: ['API_KEY'],
    apiKey: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
    oauth2: undefined,
    limits: { requestsPerSecond: 1_000 },
  });
}

const GET_CONTRACT = `query GetContract($id: ID!) { node(id: $id) { ... on Installation { contract {
  findings { kind }
  objects {
    name verbs filterable { fields conditionsMax }
    fields { name providerField type isList isRequired isReadOnly isWriteOnly isAlwaysRead values { value } }
  }
} } } }`;
const LIST_RECORDS = `query ListRecords($id: ID!, $objectName: String!, $filters: [RecordFilterInput!]) {
  node(id: $id) { ... on Installation {
    records(objectName: $objectName, filters: $filters) { nodes { id fields mappedFields } }
  } }
}`;
const WRITE_RECORDS = `mutation WriteRecords($input: WriteRecordsInput!) {
  writeRecords(input: $input) { result { success recordId errors { message } } }
}`;

interface Subject {
  provider: string;
  objectName: string;
  /** A field that holds text, which the integration names `label`. */
  textField: string;
  key: string;
  providerMetadata?: object;
}

const SUBJECTS: Subject[] = [
  { provider: 'sandbox', objectName: 'contacts', textField: 'lastname', key: 'sandbox-key' },
  { provider: 'pipedrive', objectName: 'deals', textField: 'title', key: TOKEN },
  {
    provider: 'zoho',
    objectName: 'Leads',
    textField: 'Last_Name',
    key: TOKEN,
    providerMetadata: { zoho_token_domain: 'accounts.zoho.eu' },
  },
];

async function install({ provider, objectName, textField, key, providerMetadata }: Subject) {
  const tenant = await app.createTenant();
  await createIntegration(app, tenant, {
    name: 'crm',
    provider,
    read: {
      objects: [
        {
          objectName,
          destination: 'records',
          mapToName: 'things',
          requiredFields: [{ fieldName: textField, mapToName: 'label' }],
          optionalFieldsAuto: 'ALL',
        },
      ],
    },
    write: { objects: [{ objectName, inheritMapping: true }] },
  } as { name: string; provider: string });
  await generateConnection(tenant, { provider, apiKey: key, providerMetadata });
  const target = {
    projectIdOrName: tenant.projectId,
    integrationIdOrName: 'crm',
    groupRef: 'acme',
  };
  const config = {
    read: [{ objectName, selectedFieldsAuto: 'ALL' }],
    write: [{ objectName, deletionEnabled: true }],
  };
  const { createInstallation } = await tenant.query(CREATE_INSTALLATION, {
    input: { ...target, config },
  });
  const { id } = createInstallation.installation;
  const { contract } = (await tenant.query(GET_CONTRACT, { id })).node;
  expect(contract.findings).toEqual([]);
  const object = contract.objects[0] as ObjectContract;
  const write = async (type: string, record: object) => {
    const input = { ...target, objectName: 'things', type, records: { record } };
    const { data } = await tenant.request(WRITE_RECORDS, { input });
    return (data?.writeRecords as { result: { success: boolean; recordId: string } } | null)
      ?.result;
  };
  const queryRecords = (filters?: object[]) =>
    tenant.request(LIST_RECORDS, { id, objectName: 'things', filters });
  return { object, write, queryRecords };
}

let emailCount = 0;

/** Returns a value of the field's type. */
function createValue({ type, isList, values, name }: FieldContract): unknown {
  const value = {
    STRING: name === 'email' ? `ann-${++emailCount}@example.com` : 'text',
    INTEGER: 7,
    NUMBER: 7.5,
    BOOLEAN: true,
    DATE: '2026-01-31',
    DATE_TIME: '2026-01-31T12:00:00.000Z',
    ENUM: values?.[0]?.value ?? 'value',
    REFERENCE: null,
    JSON: null,
  }[type];
  return isList ? [value] : value;
}

const listWritableFields = ({ fields }: ObjectContract) =>
  fields.filter(({ isReadOnly }) => !isReadOnly);

function createRecord(fields: readonly FieldContract[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field.name, createValue(field)]));
}

test.each(SUBJECTS)('$provider accepts each writable field and returns it', async (subject) => {
  const { object, write, queryRecords } = await install(subject);
  expect(object.verbs).toEqual(expect.arrayContaining(['LIST', 'READ_BY_ID', 'CREATE', 'UPDATE']));
  const record = createRecord(listWritableFields(object));
  const creation = await write('CREATE', record);
  expect(creation).toMatchObject({ success: true });
  const { data } = await queryRecords();
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
  const nodes = (data as any).node.records.nodes as Record<string, any>[];
  const storedRecord = nodes.find(({ id }) => id === creation?.recordId);
  const members: Record<string, unknown> = {
    ...storedRecord?.fields,
    ...storedRecord?.mappedFields,
  };
  const alwaysRead = object.fields.filter(({ isAlwaysRead }) => isAlwaysRead);
  expect(Object.keys(members)).toEqual(expect.arrayContaining(alwaysRead.map(({ name }) => name)));
  expect(members).toMatchObject(record);
  const update = await write('UPDATE', { id: creation?.recordId, label: 'changed' });
  expect(update).toMatchObject({ success: true });
});

test.each(SUBJECTS)('$provider searches by the fields that can be filtered', async (subject) => {
  const { object, write, queryRecords } = await install(subject);
  await write('CREATE', createRecord(listWritableFields(object)));
  const filters = [{ fieldName: 'label', value: 'text' }];
  const { data, errors } = await queryRecords(filters);
  if (object.verbs.includes('SEARCH')) {
    expect(object.filterable.fields).toContain('label');
    expect(data).toMatchObject({
      node: { records: { nodes: [expect.objectContaining({ id: expect.any(String) })] } },
    });
  } else {
    expect(object.filterable).toEqual({ fields: [], conditionsMax: 0 });
    expect(errors).toMatchObject([{ extensions: { code: 'UNPROCESSABLE' } }]);
  }
});

test('the sandbox refuses a new record without a required field', async () => {
  const { object, write } = await install(SUBJECTS[0] as Subject);
  const requiredFields = listWritableFields(object).filter(({ isRequired }) => isRequired);
  expect(requiredFields.map(({ name }) => name)).toEqual(['email']);
  const optionalFields = listWritableFields(object).filter(({ isRequired }) => !isRequired);
  expect(await write('CREATE', createRecord(optionalFields))).toMatchObject({ success: false });
});

test('the sandbox refuses each read-only field', async () => {
  const { object, write } = await install(SUBJECTS[0] as Subject);
  const readOnlyFields = object.fields.filter(
    ({ isReadOnly, name }) => isReadOnly && name !== 'id',
  );
  expect(readOnlyFields.map(({ name }) => name)).toEqual(['created_at', 'updated_at']);
  for (const field of readOnlyFields) {
    const record = { email: 'bob@example.com', [field.name]: createValue(field) };
    expect(await write('CREATE', record)).toMatchObject({ success: false });
  }
});
