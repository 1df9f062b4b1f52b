/**
 * Agents call every tool and every endpoint with IDs of other groups and projects. Responses contain none of their
 * data, and do not reveal whether an ID exists.
 *
 * @module-tag all/walk
 */
import { expect, test } from 'vitest';
import { HIGH_RATE_LIMITS } from '../../support/app.ts';
import {
  type Agent,
  createAgent,
  createApprover,
  createProposalClient,
} from '../../support/fixtures/agents.ts';
import { createSandboxClient } from '../../support/fixtures/subscriptions.ts';
import { createPeopleTenant, startTypedApi } from '../../support/fixtures/typed-api.ts';
import { connectMcp, requestMcp } from '../../support/mcp/mcp-client.ts';
import { listOperations, type Operation } from '../../support/rest/minimal-request.ts';
import { createForeignMember, type Foreign } from '../../support/tenancy/foreign-values.ts';
import { listStoredIds } from '../../support/tenancy/stored-rows.ts';

const app = await startTypedApi(HIGH_RATE_LIMITS);
const tenant = await createPeopleTenant(app);
const rival = await createPeopleTenant(app);
/** Omits creations, because they name no existing record. */
const pinnedTools = ['UPDATE', 'DELETE'].map((type) => ({ type, objectName: 'people' }));

/** Values of the group `acme` that no other agent may see. */
const SECRET_NAME = 'Secret-Lovelace';
const victimIds = await createVictim();

/** Creates a record, a committed proposal and an approved proposal. Returns their IDs. */
async function createVictim() {
  const provider = createSandboxClient(app.sandbox.url);
  const recordId = await provider.create({ lastname: SECRET_NAME, email: 'secret@example.test' });
  const agent = await createAgent(app, tenant);
  const proposals = createProposalClient(tenant);
  const update = { objectName: 'people', type: 'UPDATE', recordId, values: { score: 1 } };
  const committedProposal = await proposals.create(agent, update);
  await proposals.approve(await createApprover(app, tenant), committedProposal.id);
  const { operation } = await proposals.commit(agent, committedProposal);
  const { id: proposalId, payloadHash } = await proposals.create(agent, update);
  await proposals.approve(tenant, proposalId);
  return { recordId, proposalId, payloadHash, operationId: operation.id as string };
}

type ObjectIds = typeof victimIds;

const UNKNOWN_IDS: ObjectIds = {
  recordId: 'none',
  proposalId: 'prp_01h455vb4pex5vsknk084sn02q',
  payloadHash: victimIds.payloadHash,
  operationId: 'opr_01h455vb4pex5vsknk084sn02q',
};

interface Caller {
  name: string;
  agent: Agent;
  /** The projects whose MCP servers the agent calls. */
  projects: string[];
}

const callers: Caller[] = [
  {
    name: 'of another group',
    agent: await createAgent(app, tenant, { groupRef: 'globex', pinnedTools }),
    projects: [tenant.projectId],
  },
  {
    name: 'of a group without installations',
    agent: await createAgent(app, tenant, { groupRef: 'umbrella', pinnedTools }),
    projects: [tenant.projectId],
  },
  {
    name: 'of another project',
    agent: await createAgent(app, rival, { groupRef: 'globex', pinnedTools }),
    projects: [tenant.projectId, rival.projectId],
  },
];

const hiddenTexts = [
  SECRET_NAME,
  'secret@example.test',
  victimIds.proposalId,
  victimIds.operationId,
];

/** Returns the tenant's rows that an agent can change. */
function findChangeableRows() {
  const { prisma } = app.app.services.database;
  const where = { projectId: tenant.projectId };
  const orderBy = { id: 'asc' } as const;
  return Promise.all([
    prisma.proposal.findMany({ where, orderBy }),
    prisma.operation.findMany({ where, orderBy }),
    prisma.agentSession.findMany({ where, orderBy }),
  ]);
}

/** Returns values for the tool's arguments that identify an object. */
function createArguments(argumentNames: string[], ids: ObjectIds): Record<string, unknown> {
  const values: Record<string, unknown> = {
    ...ids,
    objectName: 'people',
    ids: [ids.recordId],
    type: 'UPDATE',
    values: { lastName: 'Byron' },
  };
  const identifying = argumentNames.filter((name) => name in values);
  return Object.fromEntries(identifying.map((name) => [name, values[name]]));
}

