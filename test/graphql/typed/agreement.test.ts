/** The typed API agrees with `records` and `writeRecords`, for generated manifests over the providers' stand-ins. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newId } from '../../../src/ids.ts';
import type { Tenant } from '../../support/app.ts';
import type { GraphqlClient } from '../../support/graphql-client.ts';
import { installPeople, typedApi, typedClient } from '../../support/scenes/typed-api.ts';
import { WIRES } from '../../support/wire/vendors/all.ts';

/** Vendors whose test servers accept a token in the Authorization header, and need no other fact of the account. */
const VENDORS = [
  'attio',
  'close',
  'front',
  'intercom',
  'klaviyo',
  'linear',
  'outreach',
  'pipedrive',
  'salesloft',
  'serviceNow',
  'square',
  'stripe',
  'zendeskSupport',
];
const app = await typedApi(
  { RATE_LIMIT_PER_SECOND: '100000', RATE_LIMIT_BURST: '100000' },
  VENDORS,
);

interface WrittenField {
  fieldName: string;
  /** The type that a manifest pins. */
  valueType: string;
  /** Returns a value that the test server accepts. */
  value: () => unknown;
}

/** Fields of the test servers that have several types. */
const FIELDS: Record<string, WrittenField[]> = {
  sandbox: [
    { fieldName: 'email', valueType: 'STRING', value: () => `${newId('opr')}@example.test` },
    { fieldName: 'lastname', valueType: 'STRING', value: () => 'Lovelace' },
    { fieldName: 'score', valueType: 'INT', value: () => 42 },
    { fieldName: 'annual_spend', valueType: 'FLOAT', value: () => 1.5 },
    { fieldName: 'newsletter', valueType: 'BOOLEAN', value: () => true },
    { fieldName: 'birthday', valueType: 'DATE', value: () => '1815-12-10' },
    { fieldName: 'lifecycle', valueType: 'SINGLE_SELECT', value: () => 'customer' },
  ],
  zoho: [
    { fieldName: 'Last_Name', valueType: 'STRING', value: () => 'Hopper' },
    { fieldName: 'Company', valueType: 'OTHER', value: () => 'Globex' },
    { fieldName: 'Age', valueType: 'INT', value: () => 79 },
    { fieldName: 'Email_Opt_Out', valueType: 'BOOLEAN', value: () => false },
  ],
  sandboxDesk: [
    { fieldName: 'mail', valueType: 'STRING', value: () => `${newId('opr')}@example.test` },
    { fieldName: 'given', valueType: 'STRING', value: () => 'Radia' },
    { fieldName: 'newsletter', valueType: 'BOOLEAN', value: () => true },
  ],
};

/** The fields of a vendor's test server: a text, and those that each record must have. */
function listFields(provider: string): WrittenField[] {
  const { textField = '', requiredValues = {} } = WIRES[provider] ?? {};
  const texts = { ...requiredValues, [textField]: 'Lovelace' };
  return (
    FIELDS[provider] ??
    Object.entries(texts).map(([fieldName, text]) => ({
      fieldName,
      valueType: 'STRING',
      value: () => text,
    }))
  );
}

/** The field of a test server that is unique. */
const UNIQUE: Record<string, string> = { sandbox: 'email', sandboxDesk: 'mail' };

/** Names that a contract has to make safe, and names of other fields of the provider. */
const NAMES = ['name', 'Full name', '1st', 'phone', 'given_name', 'Größe', 'year'];

const createManifests = (provider: string) =>
  fc
    .record({
      provider: fc.constant(provider),
      objectName: fc.constantFrom('people', 'companies', 'Our people'),
      pins: fc.boolean(),
      seed: fc.integer({ min: 0, max: 1_000 }),
      names: fc.shuffledSubarray(NAMES, { minLength: 7, maxLength: 7 }),
    })
    .map(({ seed, names, pins, ...rest }) => {
      const fields = listFields(provider).map((field, index) => {
        const isMapped = (seed >> index) % 2 === 0;
        const name = isMapped ? (names[index] as string) : field.fieldName;
        const mapping = {
          fieldName: field.fieldName,
          ...(isMapped && { mapToName: name }),
          ...(pins && { valueType: field.valueType }),
        };
        const isUnique = field.fieldName === UNIQUE[provider];
        return { mapping, name, member: toMember(name), value: field.value, isUnique };
      });
      return { ...rest, fields };
    });

