import { expect, test } from 'vitest';
import { createLog } from '../../../src/log.ts';
import { sharedApp, type Tenant } from '../../support/app.ts';
import { getConnection } from '../../support/providers/oauth.ts';
import { generate } from '../../support/scenes/connections.ts';
import {
  contentFor,
  insertDestination,
  installFor,
  integrate,
} from '../../support/scenes/integrations.ts';

const app = await sharedApp({ log: createLog('silent') });
const { sandbox } = app.app;

const FIELDS = `name displayName mappedObjectName
  fields {
    fieldName displayName valueType providerType readOnly isCustom isRequired
    values { value displayValue } referenceTo
  }`;
const READ = `query (
  $projectIdOrName: String!, $provider: String!, $objectName: String!, $groupRef: String!,
  $excludeReadOnly: Boolean
) {
  objectMetadata(
    projectIdOrName: $projectIdOrName, provider: $provider, objectName: $objectName,
    groupRef: $groupRef, excludeReadOnly: $excludeReadOnly
  ) { ${FIELDS} }
}`;
const THROUGH = `query ($id: ID!, $objectName: String!, $excludeReadOnly: Boolean) {
  node(id: $id) {
    ... on Installation {
      objectMetadata(objectName: $objectName, excludeReadOnly: $excludeReadOnly) { ${FIELDS} }
    }
  }
}`;

function asking({ projectName }: Pick<Tenant, 'projectName'>, given: object = {}) {
  const who = { projectIdOrName: projectName, provider: 'sandbox', groupRef: 'acme' };
  return { ...who, objectName: 'contacts', ...given };
}

/** Requests to the sandbox fail from here on, so that an answer comes from memory alone. */
function cutOff() {
  sandbox.faults.set({ pathPrefix: '/objects', status: 503, times: 1_000 });
}

interface Field {
  fieldName: string;
  readOnly: boolean;
}

test("an object's fields are read through the group's connection", async () => {
  const tenant = await app.tenant();
  const { id } = await generate(tenant, { apiKey: 'sandbox-key' });
  const { objectMetadata } = await tenant.query(READ, asking(tenant));
  expect(objectMetadata).toMatchObject({
    name: 'contacts',
    displayName: 'Contacts',
    mappedObjectName: null,
  });
  const fields = new Map(objectMetadata.fields.map((field: Field) => [field.fieldName, field]));
  expect(fields.get('email')).toEqual({
    fieldName: 'email',
    displayName: expect.any(String),
    valueType: 'STRING',
    providerType: 'email',
    readOnly: false,
    isCustom: false,
    isRequired: expect.any(Boolean),
    values: null,
    referenceTo: null,
  });
  expect(objectMetadata.fields.some(({ readOnly }: Field) => readOnly)).toBe(true);
  expect((await getConnection(app, id)).status).toBe('WORKING');

  const writable = await tenant.query(READ, asking(tenant, { excludeReadOnly: true }));
  expect(writable.objectMetadata.fields).toEqual(
    objectMetadata.fields.filter(({ readOnly }: Field) => !readOnly),
  );
});

test('it is remembered for a while, for that connection as it is', async () => {
  const tenant = await app.tenant();
  await generate(tenant, { apiKey: 'sandbox-key' });
  const first = await tenant.query(READ, asking(tenant));
  cutOff();
  expect(await tenant.query(READ, asking(tenant))).toEqual(first);
  const other = await app.tenant();
  await generate(other, { apiKey: 'sandbox-key' });
  expect(await other.refusal(READ, asking(other))).toMatchObject({ code: 'PROVIDER_ERROR' });
  await generate(tenant, { apiKey: 'sandbox-key-2' });
  expect(await tenant.refusal(READ, asking(tenant))).toMatchObject({
    code: 'PROVIDER_ERROR',
    problem: { status: 502 },
  });
  sandbox.faults.clear();
  expect(await tenant.query(READ, asking(tenant))).toEqual(first);
});

test('through an installation an object has two names', async () => {
  const tenant = await app.tenant();
  await insertDestination(app, tenant);
  const objects = [{ objectName: 'contacts', destination: 'records', mapToName: 'people' }];
  const integration = await integrate(app, tenant, contentFor('crm', { read: { objects } }));
  const { id } = await installFor(tenant, integration);
  await generate(tenant, { apiKey: 'sandbox-key' });
  const through = async (objectName: string, excludeReadOnly = false) =>
    (await tenant.query(THROUGH, { id, objectName, excludeReadOnly })).node.objectMetadata;
  const mapped = await through('people');
  expect(mapped).toMatchObject({ name: 'contacts', mappedObjectName: 'people' });
  expect(await through('contacts')).toEqual(mapped);
  expect(await through('companies')).toMatchObject({ name: 'companies', mappedObjectName: null });
  expect((await through('people', true)).fields.length).toBeLessThan(mapped.fields.length);
  expect(await tenant.refusal(THROUGH, { id, objectName: 'nothing' })).toMatchObject({
    code: 'UNPROCESSABLE',
  });
});

test('what is not there is told apart from what the provider refuses', async () => {
  const tenant = await app.tenant();
  const { provider: _none, ...anywhere } = asking(tenant);
  expect(await tenant.refusal(READ, { ...anywhere, provider: 'none' })).toMatchObject({
    code: 'BAD_USER_INPUT',
    problem: { issues: [{ name: 'provider', value: 'none' }] },
  });
  const long = { objectName: '', groupRef: 'a'.repeat(300) };
  const { problem } = await tenant.refusal(READ, asking(tenant, long));
  expect(problem.issues?.map(({ name }) => name)).toEqual(['objectName', 'groupRef']);
  expect(await tenant.refusal(READ, asking(tenant))).toMatchObject({ code: 'NOT_FOUND' });

  await generate(tenant, { apiKey: 'wrong', skipCheck: true });
  expect(await tenant.refusal(READ, asking(tenant, { provider: 'stripe' }))).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(await tenant.refusal(READ, asking(tenant))).toMatchObject({ code: 'UNPROCESSABLE' });
  await generate(tenant, { apiKey: 'sandbox-key' });
  expect(await tenant.refusal(READ, asking(tenant, { objectName: 'nothing' }))).toMatchObject({
    code: 'UNPROCESSABLE',
  });
  await generate(tenant, { apiKey: 'sk', provider: 'stripe' });
  expect(await tenant.refusal(READ, asking(tenant, { provider: 'stripe' }))).toMatchObject({
    code: 'UNPROCESSABLE',
    problem: { detail: expect.stringContaining('stripe') },
  });
});

test("another tenant's project, and a key that may not read, are refused", async () => {
  const [a, b] = [await app.tenant(), await app.tenant()];
  await generate(a, { apiKey: 'sandbox-key' });
  expect(await b.refusal(READ, asking(a))).toMatchObject({ code: 'NOT_FOUND' });
  const writer = await a.withScopes('records:write');
  expect(await writer.refusal(READ, asking(a))).toMatchObject({ code: 'FORBIDDEN' });
});