/** Replaces the requested IDs, and the IDs that are unique to each response. */
function maskIds(response: unknown): string {
  const recordIds = [victimIds.recordId, UNKNOWN_IDS.recordId].join('|');
  return JSON.stringify(response)
    .replaceAll(/urn:uuid:[\da-f-]{36}|\b(prp|opr)_[\da-z]{26}\b/g, '*')
    .replaceAll(new RegExp(String.raw`(\\*")(${recordIds})\1`, 'g'), '*');
}

test.each(callers)('returns nothing from any tool to an agent $name', async ({
  agent,
  projects,
}) => {
  const { client } = await connectMcp(app, agent);
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['search_objects', 'commit_write']));
  const rowsBefore = await findChangeableRows();
  for (const projectId of projects) {
    for (const { name, inputSchema } of tools) {
      const argumentNames = Object.keys(inputSchema.properties ?? {});
      const callTool = (ids: ObjectIds) =>
        requestMcp(app, { ...agent, projectId }, 'tools/call', {
          name,
          arguments: createArguments(argumentNames, ids),
        });
      const [foreignResponse, unknownResponse] = [
        await callTool(victimIds),
        await callTool(UNKNOWN_IDS),
      ];
      const { result } = foreignResponse;
      const data = JSON.stringify(result?.isError ? result.structuredContent.issues : result);
      expect(
        hiddenTexts.filter((text) => data?.includes(text)),
        name,
      ).toEqual([]);
      expect(JSON.stringify(foreignResponse)).not.toContain('INTERNAL_ERROR');
      expect([name, maskIds(foreignResponse)]).toEqual([name, maskIds(unknownResponse)]);
    }
  }
  expect(await findChangeableRows()).toEqual(rowsBefore);
});

test.each(callers)('returns nothing from any endpoint to an agent $name', async ({ agent }) => {
  const ids = await listStoredIds(app);
  const ownIds = [agent.sessionId, agent.projectId];
  const foreignIds = ids.filter((id) => !ownIds.includes(id));
  const foreign: Foreign = {
    project: tenant.projectId,
    texts: { groupRef: 'acme', consumerRef: 'ann', objectName: 'people' },
    findId: (prefix) => foreignIds.find((id) => id.startsWith(`${prefix}_`)),
  };
  const rowsBefore = await findChangeableRows();
  for (const endpoint of listOperations(app.app.rest.swagger())) {
    const { path, init } = createRequest(endpoint, foreign);
    const headers = { ...init.headers, ...agent.headers };
    const response = await app.fetch(path, { ...init, headers });
    const text = await response.text();
    expect([endpoint.operationId, response.status]).not.toEqual([endpoint.operationId, 500]);
    if (!response.ok) continue;
    const leaked = [...foreignIds, SECRET_NAME].filter((id) => text.includes(id));
    expect([endpoint.operationId, leaked]).toEqual([endpoint.operationId, []]);
  }
  expect(await findChangeableRows()).toEqual(rowsBefore);
});

function createRequest(
  { method, path, parameters = [], requestBody }: Operation,
  foreign: Foreign,
) {
  const pathValues = Object.fromEntries(
    parameters
      .filter(({ in: location }) => location === 'path')
      .map(({ name, schema }) => [name, String(createForeignMember(name, schema, foreign))]),
  );
  const body = requestBody?.content['application/json']?.schema;
  return {
    path: `/v1${path.replace(/\{(\w+)\}/g, (_all, name: string) => pathValues[name] ?? '')}`,
    init: {
      method,
      ...(body && { body: JSON.stringify(createForeignMember('body', body, foreign)) }),
      ...(body && { headers: { 'content-type': 'application/json' } }),
    },
  };
}

test('returns no stored node to an agent except its session', async () => {
  const ids = (await listStoredIds(app)).filter((id) => /^(prp|ags|opr|ins|grp|csm)_/.test(id));
  for (const { agent } of callers) {
    const { data } = await agent.request('query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids,
    });
    const readableIds = ((data?.nodes ?? []) as ({ id: string } | null)[]).flatMap(
      (node) => node?.id ?? [],
    );
    expect(readableIds.filter((id) => id !== agent.sessionId && ids.includes(id))).toEqual([]);
  }
});
