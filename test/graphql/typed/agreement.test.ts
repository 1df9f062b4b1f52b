/**
 * The typed API agrees with `records` and `writeRecords`, for generated manifests over the providers' stand-ins.
 *
 * @module-tag all/walk
 */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { newId } from '../../../src/kernel/ids.ts';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import { startStandIns } from '../../clients/manifest-stand-ins.ts';
import { getSharedApp, HIGH_RATE_LIMITS, type Tenant, type TestApp } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { CREATE_INSTALLATION, createIntegration } from '../../support/fixtures/integrations.ts';
import {
  createTypedClient,
  installPeople,
  startTypedApi,
} from '../../support/fixtures/typed-api.ts';
import type { GraphqlClient } from '../../support/graphql-client.ts';

const peopleApp = await startTypedApi(HIGH_RATE_LIMITS);
const standIns = await startStandIns();
const vendorApp = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', ...HIGH_RATE_LIMITS },
  providers: standIns.providers,
});
afterAll(() => standIns[Symbol.asyncDispose]());

interface WrittenField {
  fieldName: string;
  /** The type that a manifest pins. */
  valueType: string;
  /** Returns a value that the test server accepts. */
  createValue: () => unknown;
}

const createEmail = () => `${newId('opr')}@example.test`;

/** Fields of the test servers that have several types. */
const TYPED_FIELDS = {
  sandbox: [
    { fieldName: 'email', valueType: 'STRING', createValue: createEmail },
    { fieldName: 'lastname', valueType: 'STRING', createValue: () => 'Lovelace' },
    { fieldName: 'score', valueType: 'INT', createValue: () => 42 },
    { fieldName: 'annual_spend', valueType: 'FLOAT', createValue: () => 1.5 },
    { fieldName: 'newsletter', valueType: 'BOOLEAN', createValue: () => true },
    { fieldName: 'birthday', valueType: 'DATE', createValue: () => '1815-12-10' },
    { fieldName: 'lifecycle', valueType: 'SINGLE_SELECT', createValue: () => 'customer' },
  ],
  zoho: [
    { fieldName: 'Last_Name', valueType: 'STRING', createValue: () => 'Hopper' },
    { fieldName: 'Company', valueType: 'OTHER', createValue: () => 'Globex' },
    { fieldName: 'Age', valueType: 'INT', createValue: () => 79 },
    { fieldName: 'Email_Opt_Out', valueType: 'BOOLEAN', createValue: () => false },
  ],
  sandboxDesk: [
    { fieldName: 'mail', valueType: 'STRING', createValue: createEmail },
    { fieldName: 'given', valueType: 'STRING', createValue: () => 'Radia' },
    { fieldName: 'newsletter', valueType: 'BOOLEAN', createValue: () => true },
  ],
} satisfies Record<string, WrittenField[]>;

/** Names that a contract has to make safe, and names of other fields of the provider. */
const FIELD_NAMES = ['name', 'Full name', '1st', 'phone', 'given_name', 'Größe', 'year'];

function createManifests(writtenFields: readonly WrittenField[]) {
  const otherNames = FIELD_NAMES.filter(
    (name) => !writtenFields.some(({ fieldName }) => fieldName === name),
  );
  return fc
    .record({
      objectName: fc.constantFrom('people', 'companies', 'Our people'),
      pins: fc.boolean(),
      seed: fc.integer({ min: 0, max: 1_000 }),
      names: fc.shuffledSubarray(otherNames, { minLength: otherNames.length }),
    })
    .map(({ seed, names, pins, ...rest }) => {
      const fields = writtenFields.map(({ fieldName, valueType, createValue }, index) => {
        const isMapped = (seed >> index) % 2 === 0;
        const name = isMapped ? (names[index] as string) : fieldName;
        const mapping = {
          fieldName,
          ...(isMapped && { mapToName: name }),
          ...(pins && { valueType }),
        };
        return {
          mapping,
          name,
          member: toMember(name),
          createValue,
          isUnique: createValue === createEmail,
        };
      });
      return { ...rest, fields };
    });
}

type Manifest = ReturnType<typeof createManifests> extends fc.Arbitrary<infer T> ? T : never;

/** GraphQL's form of a name, as docs/typed-api.md describes it. */
function toMember(name: string): string {
  if (name === 'Größe') return 'Gr_x00F6__x00DF_e';
  const safe = name.replace(/[^A-Za-z0-9_]+/g, '_');
  return /^\d/.test(safe) ? `_${safe}` : safe;
}

const LIST_RECORDS = `query ListRecords($id: ID!, $objectName: String!) { node(id: $id) { ... on Installation {
  records(objectName: $objectName, first: 1000) { nodes { id fields mappedFields raw } }
} } }`;
const WRITE_RECORDS = `mutation WriteRecords($input: WriteRecordsInput!) {
  writeRecords(input: $input) { result { success recordId } }
}`;

