/** Proposals of agents: their checks, approvals and commits. */

import { expect, test } from 'vitest';
import { proposals as proposalWork } from '../../../src/domain/agents/commit-proposal.ts';
import { runWork } from '../../../src/jobs/run-work.ts';
import {
  createAgent,
  createApprover,
  createProposalClient,
} from '../../support/fixtures/agents.ts';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import { toRevision } from '../../support/fixtures/integrations.ts';
import { createSandboxClient } from '../../support/fixtures/subscriptions.ts';
import {
  createPeopleTenant,
  installPeople,
  startTypedApi,
} from '../../support/fixtures/typed-api.ts';
import { runDueRows } from '../../support/work/due-work.ts';

const app = await startTypedApi();
const { services } = app.app;
const tenant = await createPeopleTenant(app);
const agent = await createAgent(app, tenant);
const approver = await createApprover(app, tenant);
const proposals = createProposalClient(tenant);
const provider = createSandboxClient(app.sandbox.url);

const countWrites = () =>
  services.database.prisma.operation.count({
    where: { projectId: tenant.projectId, actionType: 'WRITE' },
  });

let count = 0;
const createContact = () => ({
  lastname: 'Lovelace',
  email: `ada-${++count}@example.test`,
  score: 7,
});
const readRecord = async (id: string) =>
  (await provider.call('GET', `/objects/contacts/records/${id}`)).record;

const createUpdate = (recordId: string, values: object = { lastName: 'Byron' }) => ({
  objectName: 'people',
  type: 'UPDATE',
  recordId,
  values,
  reason: 'She married.',
});

test('shows the values before and after, and writes after an approval', async () => {
  const id = await provider.create(createContact());
  const proposal = await proposals.create(agent, createUpdate(id));
  expect(proposal).toMatchObject({
    status: 'PENDING',
    type: 'UPDATE',
    recordId: id,
    reason: 'She married.',
    createdBy: `agent:${agent.sessionId}`,
    decidedBy: null,
    fields: [{ name: 'lastName', before: 'Lovelace', after: 'Byron' }],
  });
  expect(await proposals.getCommitRefusal(agent, proposal)).toMatchObject({
    code: 'PROPOSAL_NOT_APPROVED',
  });
  expect(await readRecord(id)).toMatchObject({ lastname: 'Lovelace' });
  expect(await proposals.approve(approver, proposal.id)).toMatchObject({
    status: 'APPROVED',
    decidedBy: expect.stringMatching(/^consumer:csm_/),
  });
  expect(await proposals.commit(agent, proposal)).toMatchObject({
    proposal: { status: 'COMMITTED' },
    operation: { status: 'SUCCEEDED' },
    result: { success: true, recordId: id },
  });
  expect(await readRecord(id)).toMatchObject({ lastname: 'Byron' });
});

test('creates and deletes records', async () => {
  const { lastname: lastName, email: emailAddress } = createContact();
  const values = { lastName, emailAddress };
  const creation = await proposals.create(agent, { objectName: 'people', type: 'CREATE', values });
  expect(creation).toMatchObject({ recordId: null, status: 'PENDING' });
  await proposals.approve(tenant, creation.id);
  const { result } = await proposals.commit(agent, creation);
  expect(result).toMatchObject({ success: true, recordId: expect.any(String) });
  const { recordId } = result;
  const deletion = { objectName: 'people', type: 'DELETE', recordId };
  const deletionProposal = await proposals.create(agent, deletion);
  expect(deletionProposal.fields).toContainEqual({
    name: 'lastName',
    before: lastName,
    after: null,
  });
  await proposals.approve(tenant, deletionProposal.id);
  expect((await proposals.commit(agent, deletionProposal)).result).toMatchObject({ success: true });
  await expect(readRecord(recordId)).rejects.toThrow(/^404/);
});

