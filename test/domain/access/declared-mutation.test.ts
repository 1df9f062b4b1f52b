/** A mutation returns NOT_FOUND if its org or project is deleted before the change is stored. */
import { expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { recordStatements } from '../../support/database/statements.ts';
import type { GraphqlClient } from '../../support/graphql-client.ts';

const app = await getSharedApp();

const CREATE_ORG = `mutation CreateOrg($input: CreateOrgInput!) { createOrg(input: $input) { org { id } } }`;
const FIRST_CHANGE = /^begin\b|\binsert into\b/i;

/** Deletes the row immediately before the first change of the request. Returns the response. */
async function requestWhileDeleted(
  row: { table: 'Org' | 'Project'; id: string },
  request: () => ReturnType<GraphqlClient['request']>,
) {
  let isDeleted = false;
  const { result } = await recordStatements(request, async (connection, { text }, query) => {
    if (isDeleted || !FIRST_CHANGE.test(text)) return;
    isDeleted = true;
    await query.call(connection, `delete from "${row.table}" where "id" = $1`, [row.id]);
  });
  expect(isDeleted).toBe(true);
  return result;
}

function expectNotFound(
  { errors }: Awaited<ReturnType<GraphqlClient['request']>>,
  message: string,
) {
  expect(errors).toMatchObject([{ message, extensions: { code: 'NOT_FOUND' } }]);
}

test.each([
  ['createInvite', 'CreateInviteInput', (orgId: string) => ({ orgId, email: 'eve@example.test' })],
  [
    'createProject',
    'CreateProjectInput',
    (orgId: string) => ({ orgId, name: `p-${Date.now()}`, appName: 'P' }),
  ],
  [
    'claimDomain',
    'ClaimDomainInput',
    (parentId: string) => ({ domain: 'gone.example.com', parentId, parentType: 'ORG' }),
  ],
] as const)('%s returns NOT_FOUND if the org is deleted during the request', async (name, inputType, createInput) => {
  const { builder } = await app.createTenant();
  const { createOrg } = await builder.query(CREATE_ORG, { input: { label: 'Short-lived' } });
  const { id } = createOrg.org;
  const query = `mutation DeclaredMutation($input: ${inputType}!) { ${name}(input: $input) { __typename } }`;
  const response = await requestWhileDeleted({ table: 'Org', id }, () =>
    builder.request(query, { input: createInput(id) }),
  );
  expectNotFound(response, `Org "${id}" was not found.`);
});

const integration = { name: 'crm-sync', provider: 'sandbox' };
const PROJECT_MUTATIONS: [string, string, object][] = [
  ['createTopic', 'CreateTopicInput', { name: 'all' }],
  [
    'createDestination',
    'CreateDestinationInput',
    { name: 'hooks', type: 'WEBHOOK', url: 'https://hooks.example.com/' },
  ],
  ['createApiKey', 'CreateApiKeyInput', { label: 'key', scopes: ['READ'] }],
  [
    'createProviderApp',
    'CreateProviderAppInput',
    { provider: 'hubspot', clientId: 'client', clientSecret: 'secret' },
  ],
  [
    'generateConnection',
    'GenerateConnectionInput',
    {
      provider: 'sandbox',
      groupRef: 'g',
      consumerRef: 'c',
      credentials: { apiKey: 'sandbox-key' },
    },
  ],
  [
    'createIntegration',
    'CreateIntegrationInput',
    {
      ...integration,
      latestRevision: {
        specVersion: '1.0.0',
        content: { ...integration, write: { objects: [{ objectName: 'contacts' }] } },
      },
    },
  ],
];

test.each(
  PROJECT_MUTATIONS,
)('%s returns NOT_FOUND if the project is deleted during the request', async (name, inputType, input) => {
  const { projectId, builder }: Tenant = await app.createTenant();
  const query = `mutation DeclaredMutation($input: ${inputType}!) { ${name}(input: $input) { __typename } }`;
  const response = await requestWhileDeleted({ table: 'Project', id: projectId }, () =>
    builder.request(query, { input: { projectIdOrName: projectId, ...input } }),
  );
  expectNotFound(response, `Project "${projectId}" was not found.`);
});
