import { expect, test } from 'vitest';
import { createTestApp, getSharedApp, type Tenant } from '../../../support/app.ts';
import { createEndUser } from '../../../support/fixtures/end-users.ts';
import {
  CREATE_REVISION,
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
  toRevision,
} from '../../../support/fixtures/integrations.ts';

const app = await getSharedApp();
const { fieldLearner, database } = app.app.services;

const CONTRACT_FIELDS = `contract {
  hash
  objects {
    name displayName verbs acceptsOtherFields
    sources { integration provider providerObject }
    filterable { fields conditionsMax }
    fields {
      name providerField type isTypeKnown isList isRequired isReadOnly isWriteOnly isAlwaysRead
      values { value displayValue } references description origin
    }
  }
  findings { kind object field message }
}`;
const OF_INSTALLATION = `query ContractOfInstallation($id: ID!) {
  node(id: $id) { ... on Installation { ${CONTRACT_FIELDS} } }
}`;
const OF_REVISION = `query ContractOfRevision($id: ID!) {
  node(id: $id) { ... on Revision { ${CONTRACT_FIELDS} } }
}`;
const OF_PROJECT = `query ContractsOfProject($id: String) {
  project(idOrName: $id) { ${CONTRACT_FIELDS} }
}`;

const contacts = {
  objectName: 'contacts',
  destination: 'records',
  mapToName: 'people',
  mapToDisplayName: 'People',
  requiredFields: [{ fieldName: 'email', mapToName: 'emailAddress' }],
  optionalFields: [{ fieldName: 'lifecycle' }, { mapToName: 'tier', valueType: 'INT' }],
};
const INTEGRATION_CONTENT = createIntegrationContent('crm', {
  read: { objects: [contacts] },
  write: { objects: [{ objectName: 'contacts', inheritMapping: true }] },
});

async function queryContract(client: Pick<Tenant, 'query'>, query: string, id: string) {
  const { node, project } = await client.query(query, { id });
  return (node ?? project).contract;
}

// biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
function indexFields({ objects }: any): Record<string, unknown> {
  const fields: { name: string }[] = objects[0].fields;
  return Object.fromEntries(fields.map((field) => [field.name, field]));
}

/** Installs the integration, and waits until the fields of the account are stored. */
async function installDescribed(tenant: Tenant, overrides: object = {}) {
  const integration = await createIntegration(app, tenant, INTEGRATION_CONTENT);
  const config = {
    read: [{ objectName: 'contacts', selectedFields: ['lifecycle'] }],
    write: [{ objectName: 'contacts' }],
  };
  const installation = await connectAndInstall(tenant, integration, { config, ...overrides });
  const contract = await queryContract(tenant, OF_INSTALLATION, installation.id);
  await fieldLearner.waitUntilStored();
  return { integration, installation, own: contract };
}

test('describes an installation with the types and values of its account', async () => {
  const tenant = await app.createTenant();
  const { own } = await installDescribed(tenant);
  expect(own).toMatchObject({
    findings: [],
    objects: [
      {
        name: 'people',
        displayName: 'People',
        verbs: ['LIST', 'SEARCH', 'READ_BY_ID', 'CREATE', 'UPDATE'],
        sources: [{ integration: 'crm', provider: 'sandbox', providerObject: 'contacts' }],
        filterable: { fields: ['emailAddress', 'lifecycle'], conditionsMax: 20 },
      },
    ],
  });
  expect(indexFields(own)).toMatchObject({
    emailAddress: { type: 'STRING', isRequired: true, description: 'Email', origin: 'REQUIRED' },
    lifecycle: {
      type: 'ENUM',
      values: expect.arrayContaining([{ value: 'lead', displayValue: 'Lead' }]),
    },
  });
});

test('describes a revision with the types from accounts of its own project only', async () => {
  const tenant = await app.createTenant();
  const { latestRevision } = await createIntegration(app, tenant, INTEGRATION_CONTENT);
  const contractBefore = await queryContract(tenant, OF_REVISION, latestRevision.id);
  expect(indexFields(contractBefore)).toMatchObject({
    emailAddress: { type: 'JSON', isTypeKnown: false },
    tier: { type: 'INTEGER', isTypeKnown: true, providerField: null },
  });
  await installDescribed(await app.createTenant());
  expect(await queryContract(tenant, OF_REVISION, latestRevision.id)).toEqual(contractBefore);
});

