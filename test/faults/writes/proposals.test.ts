/**
 * Servers are killed while agents propose and commit writes. A record is written at most once, only after an approval,
 * and only if it has not changed since the proposal.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createProposalClient } from '../../support/fixtures/agents.ts';
import { createSandboxClient } from '../../support/fixtures/subscriptions.ts';
import { createClient, type GraphqlClient } from '../../support/graphql-client.ts';
import { createRandom } from '../fixtures/random.ts';
import {
  type Fixture,
  prepareEmbedded,
  prepareOnPostgres,
  type Server,
  startServer,
} from '../fixtures/write-fixture.ts';

const SHORT = process.env.FAULTS_SHORT === '1';
const KILLS = SHORT ? 3 : 50;
const PROPOSALS_PER_KILL = SHORT ? 8 : 20;
const SEED = Number(process.env.FAULT_SEED ?? 1);
/** All steps of one round take about this long without a kill. */
const ROUND_MS = 900;

const READ = {
  objectName: 'deals',
  destination: 'records',
  requiredFields: [{ fieldName: 'name' }],
};
const MEMBERS = {
  content: {
    read: { objects: [{ ...READ, optionalFields: [{ fieldName: 'amount' }] }] },
    write: { objects: [{ objectName: 'deals', inheritMapping: true }] },
  },
  config: {
    read: [{ objectName: 'deals', selectedFields: ['amount'] }],
    write: [{ objectName: 'deals' }],
  },
};

const CREATE_SESSION = `mutation ($input: CreateAgentSessionInput!) {
  createAgentSession(input: $input) { token }
}`;

/** One proposal and what the test has done for it. */
interface Case {
  name: string;
  type: 'CREATE' | 'UPDATE';
  /** The id of the record of an update. */
  recordId: string | null;
  isApproved: boolean;
  isChanged: boolean;
  proposal: { id: string; payloadHash: string } | null;
  /** The code of the last commit, or null if it succeeded. Undefined while no response is known. */
  code?: string | null;
}

interface Clients {
  agent: GraphqlClient;
  builder: GraphqlClient;
}

function connect({ client, url }: Server, token: string): Clients {
  const fetchHere = (path: string, init?: RequestInit) => fetch(url + path, init);
  return {
    agent: createClient(fetchHere, { authorization: `Bearer ${token}` }),
    builder: client,
  };
}

const ENDED = ['PROPOSAL_COMMITTED', 'PROPOSAL_STALE', 'PROPOSAL_NOT_APPROVED'];

/** Takes a case as far as it can go. Safe to repeat after a kill. */
async function advance(fixture: Fixture, one: Case, { agent, builder }: Clients): Promise<void> {
  const proposals = createProposalClient({ projectId: fixture.projectIdOrName });
  const { name, type, recordId } = one;
  one.proposal ??= await proposals.create(agent, {
    objectName: 'deals',
    type,
    ...(recordId && { recordId }),
    values: { name },
  });
  if (!one.proposal) return;
  if (one.isApproved && one.code === undefined) {
    await proposals.approve(builder, one.proposal.id).catch(ignoreDecided);
  }
  const { errors } = await agent.request(
    `mutation ($input: CommitProposalInput!) { commitProposal(input: $input) { operation { status } } }`,
    {
      input: {
        projectIdOrName: fixture.projectIdOrName,
        proposalId: one.proposal.id,
        payloadHash: one.proposal.payloadHash,
      },
    },
  );
  one.code = errors?.[0]?.extensions.code ?? null;
}

/** The approval of an earlier call may have been followed by its commit. */
function ignoreDecided(error: unknown): void {
  if (error instanceof TypeError) throw error;
}

async function expectSafeCommits(fixture: Fixture): Promise<void> {
  const random = createRandom(SEED);
  const provider = createSandboxClient(fixture.sandbox.url);
  const deals = '/objects/deals/records';
  let server = await startServer(fixture);
  const session = {
    projectIdOrName: fixture.projectIdOrName,
    ...{
      groupRef: 'acme',
      consumerRef: 'ann',
      name: 'Helper',
      verbs: ['READ', 'CREATE', 'UPDATE'],
    },
    expiresInSeconds: 86_400,
  };
  const outcomes: Record<string, number> = {};
  for (let round = 0; round < KILLS; round += 1) {
    // A session may have only so many pending proposals.
    const { token } = (await server.client.query(CREATE_SESSION, { input: session }))
      .createAgentSession;
    const cases = await Promise.all(
      Array.from({ length: PROPOSALS_PER_KILL }, async (_, index): Promise<Case> => {
        const type = index % 2 === 0 ? 'CREATE' : 'UPDATE';
        const before = { record: { name: `before-${round}-${index}`, amount: 1 } };
        const recordId =
          type === 'UPDATE' ? (await provider.call('POST', deals, before)).record.id : null;
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
    const clients = connect(server, token);
    const running = cases.map((one) => advance(fixture, one, clients).catch(() => {}));
    await wait(random() * ROUND_MS);
    await server.kill();
    await Promise.all(running);
    // Records that are not written yet must not be written after they have changed.
    const written = new Set(fixture.sandbox.records('deals').flatMap(({ name }) => name as string));
    const changed = cases.filter(
      ({ isChanged, proposal, name }) => isChanged && proposal && !written.has(name),
    );
    for (const { recordId } of changed) {
      await provider.call('PATCH', `${deals}/${recordId}`, { record: { amount: 2 } });
    }
    server = await startServer(fixture);
    const again = connect(server, token);
    for (const one of cases) {
      await expect
        .poll(
          async () => {
            await advance(fixture, one, again);
            return one.code === null || ENDED.includes(one.code ?? '');
          },
          { timeout: 60_000, interval: 200 },
        )
        .toBe(true);
    }
    const records = fixture.sandbox.records('deals');
    for (const one of cases) {
      const copies = records.filter(({ name }) => name === one.name).length;
      const mustNotBeWritten = !one.isApproved || changed.includes(one);
      expect([one.type, one.code, copies]).toEqual([one.type, one.code, mustNotBeWritten ? 0 : 1]);
      const key = `${one.type} ${one.code ?? 'written'}${changed.includes(one) ? ' changed' : ''}`;
      outcomes[key] = (outcomes[key] ?? 0) + 1;
    }
  }
  console.log(outcomes);
  await server.kill();
}

test('writes approved proposals once, and no others, when the server is killed (PostgreSQL)', async () => {
  await expectSafeCommits(await prepareOnPostgres(MEMBERS));
});

// The short form kills a server on the embedded database in writes-embedded.test.ts only.
test.skipIf(SHORT)(
  'writes approved proposals once, and no others, when the server is killed (embedded)',
  async () => {
    await expectSafeCommits(await prepareEmbedded(MEMBERS));
  },
);
