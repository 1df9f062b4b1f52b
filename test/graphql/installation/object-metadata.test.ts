import { expect, test } from 'vitest';
import { createLog } from '../../../src/log.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import {
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
  insertDestination,
} from '../../support/fixtures/integrations.ts';
import { listIssueNames } from '../../support/graphql-client.ts';
import { getConnection } from '../../support/providers/oauth.ts';

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
const GET_METADATA_OF_INSTALLATION = `query GetMetadataThroughInstallation($id: ID!, $objectName: String!, $excludeReadOnly: Boolean) {
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

/** Requests to the sandbox fail from here on, so that a result can only come from the cache. */
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

  const writable = await tenant.query(
    GET_OBJECT_METADATA,
    createVariables(tenant, { excludeReadOnly: true }),
  );
  expect(writable.objectMetadata.fields).toEqual(
    objectMetadata.fields.filter(({ readOnly }: Field) => !readOnly),
  );
});

test('caches fields per connection and credentials', async () => {
  const tenant = await app.createTenant();
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const described = await tenant.query(GET_OBJECT_METADATA, createVariables(tenant));
  failSandbox();
  expect(await tenant.query(GET_OBJECT_METADATA, createVariables(tenant))).toEqual(described);
  const otherTenant = await app.createTenant();
  await generateConnection(otherTenant, { apiKey: 'sandbox-key' });
  expect(
    await otherTenant.expectRefusal(GET_OBJECT_METADATA, createVariables(otherTenant)),
  ).toMatchObject({
    code: 'PROVIDER_ERROR',
  });
  await generateConnection(tenant, { apiKey: 'sandbox-key-2' });
  expect(await tenant.expectRefusal(GET_OBJECT_METADATA, createVariables(tenant))).toMatchObject({
    code: 'PROVIDER_ERROR',
    problem: { status: 502 },
  });
  sandbox.faults.clear();
  expect(await tenant.query(GET_OBJECT_METADATA, createVariables(tenant))).toEqual(described);
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
  const readThrough = async (objectName: string, excludeReadOnly = false) =>
    (await tenant.query(GET_METADATA_OF_INSTALLATION, { id, objectName, excludeReadOnly })).node
      .objectMetadata;
  const mapped = await readThrough('people');
  expect(mapped).toMatchObject({ name: 'contacts', mappedObjectName: 'people' });
  expect(await readThrough('contacts')).toEqual(mapped);
  expect(await readThrough('companies')).toMatchObject({
    name: 'companies',
    mappedObjectName: null,
  });
  expect((await readThrough('people', true)).fields.length).toBeLessThan(mapped.fields.length);
  expect(
    await tenant.expectRefusal(GET_METADATA_OF_INSTALLATION, { id, objectName: 'nothing' }),
  ).toMatchObject({
    code: 'UNPROCESSABLE',
  });
});

test("distinguishes unknown providers and objects from the provider's refusal", async () => {
  const tenant = await app.createTenant();
  const { provider: _none, ...anywhere } = createVariables(tenant);
  expect(
    await tenant.expectRefusal(GET_OBJECT_METADATA, { ...anywhere, provider: 'none' }),
  ).toMatchObject({
    code: 'BAD_USER_INPUT',
    problem: { issues: [{ name: 'provider', value: 'none' }] },
  });
  const long = { objectName: '', groupRef: 'a'.repeat(300) };
  const { problem } = await tenant.expectRefusal(
    GET_OBJECT_METADATA,
    createVariables(tenant, long),
  );
  expect(listIssueNames(problem)).toEqual(['objectName', 'groupRef']);
  expect(await tenant.expectRefusal(GET_OBJECT_METADATA, createVariables(tenant))).toMatchObject({
    code: 'NOT_FOUND',
  });

  await generateConnection(tenant, { apiKey: 'wrong', skipCheck: true });
  expect(
    await tenant.expectRefusal(
      GET_OBJECT_METADATA,
      createVariables(tenant, { provider: 'stripe' }),
    ),
  ).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(await tenant.expectRefusal(GET_OBJECT_METADATA, createVariables(tenant))).toMatchObject({
    code: 'UNPROCESSABLE',
  });
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  expect(
    await tenant.expectRefusal(
      GET_OBJECT_METADATA,
      createVariables(tenant, { objectName: 'nothing' }),
    ),
  ).toMatchObject({
    code: 'UNPROCESSABLE',
  });
  await generateConnection(tenant, { apiKey: 'sk', provider: 'stripe' });
  expect(
    await tenant.expectRefusal(
      GET_OBJECT_METADATA,
      createVariables(tenant, { provider: 'stripe' }),
    ),
  ).toMatchObject({
    code: 'UNPROCESSABLE',
    problem: { detail: expect.stringContaining('stripe') },
  });
});

test("refuses another tenant's project, and a key without the scope", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  expect(
    await otherTenant.expectRefusal(GET_OBJECT_METADATA, createVariables(tenant)),
  ).toMatchObject({
    code: 'NOT_FOUND',
  });
  const writer = await tenant.withScopes('records:write');
  expect(await writer.expectRefusal(GET_OBJECT_METADATA, createVariables(tenant))).toMatchObject({
    code: 'FORBIDDEN',
  });
});