test('commits once, also by simultaneous calls', async () => {
  const id = await provider.create(createContact());
  const proposal = await proposals.create(agent, createUpdate(id));
  await proposals.approve(tenant, proposal.id);
  const writeCount = await countWrites();
  const attempts = await Promise.allSettled(
    [agent, agent, tenant, tenant].map((client) => proposals.commit(client, proposal)),
  );
  const operationIds = attempts.flatMap((attempt) =>
    attempt.status === 'fulfilled' ? attempt.value.operation.id : [],
  );
  expect(new Set(operationIds).size).toBe(1);
  expect((await countWrites()) - writeCount).toBe(1);
  expect(await proposals.getCommitRefusal(agent, proposal)).toMatchObject({
    code: 'PROPOSAL_COMMITTED',
    problem: { operationId: expect.stringMatching(/^opr_/) },
  });
});

test('refuses to write a record that has changed since the proposal', async () => {
  const id = await provider.create(createContact());
  const proposal = await proposals.create(agent, createUpdate(id));
  await proposals.approve(tenant, proposal.id);
  await provider.update(id, { score: 8 });
  expect(await proposals.getCommitRefusal(agent, proposal)).toMatchObject({
    code: 'PROPOSAL_STALE',
  });
  expect(await readRecord(id)).toMatchObject({ lastname: 'Lovelace' });
  expect(await proposals.getCommitRefusal(agent, proposal)).toMatchObject({
    code: 'PROPOSAL_STALE',
  });
  expect(await proposals.getApproveRefusal(tenant, proposal.id)).toMatchObject({
    code: 'PROPOSAL_STALE',
  });
});

test('shows and compares a field that the installation writes and does not read', async () => {
  const otherTenant = await app.createTenant();
  await installPeople(app, otherTenant, {
    integration: 'crm',
    provider: 'sandbox',
    groupRef: 'acme',
    config: {
      read: [{ objectName: 'contacts', selectedFields: [] }],
      write: [{ objectName: 'contacts' }],
    },
  });
  const writer = await createAgent(app, otherTenant);
  const { create, approve, getCommitRefusal: refuseCommit } = createProposalClient(otherTenant);
  const id = await provider.create(createContact());
  const proposal = await create(writer, createUpdate(id, { score: 9 }));
  expect(proposal.fields).toEqual([{ name: 'score', before: 7, after: 9 }]);
  await approve(otherTenant, proposal.id);
  await provider.update(id, { score: 8 });
  expect(await refuseCommit(writer, proposal)).toMatchObject({ code: 'PROPOSAL_STALE' });
  expect(await readRecord(id)).toMatchObject({ score: 8 });
});

test.each([
  [
    'an unknown field',
    { nickname: 'Ada' },
    'input.values.nickname',
    /is not a field of people.*lastName/,
  ],
  ['an ill-typed field', { score: 'seven' }, 'input.values.score', /must be an integer/],
  ['no field', {}, 'input.values', /at least one field/],
  ['the id among the values', { id: '7' }, 'input.values.id', /recordId/],
])('refuses %s before any request to the provider', async (_what, values, name, detail) => {
  // A request to the provider would end in NOT_FOUND, because the record does not exist.
  const refusal = await proposals.getCreateRefusal(agent, createUpdate('none', values));
  expect(refusal).toMatchObject({
    code: 'BAD_USER_INPUT',
    problem: { issues: [{ name, detail: expect.stringMatching(detail) }] },
  });
});

test('never commits a rejected proposal, and returns the reason', async () => {
  const proposal = await proposals.create(
    agent,
    createUpdate(await provider.create(createContact())),
  );
  await proposals.approve(tenant, proposal.id);
  expect(await proposals.reject(approver, proposal.id, 'She did not.')).toMatchObject({
    status: 'REJECTED',
    decisionReason: 'She did not.',
  });
  const refusal = await proposals.getCommitRefusal(agent, proposal);
  expect(refusal).toMatchObject({
    code: 'PROPOSAL_REJECTED',
    problem: { detail: expect.stringContaining('She did not.') },
  });
  expect(await proposals.getApproveRefusal(tenant, proposal.id)).toMatchObject({
    code: 'PROPOSAL_REJECTED',
  });
});

