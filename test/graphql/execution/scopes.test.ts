import { expect, test } from 'vitest';
import { ALL_SCOPES, type Scope } from '../../../src/domain/access/viewer/scopes.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { getSharedApp } from '../../support/app.ts';
import { CREATE_DESTINATION } from '../../support/fixtures/integrations.ts';

const app = await getSharedApp();
const tenant = await app.createTenant();
const { orgId, projectId: projectIdOrName } = tenant;

/** A mutation of a missing object: a caller with the scope gets NOT_FOUND, and any other caller FORBIDDEN. */
function createMutation(name: string, input: Record<string, unknown>, response = 'deletedId') {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
  const query = `mutation RunMutation($input: ${type}!) { ${name}(input: $input) { ${response} } }`;
  return { query, variables: { input } };
}

const unknownGroup = { projectIdOrName, integrationIdOrName: newId('int'), groupRef: 'unknown' };
const writeInput = {
  ...unknownGroup,
  objectName: 'deals',
  type: 'CREATE',
  records: { record: { name: 'A deal' } },
};
const installationInput = { projectIdOrName, installationId: newId('ins') };

/** One action for each scope. */
const ACTIONS_BY_SCOPE: [Scope, { query: string; variables?: Record<string, unknown> }][] = [
  ['read', { query: '{ projects { nodes { id } } }' }],
  ['read', { query: '{ providers { nodes { name } } }' }],
  ['full', createMutation('updateProject', { projectIdOrName }, 'project { id }')],
  [
    'connections:write',
    createMutation('deleteConnection', { projectIdOrName, connectionId: newId('con') }),
  ],
  [
    'integrations:write',
    createMutation('deleteIntegration', { projectIdOrName, integrationIdOrName: newId('int') }),
  ],
  [
    'installations:write',
    createMutation('deleteInstallation', { projectIdOrName, installationId: newId('ins') }),
  ],
  ['records:write', createMutation('writeRecords', writeInput, 'operationId')],
  [
    'reads:control',
    createMutation('triggerRead', { ...unknownGroup, objectName: 'contacts' }, 'operation { id }'),
  ],
  ['reads:control', createMutation('pauseReads', installationInput, 'installation { id }')],
  ['reads:control', createMutation('resumeReads', installationInput, 'installation { id }')],
  ['events:write', createMutation('deleteTopic', { projectIdOrName, topicId: newId('top') })],
  ['keys:write', createMutation('deleteApiKey', { projectIdOrName, apiKey: newId('key') })],
  [
    'provider-apps:write',
    createMutation('deleteProviderApp', { projectIdOrName, providerAppId: newId('app') }),
  ],
  ['org:read', { query: '{ orgs { nodes { id } } }' }],
  ['org:read', { query: '{ claimedDomain(domain: "unclaimed.example") { id } }' }],
  ['org:write', createMutation('deleteInvite', { orgId, inviteId: newId('inv') })],
];

/** The beginnings of the actions that end users are also permitted. */
const FOR_PAGES = ['projects {', 'providers {', 'deleteConnection(', 'deleteInstallation('];

const NOT_IN_FULL: Scope[] = ['org:write', 'credentials:read'];

test.each(
  ALL_SCOPES,
)('permits a key of the scope %s the actions of this scope only', async (scope) => {
  const key = await tenant.withScopes(scope);
  for (const [needed, { query, variables }] of ACTIONS_BY_SCOPE) {
    const { errors = [] } = await key.request(query, variables);
    const codes = errors.map(({ extensions }) => extensions.code);
    const isAllowed =
      scope === needed ||
      (scope === 'full' && !NOT_IN_FULL.includes(needed)) ||
      (scope === 'read' && needed === 'records:read') ||
      (scope === 'frontend' && FOR_PAGES.some((name) => query.includes(name)));
    expect([needed, query, codes.includes('FORBIDDEN')]).toEqual([needed, query, !isAllowed]);
  }
});

test('lets a key without scopes query only the viewer', async () => {
  const key = await tenant.withScopes();
  for (const [, { query, variables }] of ACTIONS_BY_SCOPE) {
    expect(await key.expectRefusal(query, variables)).toMatchObject({ code: 'FORBIDDEN' });
  }
  expect(await key.query('{ viewer { kind scopes } }')).toEqual({
    viewer: { kind: 'API_KEY', scopes: [] },
  });
});

test('lets a key for pages find only nodes that end users can see', async () => {
  const create = `mutation CreateTopic($input: CreateTopicInput!) {
    createTopic(input: $input) { topic { id } }
  }`;
  const input = { projectIdOrName: tenant.projectId, name: 'pages' };
  const { createTopic } = await tenant.query(create, { input });
  const node = 'query GetNode($id: ID!) { node(id: $id) { id } }';
  const key = await tenant.withScopes('frontend');
  expect(await key.expectRefusal(node, { id: createTopic.topic.id })).toMatchObject({
    code: 'FORBIDDEN',
  });
  expect(await key.query(node, { id: tenant.projectId })).toEqual({
    node: { id: tenant.projectId },
  });
});

test('reports that full does not include the missing scope', async () => {
  const fullClient = await tenant.withScopes('full');
  const create = `mutation CreateInvite($input: CreateInviteInput!) {
    createInvite(input: $input) { invite { id } }
  }`;
  const invite = { orgId: tenant.orgId, email: 'ann@example.com' };
  const { problem } = await fullClient.expectRefusal(create, { input: invite });
  expect(problem.detail).toBe(
    'This needs the scope org:write; the API key has full. The scope full does not include it.',
  );
  const read = await tenant.withScopes('read');
  expect((await read.expectRefusal(create, { input: invite })).problem.detail).toBe(
    'This needs the scope org:write; the API key has read.',
  );
  const grant = `mutation CreateApiKey($input: CreateApiKeyInput!) {
    createApiKey(input: $input) { key }
  }`;
  const input = { projectIdOrName, label: 'ci', scopes: ['READ', 'CREDENTIALS_READ'] };
  expect((await fullClient.expectRefusal(grant, { input })).problem.detail).toBe(
    "An API key can't grant scopes that it does not have: credentials:read. The scope full does not include credentials:read.",
  );
});

test('requires credentials:read for secrets, in addition to the scope of their object', async () => {
  const input = { projectIdOrName, name: 'crm', type: 'WEBHOOK', url: 'https://hooks.example.com' };
  const { createDestination } = await tenant.query(CREATE_DESTINATION, { input });
  const { destination, signingSecret } = createDestination;
  const secret = `query GetDestination($id: ID!) {
    node(id: $id) { ... on Destination { signingSecret } }
  }`;
  const { id } = destination;
  for (const scopes of [['read'], ['full']] as const) {
    const { data, errors } = await (await tenant.withScopes(...scopes)).request(secret, { id });
    expect(data).toEqual({ node: { signingSecret: null } });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
  }
  for (const scopes of [
    ['read', 'credentials:read'],
    ['full', 'credentials:read'],
  ] as const) {
    const key = await tenant.withScopes(...scopes);
    expect(await key.query(secret, { id })).toEqual({ node: { signingSecret } });
  }
});

test('lets a builder do everything in their own org', async () => {
  for (const [, { query, variables }] of ACTIONS_BY_SCOPE) {
    const { errors = [] } = await tenant.builder.request(query, variables);
    expect(errors.filter(({ extensions }) => extensions.code === 'FORBIDDEN')).toEqual([]);
  }
});
