/**
 * Compares REST with GraphQL: equal input must have equal outcomes and store equal rows.
 *
 * @module-tag all/walk
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { getSharedApp } from '../support/app.ts';
import { insertDestination } from '../support/fixtures/integrations.ts';
import { arbitraryMembers } from '../support/fuzz/fuzz.ts';
import { createRestTenant, type RestTenant } from '../support/rest/rest-client.ts';
import {
  findPair,
  type Input,
  isExpressible,
  isWellFormed,
  type Pair,
  PairedIds,
  sendGraphql,
  sendRest,
} from '../support/rest/surface-pairs.ts';

/** To send more or other calls, set `FUZZ_CALLS=20000 FUZZ_SEED=7`. */
const CALLS = Number(process.env.FUZZ_CALLS ?? 1_000);
const SEED = Number(process.env.FUZZ_SEED ?? 1);
/** The percentage of values that do not fit their position. */
const HOSTILITY = 8;

const app = await getSharedApp({
  env: { RATE_LIMIT_PER_SECOND: '100000', RATE_LIMIT_BURST: '100000' },
});
const { prisma } = app.app.services.database;

const CHANGES = [
  'createTopic',
  'updateTopic',
  'createDestination',
  'updateDestination',
  'createApiKey',
  'updateApiKey',
  'createProviderApp',
  'updateProviderApp',
  'generateConnection',
  'updateConnection',
  'createIntegration',
  'createRevision',
  'createInstallation',
  'createTopicDestinationRoute',
  'triggerRead',
].map((name) => findPair(name));
const DELETIONS = [
  'deleteTopic',
  'deleteDestination',
  'deleteApiKey',
  'deleteProviderApp',
  'deleteConnection',
  'deleteIntegration',
  'deleteTopicDestinationRoute',
].map((name) => findPair(name));
const ROUTES = [findPair('createNotificationEventTopicRoute', 'createEventTopicRoute')];

interface Change {
  pair: Pair;
  input: Input;
}

const createArbitraryCall = (pair: Pair) =>
  arbitraryMembers(pair.mutation.args, HOSTILITY).map(({ input }): Change => {
    const members = typeof input === 'object' && input !== null ? input : {};
    return { pair, input: { ...members, projectIdOrName: '@mine' } };
  });

const calls = fc.sample(
  fc.oneof(
    ...[...CHANGES, ...ROUTES].map((pair) => ({ arbitrary: createArbitraryCall(pair), weight: 5 })),
    ...DELETIONS.map((pair) => ({ arbitrary: createArbitraryCall(pair), weight: 1 })),
  ),
  { seed: SEED, numRuns: CALLS },
);

const ID = /\b[a-z]{3}_[0-9a-z]{26}\b/g;

/** Returns the rows that callers created in a project, with ordinals for ids, and without times and secrets. */
async function readRows({ tenant: { projectId, orgId, projectName } }: RestTenant) {
  const own = { where: { projectId }, orderBy: { id: 'asc' } } as const;
  const rows = {
    project: await prisma.project.findMany({ where: { id: projectId } }),
    apiKeys: await prisma.apiKey.findMany(own),
    topics: await prisma.topic.findMany(own),
    destinations: await prisma.destination.findMany(own),
    topicRoutes: await prisma.topicDestinationRoute.findMany(own),
    eventRoutes: await prisma.eventTopicRoute.findMany(own),
    providerApps: await prisma.providerApp.findMany(own),
    groups: await prisma.group.findMany(own),
    consumers: await prisma.consumer.findMany(own),
    connections: await prisma.connection.findMany(own),
    integrations: await prisma.integration.findMany(own),
    revisions: await prisma.revision.findMany(own),
    installations: await prisma.installation.findMany(own),
    configs: await prisma.installationConfig.findMany(own),
    operations: await prisma.operation.findMany(own),
    events: await prisma.notificationEvent.findMany({ ...own, omit: { id: true, position: true } }),
  };
  const text = JSON.stringify(rows, (name, value) =>
    /Sealed$|^hash$|^prefix$/.test(name) ? value && 'secret' : value,
  )
    .replaceAll(projectName, 'project')
    .replaceAll(orgId, 'org')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time');
  // Ids sort by time, so the first of a kind is the first on both sides.
  const ids = [...new Set(text.match(ID))].sort();
  const shown = JSON.parse(text.replaceAll(ID, (id) => `${id.slice(0, 3)} ${ids.indexOf(id)}`));
  // Events of one transaction have no order.
  const events = (shown.events as unknown[]).map((event) => JSON.stringify(event)).sort();
  return { ...shown, events } as Record<keyof typeof rows, unknown[]>;
}

/** Replaces the ids that refusals contain. */
function removeIds(outcome: object): unknown {
  return JSON.parse(JSON.stringify(outcome).replaceAll(ID, 'id'));
}

test('returns equal outcomes and stores equal rows over REST and GraphQL for equal input', async () => {
  const [left, right] = [await createRestTenant(app), await createRestTenant(app)];
  const ids = new PairedIds();
  for (const name of ['records', 'others']) {
    const [one, other] = [left, right].map((side) => insertDestination(app, side.tenant, name));
    ids.add([(await one)?.id ?? '', (await other)?.id ?? '']);
  }
  const outcomes = new Map<number, number>();
  const succeededChanges = new Set<string>();
  const differences: unknown[] = [];
  let compared = 0;
  for (const { pair, input } of calls) {
    const createInput = ({ tenant }: RestTenant, side: 0 | 1) => ({
      ...ids.fill(input, side),
      projectIdOrName: tenant.projectId,
    });
    const [leftInput, rightInput] = [createInput(left, 0), createInput(right, 1)];
    if (!isWellFormed(pair, leftInput) || !isExpressible(pair, leftInput)) continue;
    const rest = await sendRest(left, pair, leftInput);
    const graphql = await sendGraphql(right, pair, rightInput);
    const { id: leftId, ...leftOutcome } = rest;
    const { id: rightId, ...rightOutcome } = graphql;
    if (!isDeepStrictEqual(removeIds(leftOutcome), removeIds(rightOutcome))) {
      differences.push({ change: pair.mutation.name, input: leftInput, rest, graphql });
    }
    if (leftId && rightId) ids.add([leftId, rightId]);
    outcomes.set(rest.status, (outcomes.get(rest.status) ?? 0) + 1);
    if (rest.status === 200) succeededChanges.add(pair.mutation.name);
    compared += 1;
  }
  expect(differences).toEqual([]);
  const [restRows, graphqlRows] = [await readRows(left), await readRows(right)];
  expect(restRows).toEqual(graphqlRows);
  // The calls reached each change, and met each kind of refusal.
  expect(compared).toBeGreaterThan(CALLS / 2);
  expect(succeededChanges.size).toBeGreaterThan(15);
  for (const status of [200, 400, 404, 409]) {
    expect(outcomes.get(status) ?? 0, String(status)).toBeGreaterThan(0);
  }
}, 120_000);