test('refuses an approval by the author of the proposal', async () => {
  const input = { ...createUpdate(await provider.create(createContact())), groupRef: 'acme' };
  const proposal = await proposals.create(tenant, input);
  expect(await proposals.getApproveRefusal(tenant, proposal.id)).toMatchObject({
    code: 'SELF_APPROVAL',
  });
  expect(await proposals.getApproveRefusal(agent, proposal.id)).toMatchObject({
    code: 'FORBIDDEN',
  });
  const reader = await createEndUser(app, tenant);
  expect(await proposals.getApproveRefusal(reader, proposal.id)).toMatchObject({
    code: 'FORBIDDEN',
  });
  expect(await proposals.approve(approver, proposal.id)).toMatchObject({ status: 'APPROVED' });
});

test('refuses a commit with another hash', async () => {
  const proposal = await proposals.create(
    agent,
    createUpdate(await provider.create(createContact())),
  );
  await proposals.approve(tenant, proposal.id);
  const changed = { ...proposal, payloadHash: 'f'.repeat(64) };
  expect(await proposals.getCommitRefusal(agent, changed)).toMatchObject({
    code: 'PROPOSAL_PAYLOAD_CHANGED',
    problem: { detail: expect.stringMatching(/^input\.payloadHash must be /) },
  });
});

test('approves proposals by rule up to maxPerDay, for each session', async () => {
  const rules = [{ name: 'names', types: ['UPDATE'], fields: ['lastName'], maxPerDay: 2 }];
  const ruled = await createAgent(app, tenant, { rules });
  const id = await provider.create(createContact());
  const createdProposals = await Promise.all(
    [1, 2, 3].map(() => proposals.create(ruled, createUpdate(id))),
  );
  expect(createdProposals.map(({ status }) => status).sort()).toEqual([
    'APPROVED',
    'APPROVED',
    'PENDING',
  ]);
  expect(createdProposals.find(({ status }) => status === 'APPROVED')).toMatchObject({
    rule: 'names',
    decidedBy: 'rule:names',
  });
  const otherAgent = await createAgent(app, tenant, { rules });
  expect(await proposals.create(otherAgent, createUpdate(id))).toMatchObject({
    status: 'APPROVED',
  });
  const outside = await proposals.create(otherAgent, createUpdate(id, { lastName: 'B', score: 1 }));
  expect(outside).toMatchObject({ status: 'PENDING', rule: null });
});

test('expires a proposal that is not committed in time', async () => {
  const proposal = await proposals.create(
    agent,
    createUpdate(await provider.create(createContact())),
  );
  await proposals.approve(tenant, proposal.id);
  const past = new Date(Date.now() - 1_000);
  await services.database.prisma.proposal.updateMany({
    where: { projectId: tenant.projectId, id: proposal.id },
    data: { expireTime: past, dueTime: past },
  });
  expect(await proposals.getCommitRefusal(agent, proposal)).toMatchObject({
    code: 'PROPOSAL_EXPIRED',
  });
  await runDueRows(services, proposalWork);
  const query = `query GetProposal($id: ID!) {
    node(id: $id) { ... on Proposal { status } }
  }`;
  expect(await tenant.query(query, { id: proposal.id })).toEqual({
    node: { status: 'EXPIRED' },
  });
});

test('lists its own proposals to an agent, and those of their group to end users', async () => {
  const proposal = await proposals.create(
    agent,
    createUpdate(await provider.create(createContact())),
  );
  const otherAgent = await createAgent(app, tenant);
  expect(await proposals.getCommitRefusal(otherAgent, proposal)).toMatchObject({
    code: 'NOT_FOUND',
  });
  const list = '{ viewer { project { proposals(first: 100) { nodes { id } } } } }';
  const listProposalIds = async (client: Pick<typeof approver, 'query'>) =>
    (await client.query(list)).viewer.project.proposals.nodes.map(({ id }: { id: string }) => id);
  expect(await listProposalIds(approver)).toContain(proposal.id);
  expect(await listProposalIds(await createEndUser(app, tenant, { groupRef: 'globex' }))).toEqual(
    [],
  );
});

