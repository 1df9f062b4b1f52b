/** Kills servers while they apply plans. Each plan is applied as a whole, or not at all. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createRandom } from './fixtures/random.ts';
import { IS_SHORT, SEED } from './fixtures/settings.ts';
import {
  type Fixture,
  prepareEmbedded,
  prepareOnPostgres,
  type Server,
  startServer,
} from './fixtures/write-fixture.ts';

const KILL_COUNT = IS_SHORT ? 2 : 30;
const TOPIC_COUNT = 150;

const PLAN_PROJECT = `mutation PlanProject($input: PlanProjectInput!) {
  planProject(input: $input) { plan { id changes { path } } }
}`;
const APPLY_PLAN = `mutation ApplyPlan($input: ApplyPlanInput!) {
  applyPlan(input: $input) { plan { id applyTime } }
}`;
const GET_PLAN_STATE = `query State($project: String!, $plan: ID!) {
  project(idOrName: $project) {
    topics(first: 200) { nodes { name } }
    eventTopicRoutes(first: 1) { totalCount }
  }
  node(id: $plan) { ... on Plan { applyTime } }
}`;

/** Returns a document with the topics of this round. A plan of it deletes the topics of the previous round. */
function formatDocument(round: number): string {
  const topics = Array.from({ length: TOPIC_COUNT }, (_, index) => ({
    name: `round${round}-topic${index}`,
    eventTypes: ['connection.created'],
  }));
  return JSON.stringify({ specVersion: '1.0.0', topics });
}

async function planRound({ client }: Server, fixture: Fixture, round: number): Promise<string> {
  const { projectIdOrName } = fixture;
  const input = { projectIdOrName, document: formatDocument(round), allowDeletions: true };
  const { plan } = (await client.query(PLAN_PROJECT, { input })).planProject;
  // Each topic has a route. A later plan also deletes the topics and routes of the previous round.
  const creations = 2 * TOPIC_COUNT;
  expect(plan.changes).toHaveLength(round === 0 ? creations : 2 * creations);
  return plan.id;
}

const applyPlan = ({ client }: Server, { projectIdOrName }: Fixture, planId: string) =>
  client.query(APPLY_PLAN, { input: { projectIdOrName, planId } });

/** Returns the round of the project's topics and routes. Fails if they belong to several rounds. */
async function readRound({ client }: Server, { projectIdOrName: project }: Fixture, plan: string) {
  const planState = await client.query(GET_PLAN_STATE, { project, plan });
  const names: string[] = planState.project.topics.nodes.map(({ name }: { name: string }) => name);
  const rounds = new Set(names.map((name) => Number(/^round(\d+)-/.exec(name)?.[1])));
  expect([rounds.size, names.length, planState.project.eventTopicRoutes.totalCount]).toEqual([
    1,
    TOPIC_COUNT,
    TOPIC_COUNT,
  ]);
  return { round: [...rounds][0], isApplied: planState.node.applyTime !== null };
}

async function expectWholePlans(fixture: Fixture): Promise<void> {
  const random = createRandom(SEED);
  let server = await startServer(fixture);
  const firstPlan = await planRound(server, fixture, 0);
  const startMs = performance.now();
  await applyPlan(server, fixture, firstPlan);
  const applyMs = performance.now() - startMs;
  let interruptedCount = 0;
  for (let round = 1; round <= KILL_COUNT; round += 1) {
    const plan = await planRound(server, fixture, round);
    const response = applyPlan(server, fixture, plan).catch(() => null);
    await delay(random() * 2 * applyMs);
    await server.kill();
    await response;
    server = await startServer(fixture);
    const planState = await readRound(server, fixture, plan);
    expect(planState.round).toBe(planState.isApplied ? round : round - 1);
    if (!planState.isApplied) interruptedCount += 1;
    await applyPlan(server, fixture, plan);
    expect(await readRound(server, fixture, plan)).toEqual({ round, isApplied: true });
  }
  console.log({ kills: KILL_COUNT, interruptedCount });
  await server.kill();
}

test('applies a plan as a whole or not at all when the server is killed (PostgreSQL)', async () => {
  await expectWholePlans(await prepareOnPostgres());
});

// The short form kills a server on the embedded database in writes-embedded.test.ts only.
test.skipIf(IS_SHORT)(
  'applies a plan as a whole or not at all when the server is killed (embedded)',
  async () => {
    await expectWholePlans(await prepareEmbedded());
  },
);