async function listBoth(
  { tenant, typed }: { tenant: Tenant; typed: GraphqlClient },
  { objectName, fields }: Manifest,
  id: string,
) {
  const members = fields.map(({ member }) => member).join(' ');
  const list = toMember(objectName);
  const [untyped, page] = await Promise.all([
    tenant.query(LIST_RECORDS, { id, objectName }),
    typed.query(`{ page: ${list}(group: "acme", first: 1000) { nodes { id _raw ${members} } } }`),
  ]);
  const expectedRecords = untyped.node.records.nodes.map(
    ({ id: recordId, raw, ...entry }: Record<string, unknown>) => {
      const values: Record<string, unknown> = {
        ...(entry.fields as object),
        ...(entry.mappedFields as object),
      };
      return {
        id: recordId,
        _raw: raw,
        ...Object.fromEntries(fields.map(({ name, member }) => [member, values[name]])),
      };
    },
  );
  return { expected: expectedRecords, actual: page.page.nodes };
}

/** Returns the id of the installation. */
type Install = (tenant: Tenant, manifest: Manifest) => Promise<string>;

async function expectAgreement(app: TestApp, manifest: Manifest, install: Install): Promise<void> {
  const tenant = await app.createTenant();
  const typed = createTypedClient(app, tenant);
  const id = await install(tenant, manifest);
  const { objectName, fields } = manifest;
  const type = toMember(objectName).replace(/^./, (first) => first.toUpperCase());
  const createValues = (key: 'name' | 'member') =>
    Object.fromEntries(fields.map((field) => [field[key], field.createValue()]));
  const create = `mutation Create${type}($input: Create${type}Input!) {
    written: create${type}(group: "acme", input: $input) { success id }
  }`;
  const { written } = await typed.query(create, { input: createValues('member') });
  const { writeRecords } = await tenant.query(WRITE_RECORDS, {
    input: {
      projectIdOrName: tenant.projectId,
      integrationIdOrName: 'crm',
      groupRef: 'acme',
      objectName,
      type: 'CREATE',
      records: { record: createValues('name') },
    },
  });
  expect([written.success, writeRecords.result.success]).toEqual([true, true]);
  const { expected, actual } = await listBoth({ tenant, typed }, manifest, id);
  expect(actual).toEqual(expected);
  const findValues = (recordId: string) => {
    const record = actual.find((node: { id: string }) => node.id === recordId);
    expect(record, recordId).toBeDefined();
    const { id: _id, _raw, ...values } = record;
    return values;
  };
  const unique = fields.find(({ isUnique }) => isUnique)?.member ?? '';
  expect({ ...findValues(written.id), [unique]: '' }).toEqual({
    ...findValues(writeRecords.result.recordId),
    [unique]: '',
  });
}

const TYPED_OBJECTS = [
  { provider: 'sandbox', objectName: 'contacts' },
  { provider: 'sandboxDesk', objectName: 'people' },
  { provider: 'zoho', objectName: 'Leads' },
] as const;

test.each(
  TYPED_OBJECTS,
)('agrees with records and writeRecords at $provider, for fields of all types', async ({
  provider,
  objectName,
}) => {
  const install: Install = (tenant, { objectName: mapToName, fields }) =>
    installPeople(peopleApp, tenant, {
      integration: 'crm',
      provider,
      groupRef: 'acme',
      read: {
        mapToName,
        requiredFields: fields.map(({ mapping }) => mapping),
        optionalFields: [],
      },
      config: { read: [{ objectName }], write: [{ objectName }] },
    });
  await fc.assert(
    fc.asyncProperty(createManifests(TYPED_FIELDS[provider]), (manifest) =>
      expectAgreement(peopleApp, manifest, install),
    ),
    { numRuns: 5 },
  );
});

/** An object that each provider can create and list. */
const VENDOR_OBJECTS = [
  ...DECLARATIONS.flatMap(({ name }) => {
    const provider = standIns.providers.find((candidate) => candidate.name === name);
    const object = provider?.commonObjects?.find(({ writes }) => writes?.includes('CREATE'));
    return object ? [{ provider: name, objectName: object.name }] : [];
  }),
  { provider: 'hubspot', objectName: 'contacts' },
  { provider: 'salesforce', objectName: 'Contact' },
];

test.each(VENDOR_OBJECTS)('agrees with records and writeRecords at $provider', async ({
  provider,
  objectName,
}) => {
  await using account = await standIns.open({ provider, module: null, objectName, fields: [] });
  const install: Install = async (tenant, manifest) => {
    const read = {
      objectName,
      mapToName: manifest.objectName,
      destination: 'records',
      requiredFields: manifest.fields.map(({ mapping }) => mapping),
    };
    const content = {
      name: 'crm',
      provider,
      read: { objects: [read] },
      write: { objects: [{ objectName, inheritMapping: true }] },
    };
    await createIntegration(vendorApp, tenant, content);
    await generateConnection(tenant, { provider, ...account.connection });
    const { createInstallation } = await tenant.query(CREATE_INSTALLATION, {
      input: {
        projectIdOrName: tenant.projectId,
        integrationIdOrName: 'crm',
        groupRef: 'acme',
        config: { read: [{ objectName }], write: [{ objectName }] },
      },
    });
    return createInstallation.installation.id;
  };
  const fields = Object.entries(account.record).map(([fieldName, value]) => ({
    fieldName,
    // Some vendors return a text as an object.
    valueType: 'OTHER',
    createValue: fieldName === 'email' ? createEmail : () => value,
  }));
  await fc.assert(
    fc.asyncProperty(createManifests(fields), (manifest) =>
      expectAgreement(vendorApp, manifest, install),
    ),
    { numRuns: 1 },
  );
});