test('refuses a commit if the mapping changed after the approval', async () => {
  const ownTenant = await app.createTenant();
  await installPeople(app, ownTenant, {
    integration: 'crm',
    provider: 'sandbox',
    groupRef: 'acme',
  });
  const ownAgent = await createAgent(app, ownTenant);
  const ownProposals = createProposalClient(ownTenant);
  const id = await provider.create(createContact());
  const proposal = await ownProposals.create(ownAgent, createUpdate(id));
  await ownProposals.approve(ownTenant, proposal.id);
  const content = {
    name: 'crm',
    provider: 'sandbox',
    read: {
      objects: [
        {
          ...{ objectName: 'contacts', mapToName: 'people', destination: 'records' },
          requiredFields: [
            { fieldName: 'firstname', mapToName: 'lastName' },
            { fieldName: 'email', mapToName: 'emailAddress' },
          ],
        },
      ],
    },
    write: { objects: [{ objectName: 'contacts', inheritMapping: true }] },
  };
  const revise = `mutation CreateRevision($input: CreateRevisionInput!) {
    createRevision(input: $input) { revision { id } }
  }`;
  const revision = toRevision(content as never);
  await ownTenant.query(revise, {
    input: { projectIdOrName: ownTenant.projectId, integrationIdOrName: 'crm', revision },
  });
  expect(await ownProposals.getCommitRefusal(ownAgent, proposal)).toMatchObject({
    code: 'PROPOSAL_STALE',
    problem: { detail: expect.stringMatching(/mapping/) },
  });
  expect(await readRecord(id)).toMatchObject({ lastname: 'Lovelace' });
});

test('shows proposals and sessions only to callers who may read records or approve', async () => {
  const proposal = await proposals.create(
    agent,
    createUpdate(await provider.create(createContact())),
  );
  const createNodeQuery = (id: string) => `{ node(id: "${id}") { id } }`;
  const page = await tenant.withScopes('frontend');
  for (const list of ['proposals', 'agentSessions']) {
    const query = `{ viewer { project { ${list}(first: 1) { nodes { id } } } } }`;
    expect(await page.expectRefusal(query)).toMatchObject({ code: 'FORBIDDEN' });
  }
  for (const id of [proposal.id, agent.sessionId]) {
    expect(await page.expectRefusal(createNodeQuery(id))).toMatchObject({ code: 'FORBIDDEN' });
  }
  const person = await createEndUser(app, tenant, { permissions: [] });
  expect(await person.expectRefusal(createNodeQuery(proposal.id))).toMatchObject({
    code: 'FORBIDDEN',
  });
  expect(await person.expectRefusal(createNodeQuery(agent.sessionId))).toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('continues the other proposals if one fails', async () => {
  const [brokenProposal, expiredProposal] = await Promise.all(
    [1, 2].map(async () =>
      proposals.create(agent, createUpdate(await provider.create(createContact()))),
    ),
  );
  const where = (id: string) => ({ projectId_id: { projectId: tenant.projectId, id } });
  const { proposal: rows } = services.database.prisma;
  const dueTime = new Date(Date.now() - 5_000);
  // No code path creates such a row.
  await rows.update({ where: where(brokenProposal.id), data: { status: 'COMMITTING', dueTime } });
  await rows.update({ where: where(expiredProposal.id), data: { expireTime: dueTime, dueTime } });
  await using _workers = await runWork(services, { leased: [proposalWork], upkeep: [] });
  const readStatus = async () =>
    (await rows.findUnique({ where: where(expiredProposal.id) }))?.status;
  await expect.poll(readStatus).toBe('EXPIRED');
});
