/** Agent sessions: the rights that they grant, and how they end. */
import { expect, test } from 'vitest';
import {
  createAgent,
  createApprover,
  createProposalClient,
} from '../../support/fixtures/agents.ts';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import { createPeopleTenant, startTypedApi } from '../../support/fixtures/typed-api.ts';

const app = await startTypedApi();
const { services } = app.app;
const tenant = await createPeopleTenant(app);
const proposals = createProposalClient(tenant);

const CREATE_AGENT_SESSION = `mutation CreateAgentSession($input: CreateAgentSessionInput!) {
  createAgentSession(input: $input) {
    token mcpUrl
    agentSession {
      id name objects verbs rules { name types objects fields maxPerDay }
      pinnedTools { type objectName } proposalLifeSeconds expireTime revokeTime createdBy
      group { groupRef } consumer { consumerRef }
    }
  }
}`;
const REVOKE_AGENT_SESSION = `mutation RevokeAgentSession($input: RevokeAgentSessionInput!) {
  revokeAgentSession(input: $input) { agentSession { revokeTime } }
}`;
const QUERY_VIEWER = '{ viewer { kind expireTime scopes permissions group { groupRef } } }';

const minimal = {
  projectIdOrName: tenant.projectId,
  groupRef: 'acme',
  consumerRef: 'ann',
  name: 'Helper',
  verbs: ['READ'],
};

/** Returns the names of the inputs that are refused in a session with these rights. */
async function listRefusedInputs(rights: object) {
  const input = { ...minimal, ...rights };
  const { problem } = await tenant.expectRefusal(CREATE_AGENT_SESSION, { input });
  return problem.issues?.map(({ name }) => name);
}

const createRevokeInput = (agentSessionId: string) => ({
  input: { projectIdOrName: tenant.projectId, agentSessionId },
});
const deletion = { objectName: 'people', type: 'DELETE', recordId: '1' };

test('returns the session with its token and the URL of the tools', async () => {
  const rights = {
    objects: ['people'],
    verbs: ['READ', 'UPDATE'],
    rules: [{ name: 'names', types: ['UPDATE'], fields: ['lastName'], maxPerDay: 10 }],
    pinnedTools: [{ type: 'UPDATE', objectName: 'people' }],
  };
  const input = { ...minimal, ...rights, expiresInSeconds: 60, proposalLifeSeconds: 120 };
  const { createAgentSession } = await tenant.query(CREATE_AGENT_SESSION, { input });
  expect(createAgentSession).toMatchObject({
    token: expect.any(String),
    mcpUrl: expect.stringMatching(new RegExp(`/mcp/projects/${tenant.projectId}$`)),
    agentSession: {
      ...rights,
      rules: [{ ...rights.rules[0], objects: null }],
      name: 'Helper',
      proposalLifeSeconds: 120,
      revokeTime: null,
      createdBy: expect.stringMatching(/^api:key_/),
      group: { groupRef: 'acme' },
      consumer: { consumerRef: 'ann' },
    },
  });
});

test('lets an agent call only functions for agents', async () => {
  const agent = await createAgent(app, tenant);
  expect((await agent.query(QUERY_VIEWER)).viewer).toMatchObject({
    kind: 'AGENT',
    scopes: [],
    permissions: [],
  });
  for (const query of [
    `{ node(id: "${agent.sessionId}") { id } }`,
    '{ viewer { project { installations(first: 1) { nodes { id } } } } }',
    '{ viewer { project { proposals(first: 1) { nodes { id } } } } }',
    `mutation WriteRecords { writeRecords(input: { integrationIdOrName: "crm", groupRef: "acme", objectName: "people",
      type: CREATE, records: { record: { lastName: "x" } } }) { operationId } }`,
  ]) {
    expect(await agent.expectRefusal(query)).toMatchObject({ code: 'FORBIDDEN' });
  }
});

test('refuses a proposal with a verb or an object that the session does not permit', async () => {
  const reader = await createAgent(app, tenant, { verbs: ['READ', 'UPDATE'] });
  expect(await proposals.getCreateRefusal(reader, deletion)).toMatchObject({
    code: 'VERB_NOT_GRANTED',
    problem: { detail: expect.stringMatching(/permits: READ, UPDATE/) },
  });
  const agent = await createAgent(app, tenant, { objects: ['people'] });
  const refusal = await proposals.getCreateRefusal(agent, { ...deletion, objectName: 'deals' });
  expect(refusal).toMatchObject({
    code: 'OBJECT_NOT_GRANTED',
    problem: { detail: expect.stringMatching(/includes: people/) },
  });
});

test('reports every rule and tool that needs a right that the session lacks', async () => {
  const rights = {
    objects: ['people'],
    rules: [{ name: 'all', types: ['DELETE'], objects: ['deals'], maxPerDay: 1 }],
    pinnedTools: [{ type: 'CREATE', objectName: 'deals' }],
  };
  expect(await listRefusedInputs(rights)).toEqual([
    'input.rules[0].types[0]',
    'input.rules[0].objects[0]',
    'input.pinnedTools[0].type',
    'input.pinnedTools[0].objectName',
  ]);
});

