/**
 * Kills servers while agents propose and commit writes. Each record is written at most once, after an approval, and
 * only if it has not changed since the proposal.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createProposalClient } from '../../support/fixtures/agents.ts';
import { createSandboxClient } from '../../support/fixtures/subscriptions.ts';
import { createClient, fetchFrom, type GraphqlClient } from '../../support/graphql-client.ts';
import { createRandom } from '../fixtures/random.ts';
import { IS_SHORT, SEED } from '../fixtures/settings.ts';
import {
  type Fixture,
  prepareEmbedded,
  prepareOnPostgres,
  type Server,
  startServer,
} from '../fixtures/write-fixture.ts';

const KILL_COUNT = IS_SHORT ? 2 : 50;
const PROPOSALS_PER_KILL = IS_SHORT ? 8 : 20;
/** Without a kill, the steps of a round take about this time. */
const ROUND_MS = 900;

const READ_DEALS = {
  objectName: 'deals',
  destination: 'records',
  requiredFields: [{ fieldName: 'name' }],
};
const INSTALLATION_OPTIONS = {
  content: {
    read: { objects: [{ ...READ_DEALS, optionalFields: [{ fieldName: 'amount' }] }] },
    write: { objects: [{ objectName: 'deals', inheritMapping: true }] },
  },
  config: {
    read: [{ objectName: 'deals', selectedFields: ['amount'] }],
    write: [{ objectName: 'deals' }],
  },
};

const CREATE_SESSION = `mutation CreateSession($input: CreateAgentSessionInput!) {
  createAgentSession(input: $input) { token }
}`;

/** A proposal, and its state in the test. */
interface ProposalCase {
  name: string;
  type: 'CREATE' | 'UPDATE';
  /** The ID of an updated record. Null for a creation. */
  recordId: string | null;
  isApproved: boolean;
  isChanged: boolean;
  proposal: { id: string; payloadHash: string } | null;
  /** The error code of the last commit. Null if it succeeded, undefined while no response has arrived. */
  code?: string | null;
}

interface Clients {
  agent: GraphqlClient;
  builder: GraphqlClient;
}

function createClients({ client, url }: Server, token: string): Clients {
  const agent = createClient(fetchFrom(url), { authorization: `Bearer ${token}` });
  return { agent, builder: client };
}

/** Error codes of commits that cannot succeed later. */
const FINAL_CODES = ['PROPOSAL_COMMITTED', 'PROPOSAL_STALE', 'PROPOSAL_NOT_APPROVED'];

/** Proposes, approves and commits, and skips completed steps. Safe to repeat after a kill. */
async function advanceProposal(
  fixture: Fixture,
  proposalCase: ProposalCase,
  { agent, builder }: Clients,
): Promise<void> {
  const proposals = createProposalClient({ projectId: fixture.projectIdOrName });
  const { name, type, recordId } = proposalCase;
  proposalCase.proposal ??= await proposals.create(agent, {
    objectName: 'deals',
    type,
    ...(recordId && { recordId }),
    values: { name },
  });
  if (!proposalCase.proposal) return;
  if (proposalCase.isApproved && proposalCase.code === undefined) {
    await proposals.approve(builder, proposalCase.proposal.id).catch(ignoreRefusal);
  }
  const { errors } = await agent.request(
    `mutation CommitProposal($input: CommitProposalInput!) { commitProposal(input: $input) { operation { status } } }`,
    {
      input: {
        projectIdOrName: fixture.projectIdOrName,
        proposalId: proposalCase.proposal.id,
        payloadHash: proposalCase.proposal.payloadHash,
      },
    },
  );
  proposalCase.code = errors?.[0]?.extensions.code ?? null;
}

/** Ignores a refusal, because an earlier call may have approved and committed. */
function ignoreRefusal(error: unknown): void {
  if (error instanceof TypeError) throw error;
}

async function expectSafeCommits(fixture: Fixture): Promise<void> {
  const random = createRandom(SEED);
  const provider = createSandboxClient(fixture.sandbox.url);
  const deals = '/objects/deals/records';
  let server = await startServer(fixture);
  const session = {
    projectIdOrName: fixture.projectIdOrName,
    groupRef: 'acme',
    consumerRef: 'ann',
    name: 'Helper',
    verbs: ['READ', 'CREATE', 'UPDATE'],
    expiresInSeconds: 86_400,
  };
  const outcomes: Record<string, number> = {};
  for (let round = 0; round < KILL_COUNT; round += 1) {
    // Each round has a session, because a session may have a limited number of pending proposals.
    const { token } = (await server.client.query(CREATE_SESSION, { input: session }))
      .createAgentSession;
    const cases = await Promise.all(
      Array.from({ length: PROPOSALS_PER_KILL }, async (_, index): Promise<ProposalCase> => {
        const type = index % 2 === 0 ? 'CREATE' : 'UPDATE';
        const recordBefore = { record: { name: `before-${round}-${index}`, amount: 1 } };
        const recordId =
          type === 'UPDATE' ? (await provider.call('POST', deals, recordBefore)).record.id : null;
        return {
          name: `after-${round}-${index}`,
          type,
          recordId,
          isApproved: random() < 0.75,
          isChanged: type === 'UPDATE' && random() < 0.5,
          proposal: null,
        };
      }),
    );
    const clients = createClients(server, token);
    const runningCases = cases.map((proposalCase) =>
      advanceProposal(fixture, proposalCase, clients).catch(() => {}),
    );
    await delay(random() * ROUND_MS);
    await server.kill();
    await Promise.all(runningCases);
    // A record that has changed since its proposal must not be written.
    const writtenNames = new Set(
      fixture.sandbox.listRecords('deals').flatMap(({ name }) => name as string),
    );
    const changedCases = cases.filter(
      ({ isChanged, proposal, name }) => isChanged && proposal && !writtenNames.has(name),
    );
    for (const { recordId } of changedCases) {
      await provider.call('PATCH', `${deals}/${recordId}`, { record: { amount: 2 } });
    }
    server = await startServer(fixture);
    const newClients = createClients(server, token);
    for (const proposalCase of cases) {
      await expect
        .poll(
          async () => {
            await advanceProposal(fixture, proposalCase, newClients);
            return proposalCase.code === null || FINAL_CODES.includes(proposalCase.code ?? '');
          },
          { timeout: 60_000, interval: 200 },
        )
        .toBe(true);
    }
    const records = fixture.sandbox.listRecords('deals');
    for (const proposalCase of cases) {
      const copyCount = records.filter(({ name }) => name === proposalCase.name).length;
      const mustNotBeWritten = !proposalCase.isApproved || changedCases.includes(proposalCase);
      expect([proposalCase.type, proposalCase.code, copyCount]).toEqual([
        proposalCase.type,
        proposalCase.code,
        mustNotBeWritten ? 0 : 1,
      ]);
      const key = `${proposalCase.type} ${proposalCase.code ?? 'written'}${changedCases.includes(proposalCase) ? ' changed' : ''}`;
      outcomes[key] = (outcomes[key] ?? 0) + 1;
    }
  }
  console.log(outcomes);
  await server.kill();
}

test('writes each approved proposal once, and no other proposal, if servers are killed (PostgreSQL)', async () => {
  await expectSafeCommits(await prepareOnPostgres(INSTALLATION_OPTIONS));
});

// The short form kills a server on the embedded database in writes-embedded.test.ts only.
test.skipIf(IS_SHORT)(
  'writes each approved proposal once, and no other proposal, if servers are killed (embedded)',
  async () => {
    await expectSafeCommits(await prepareEmbedded(INSTALLATION_OPTIONS));
  },
);
