import { expect, test } from 'vitest';
import { createLog } from '../../../../src/kernel/log.ts';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import {
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
  insertDestination,
} from '../../../support/fixtures/integrations.ts';
import { listIssueNames } from '../../../support/graphql-client.ts';
import { getConnection } from '../../../support/providers/oauth.ts';

const app = await getSharedApp({ log: createLog('silent') });
const { sandbox } = app.app;

const METADATA_FIELDS = `name displayName mappedObjectName
  fields {
    fieldName displayName valueType providerType readOnly isCustom isRequired
    values { value displayValue } referenceTo
  }`;
const GET_OBJECT_METADATA = `query GetObjectMetadata(
  $projectIdOrName: String!, $provider: String!, $objectName: String!, $groupRef: String!,
  $excludeReadOnly: Boolean
) {
  objectMetadata(
    projectIdOrName: $projectIdOrName, provider: $provider, objectName: $objectName,
    groupRef: $groupRef, excludeReadOnly: $excludeReadOnly
  ) { ${METADATA_FIELDS} }
}`;
const GET_METADATA_OF_INSTALLATION = `query GetMetadataOfInstallation($id: ID!, $objectName: String!, $excludeReadOnly: Boolean) {
  node(id: $id) {
    ... on Installation {
      objectMetadata(objectName: $objectName, excludeReadOnly: $excludeReadOnly) { ${METADATA_FIELDS} }
    }
  }
}`;

function createVariables({ projectName }: Pick<Tenant, 'projectName'>, overrides: object = {}) {
  const account = { projectIdOrName: projectName, provider: 'sandbox', groupRef: 'acme' };
  return { ...account, objectName: 'contacts', ...overrides };
}

/** Makes further requests to the sandbox fail, so that a result can only come from the cache. */
function failSandbox() {
  sandbox.faults.set({ pathPrefix: '/objects', status: 503, times: 1_000 });
}

interface Field {
  fieldName: string;
  readOnly: boolean;
}

test("returns an object's fields through the group's connection", async () => {
  const tenant = await app.createTenant();
  const { id } = await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const { objectMetadata } = await tenant.query(GET_OBJECT_METADATA, createVariables(tenant));
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

  const withoutReadOnly = await tenant.query(
    GET_OBJECT_METADATA,
    createVariables(tenant, { excludeReadOnly: true }),
  );
  expect(withoutReadOnly.objectMetadata.fields).toEqual(
    objectMetadata.fields.filter(({ readOnly }: Field) => !readOnly),
  );
});

test('caches fields per connection and credentials', async () => {
  const tenant = await app.createTenant();
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const metadata = await tenant.query(GET_OBJECT_METADATA, createVariables(tenant));
  failSandbox();
  expect(await tenant.query(GET_OBJECT_METADATA, createVariables(tenant))).toEqual(metadata);
  const otherTenant = await app.createTenant();
  await generateConnection(otherTenant, { apiKey: 'sandbox-key' });
  expect(
    await otherTenant.expectRefusal(GET_OBJECT_METADATA, createVariables(otherTenant)),
  ).toMatchObject({ code: 'PROVIDER_ERROR' });
  await generateConnection(tenant, { apiKey: 'sandbox-key-2' });
  expect(await tenant.expectRefusal(GET_OBJECT_METADATA, createVariables(tenant))).toMatchObject({
    code: 'PROVIDER_ERROR',
    problem: { status: 502 },
  });
  sandbox.faults.clear();
  expect(await tenant.query(GET_OBJECT_METADATA, createVariables(tenant))).toEqual(metadata);
});

test('finds an object by its name and its mapped name through an installation', async () => {
  const tenant = await app.createTenant();
  await insertDestination(app, tenant);
  const objects = [{ objectName: 'contacts', destination: 'records', mapToName: 'people' }];
  const integration = await createIntegration(
    app,
    tenant,
    createIntegrationContent('crm', { read: { objects } }),
  );
  const { id } = await connectAndInstall(tenant, integration);
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const getObjectMetadata = async (objectName: string, excludeReadOnly = false) =>
    (await tenant.query(GET_METADATA_OF_INSTALLATION, { id, objectName, excludeReadOnly })).node
      .objectMetadata;
  const contacts = await getObjectMetadata('people');
  expect(contacts).toMatchObject({ name: 'contacts', mappedObjectName: 'people' });
  expect(await getObjectMetadata('contacts')).toEqual(contacts);
  expect(await getObjectMetadata('companies')).toMatchObject({
    name: 'companies',
    mappedObjectName: null,
  });
  expect((await getObjectMetadata('people', true)).fields.length).toBeLessThan(
    contacts.fields.length,
  );
  expect(
    await tenant.expectRefusal(GET_METADATA_OF_INSTALLATION, { id, objectName: 'nothing' }),
  ).toMatchObject({ code: 'UNPROCESSABLE' });
});

test('reports invalid arguments', async () => {
  const tenant = await app.createTenant();
  const variables = createVariables(tenant, { provider: 'none' });
  expect(await tenant.expectRefusal(GET_OBJECT_METADATA, variables)).toMatchObject({
    code: 'BAD_USER_INPUT',
    problem: { issues: [{ name: 'provider', value: 'none' }] },
  });
  const { problem } = await tenant.expectRefusal(
    GET_OBJECT_METADATA,
    createVariables(tenant, { objectName: '', groupRef: 'a'.repeat(300) }),
  );
  expect(listIssueNames(problem)).toEqual(['objectName', 'groupRef']);
});

test('returns NOT_FOUND if the group has no connection to the provider', async () => {
  const tenant = await app.createTenant();
  expect(await tenant.expectRefusal(GET_OBJECT_METADATA, createVariables(tenant))).toMatchObject({
    code: 'NOT_FOUND',
  });
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const variables = createVariables(tenant, { provider: 'stripe' });
  expect(await tenant.expectRefusal(GET_OBJECT_METADATA, variables)).toMatchObject({
    code: 'NOT_FOUND',
  });
});

test.each([
  ['the provider rejects the credentials', { apiKey: 'wrong', skipCheck: true }, {}, /./],
  ['the provider has no such object', { apiKey: 'sandbox-key' }, { objectName: 'nothing' }, /./],
  [
    'the provider cannot describe objects',
    { apiKey: 'sk', provider: 'stripe' },
    { provider: 'stripe' },
    /stripe/,
  ],
])('returns UNPROCESSABLE if %s', async (_reason, connection, overrides, detail) => {
  const tenant = await app.createTenant();
  await generateConnection(tenant, connection);
  const variables = createVariables(tenant, overrides);
  expect(await tenant.expectRefusal(GET_OBJECT_METADATA, variables)).toMatchObject({
    code: 'UNPROCESSABLE',
    problem: { detail: expect.stringMatching(detail) },
  });
});

test("refuses another tenant's project, and a key without the scope", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  expect(
    await otherTenant.expectRefusal(GET_OBJECT_METADATA, createVariables(tenant)),
  ).toMatchObject({ code: 'NOT_FOUND' });
  const writer = await tenant.withScopes('records:write');
  expect(await writer.expectRefusal(GET_OBJECT_METADATA, createVariables(tenant))).toMatchObject({
    code: 'FORBIDDEN',
  });
});