test('returns more contracts than requests of a caller may wait for providers', async () => {
  await using limitedApp = await createTestApp({ env: { LIMIT_CALLER_PROVIDER_REQUESTS: '2' } });
  const tenant = await limitedApp.createTenant();
  const ids: string[] = [];
  for (const name of ['first', 'second', 'third']) {
    const content = { ...INTEGRATION_CONTENT, name };
    const integration = await createIntegration(limitedApp, tenant, content);
    ids.push((await connectAndInstall(tenant, integration, {})).id);
  }
  const { nodes } = await tenant.query(
    `query ContractsOfInstallations($ids: [ID!]!) {
      nodes(ids: $ids) { ... on Installation { contract { objects { name } } } }
    }`,
    { ids },
  );
  expect(nodes).toEqual(ids.map(() => ({ contract: { objects: [{ name: 'people' }] } })));
});

test('stores the types of an account once', async () => {
  const tenant = await app.createTenant();
  const { integration, installation } = await installDescribed(tenant);
  const { projectId } = tenant;
  const listStoredFields = () => database.prisma.learnedField.findMany({ where: { projectId } });
  const rows = await listStoredFields();
  expect(rows).toContainEqual(
    expect.objectContaining({ objectName: 'contacts', fieldName: 'email', valueType: 'STRING' }),
  );
  await queryContract(tenant, OF_INSTALLATION, installation.id);
  await fieldLearner.waitUntilStored();
  expect(await listStoredFields()).toEqual(rows);
  const contractAfter = await queryContract(tenant, OF_REVISION, integration.latestRevision.id);
  expect(indexFields(contractAfter)).toMatchObject({
    emailAddress: { type: 'STRING', isRequired: true },
    lifecycle: { type: 'ENUM', values: null },
  });
});

test('describes a project by the latest revisions of its integrations', async () => {
  const tenant = await app.createTenant();
  const { integration } = await installDescribed(tenant);
  const deals = { objectName: 'deals', destination: 'records', mapToName: 'sales' };
  await createIntegration(
    app,
    tenant,
    createIntegrationContent('erp', { read: { objects: [deals] } }),
  );
  const contract = await queryContract(tenant, OF_PROJECT, tenant.projectId);
  expect(contract.objects.map(({ name }: { name: string }) => name)).toEqual(['people', 'sales']);
  const revision = toRevision(createIntegrationContent('crm', { read: { objects: [contacts] } }));
  const key = { projectIdOrName: tenant.projectId, integrationIdOrName: integration.id };
  await tenant.query(CREATE_REVISION, { input: { ...key, revision } });
  const changed = await queryContract(tenant, OF_PROJECT, tenant.projectId);
  expect(changed.hash).not.toBe(contract.hash);
  expect(changed.objects[0].verbs).toEqual(['LIST', 'SEARCH', 'READ_BY_ID']);
});

test('returns only the contract of their own installation to end users', async () => {
  const tenant = await app.createTenant();
  const { installation, own, integration } = await installDescribed(tenant);
  const { id: foreign } = await connectAndInstall(tenant, integration, { groupRef: 'other' });
  const user = await createEndUser(app, tenant);
  expect(await queryContract(user, OF_INSTALLATION, installation.id)).toEqual(own);
  expect((await user.query(OF_INSTALLATION, { id: foreign })).node).toBeNull();
  for (const [query, id] of [
    [OF_REVISION, integration.latestRevision.id],
    [OF_PROJECT, tenant.projectId],
  ] as const) {
    const { problem } = await user.expectRefusal(query, { id });
    expect(problem).toMatchObject({ status: 403 });
  }
});

test('returns no contract to other tenants', async () => {
  const tenant = await app.createTenant();
  const { installation, integration } = await installDescribed(tenant);
  const otherTenant = await app.createTenant();
  for (const [query, id] of [
    [OF_INSTALLATION, installation.id],
    [OF_REVISION, integration.latestRevision.id],
  ] as const) {
    expect((await otherTenant.query(query, { id })).node).toBeNull();
  }
  expect((await otherTenant.query(OF_PROJECT, { id: tenant.projectId })).project).toBeNull();
});

test('reports an object that the account does not describe as a finding', async () => {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, INTEGRATION_CONTENT);
  const { id, connection } = await connectAndInstall(tenant, integration);
  const update = `mutation UpdateConnection($input: UpdateConnectionInput!) {
    updateConnection(input: $input) { connection { id } }
  }`;
  const input = { projectIdOrName: tenant.projectId, connectionId: connection.id };
  await tenant.query(update, {
    input: { ...input, credentials: { apiKey: 'wrong' }, skipCheck: true },
  });
  const contract = await queryContract(tenant, OF_INSTALLATION, id);
  expect(contract.findings).toEqual([
    { kind: 'NOT_DESCRIBED', object: 'people', field: null, message: expect.any(String) },
  ]);
});