test('refuses an unknown object, and reports its name', async () => {
  const input = { ...minimal, objects: ['people', 'unicorns'] };
  const { problem } = await tenant.expectRefusal(CREATE_AGENT_SESSION, { input });
  expect(problem.issues).toMatchObject([{ name: 'input.objects[1]', value: 'unicorns' }]);
});

test('requires READ with other verbs', async () => {
  expect(await listRefusedInputs({ verbs: ['DELETE'] })).toEqual(['input.verbs']);
});

test('refuses a DELETE rule with fields', async () => {
  const rule = { name: 'all', types: ['DELETE'], fields: ['lastName'], maxPerDay: 1 };
  expect(await listRefusedInputs({ verbs: ['READ', 'DELETE'], rules: [rule] })).toEqual([
    'input.rules[0].types[0]',
  ]);
});

test('refuses duplicate rules and pinned tools', async () => {
  const verbs = ['READ', 'DELETE'];
  const rule = { name: 'all', types: ['DELETE'], maxPerDay: 1 };
  expect(await listRefusedInputs({ verbs, rules: [rule, rule] })).toEqual(['input.rules[1].name']);
  const tool = { type: 'DELETE', objectName: 'people' };
  expect(await listRefusedInputs({ verbs, pinnedTools: [tool, tool] })).toEqual([
    'input.pinnedTools[1]',
  ]);
});

test('requires agents:write and the rights that the session grants', async () => {
  const reader = await tenant.withScopes('read');
  expect(await reader.expectRefusal(CREATE_AGENT_SESSION, { input: minimal })).toMatchObject({
    code: 'FORBIDDEN',
  });
  const narrow = await tenant.withScopes('agents:write', 'records:read');
  const writingSession = { ...minimal, verbs: ['READ', 'CREATE'] };
  const refusal = await narrow.expectRefusal(CREATE_AGENT_SESSION, { input: writingSession });
  expect(refusal.problem.detail).toMatch(/records:write/);
  expect(await narrow.query(CREATE_AGENT_SESSION, { input: minimal })).toBeTruthy();
});

test('rejects a revoked session with AGENT_SESSION_REVOKED', async () => {
  const agent = await createAgent(app, tenant);
  await agent.query(QUERY_VIEWER);
  const approver = await createApprover(app, tenant);
  const rivalUser = await createEndUser(app, tenant, {
    groupRef: 'globex',
    permissions: ['APPROVE'],
  });
  expect(
    await rivalUser.expectRefusal(REVOKE_AGENT_SESSION, createRevokeInput(agent.sessionId)),
  ).toMatchObject({ code: 'NOT_FOUND' });
  const revoked = await approver.query(REVOKE_AGENT_SESSION, createRevokeInput(agent.sessionId));
  expect(revoked.revokeAgentSession.agentSession.revokeTime).not.toBeNull();
  expect(await agent.expectRefusal(QUERY_VIEWER)).toMatchObject({ code: 'AGENT_SESSION_REVOKED' });
  expect(await approver.query(REVOKE_AGENT_SESSION, createRevokeInput(agent.sessionId))).toEqual(
    revoked,
  );
});

test('rejects an expired session with AGENT_SESSION_EXPIRED', async () => {
  const agent = await createAgent(app, tenant);
  await services.database.prisma.agentSession.updateMany({
    where: { projectId: tenant.projectId, id: agent.sessionId },
    data: { expireTime: new Date(Date.now() - 1_000) },
  });
  expect(await agent.expectRefusal(QUERY_VIEWER)).toMatchObject({ code: 'AGENT_SESSION_EXPIRED' });
});

test('rejects a token with a changed signature', async () => {
  const agent = await createAgent(app, tenant);
  const [head, body] = agent.token.split('.');
  const forged = app.createClient({ authorization: `Bearer ${head}.${body}.${'A'.repeat(43)}` });
  expect(await forged.expectRefusal(QUERY_VIEWER)).toMatchObject({ code: 'UNAUTHENTICATED' });
});

test('ends an agent session with its group', async () => {
  const ownTenant = await app.createTenant();
  const agent = await createAgent(app, ownTenant, { groupRef: 'short-lived' });
  await agent.query(QUERY_VIEWER);
  const erase = `mutation EraseGroup($input: EraseGroupInput!) {
    eraseGroup(input: $input) { deletedId }
  }`;
  await ownTenant.query(erase, {
    input: { projectIdOrName: ownTenant.projectId, groupRef: 'short-lived' },
  });
  await expect
    .poll(async () => (await agent.request(QUERY_VIEWER)).errors?.[0]?.extensions.code)
    .toBe('UNAUTHENTICATED');
});