type Manifest = ReturnType<typeof createManifests> extends fc.Arbitrary<infer T> ? T : never;

/** GraphQL's form of a name, as docs/contract.md describes it. */
function toMember(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9_]+/g, '_');
  return /^\d/.test(safe) ? `_${safe}` : safe;
}

const OBJECTS: Record<string, string> = { sandbox: 'contacts', sandboxDesk: 'people' };

const RECORDS = `query ($id: ID!, $objectName: String!) { node(id: $id) { ... on Installation {
  records(objectName: $objectName, first: 1000) { nodes { id fields mappedFields raw } }
} } }`;
const WRITE = `mutation ($input: WriteRecordsInput!) {
  writeRecords(input: $input) { result { success recordId } }
}`;

async function install(tenant: Tenant, { provider, objectName, fields }: Manifest) {
  const providerObject = OBJECTS[provider] ?? WIRES[provider]?.objectName;
  return installPeople(app, tenant, {
    integration: 'crm',
    provider,
    groupRef: 'acme',
    read: {
      mapToName: objectName,
      requiredFields: fields.map(({ mapping }) => mapping),
      optionalFields: [],
    },
    config: {
      read: [{ objectName: providerObject }],
      write: [{ objectName: providerObject }],
    },
  });
}

async function listBoth(
  { tenant, typed }: { tenant: Tenant; typed: GraphqlClient },
  { objectName, fields }: Manifest,
  id: string,
) {
  const members = fields.map(({ member }) => member).join(' ');
  const list = toMember(objectName);
  const [untyped, page] = await Promise.all([
    tenant.query(RECORDS, { id, objectName }),
    typed.query(`{ page: ${list}(group: "acme", first: 1000) { nodes { id _raw ${members} } } }`),
  ]);
  const expected = untyped.node.records.nodes.map(
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
  return { expected, actual: page.page.nodes };
}

test.each([
  'sandbox',
  'sandboxDesk',
  'zoho',
  ...VENDORS,
])('reads return the same records, and writes lead to the same records, at %s', async (name) => {
  await fc.assert(
    fc.asyncProperty(createManifests(name), async (one) => {
      const tenant = await app.tenant();
      const typed = typedClient(app, tenant);
      const id = await install(tenant, one);
      const { objectName, fields } = one;
      const type = toMember(objectName).replace(/^./, (first) => first.toUpperCase());
      const valuesBy = (key: 'name' | 'member') =>
        Object.fromEntries(fields.map((field) => [field[key], field.value()]));
      const create = `mutation ($input: Create${type}Input!) {
        written: create${type}(group: "acme", input: $input) { success id }
      }`;
      const { written } = await typed.query(create, { input: valuesBy('member') });
      const where = {
        projectIdOrName: tenant.projectId,
        integrationIdOrName: 'crm',
        groupRef: 'acme',
      };
      const records = { record: valuesBy('name') };
      const { writeRecords } = await tenant.query(WRITE, {
        input: { ...where, objectName, type: 'CREATE', records },
      });
      expect([written.success, writeRecords.result.success]).toEqual([true, true]);
      const { expected, actual } = await listBoth({ tenant, typed }, one, id);
      expect(actual).toEqual(expected);
      const find = (recordId: string) => {
        const {
          id: _id,
          _raw,
          ...values
        } = actual.find((node: { id: string }) => node.id === recordId);
        return values;
      };
      const unique = fields.find(({ isUnique }) => isUnique)?.member ?? '';
      expect({ ...find(written.id), [unique]: '' }).toEqual({
        ...find(writeRecords.result.recordId),
        [unique]: '',
      });
    }),
    { numRuns: name in FIELDS ? 8 : 2 },
  );
}, 60_000);
