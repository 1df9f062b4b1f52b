/**
 * Compares REST with GraphQL: equal input must have equal outcomes and store equal rows.
 *
 * @module-tag all/walk
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { getSharedApp, HIGH_RATE_LIMITS } from '../support/app.ts';
import { insertDestination } from '../support/fixtures/integrations.ts';
import { arbitraryMembers, PLACEHOLDER } from '../support/fuzz/fuzz.ts';
import { createRestTenant, type RestTenant } from '../support/rest/rest-client.ts';
import {
  findPair,
  type Input,
  isExpressible,
  isWellFormed,
  type Pair,
  sendGraphql,
  sendRest,
} from '../support/rest/surface-pairs.ts';

/** To send more or other calls, set `FUZZ_CALLS=20000 FUZZ_SEED=7`. */
const CALL_COUNT = Number(process.env.FUZZ_CALLS ?? 600);
const SEED = Number(process.env.FUZZ_SEED ?? 1);
/** The percentage of values that do not fit their position. */
const HOSTILITY = 8;

const app = await getSharedApp({ env: HIGH_RATE_LIMITS });
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
  { seed: SEED, numRuns: CALL_COUNT },
);

const RESOURCE_ID = /\b[a-z]{3}_[0-9a-z]{26}\b/g;

/** Returns the rows that callers created in a project, with ordinals for ids, and without times and secrets. */
async function readRows({ tenant: { projectId, orgId, projectName } }: RestTenant) {
  const inProject = { where: { projectId }, orderBy: { id: 'asc' } } as const;
  const rows = {
    project: await prisma.project.findMany({ where: { id: projectId } }),
    apiKeys: await prisma.apiKey.findMany(inProject),
    topics: await prisma.topic.findMany(inProject),
    destinations: await prisma.destination.findMany(inProject),
    topicRoutes: await prisma.topicDestinationRoute.findMany(inProject),
    eventRoutes: await prisma.eventTopicRoute.findMany(inProject),
    providerApps: await prisma.providerApp.findMany(inProject),
    groups: await prisma.group.findMany(inProject),
    consumers: await prisma.consumer.findMany(inProject),
    connections: await prisma.connection.findMany(inProject),
    integrations: await prisma.integration.findMany(inProject),
    revisions: await prisma.revision.findMany(inProject),
    installations: await prisma.installation.findMany(inProject),
    configs: await prisma.installationConfig.findMany(inProject),
    operations: await prisma.operation.findMany(inProject),
    events: await prisma.notificationEvent.findMany({
      ...inProject,
      omit: { id: true, position: true },
    }),
  };
  const text = JSON.stringify(rows, (name, value) =>
    /Sealed$|^hash$|^prefix$/.test(name) ? value && 'secret' : value,
  )
    .replaceAll(projectName, 'project')
    .replaceAll(orgId, 'org')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time');
  // Ids sort by their time of creation, so equal rows get equal numbers in both projects.
  const ids = [...new Set(text.match(RESOURCE_ID))].sort();
  const numberedRows = JSON.parse(
    text.replaceAll(RESOURCE_ID, (id) => `${id.slice(0, 3)} ${ids.indexOf(id)}`),
  );
  // Events of the same transaction have no defined order.
  const events = (numberedRows.events as unknown[]).map((event) => JSON.stringify(event)).sort();
  return { ...numberedRows, events } as Record<keyof typeof rows, unknown[]>;
}

/** Pairs of IDs of corresponding objects on both surfaces, by prefix. The newest come first. */
class PairedIds {
  readonly #pairsByPrefix = new Map<string, [string, string][]>();

  add(ids: [string, string]): void {
    const prefix = ids[0].slice(0, 3);
    this.#pairsByPrefix.set(prefix, [ids, ...(this.#pairsByPrefix.get(prefix) ?? [])]);
  }

  /** Returns the input for one surface, with IDs in place of its placeholders. */
  fill(input: Input, side: 0 | 1): Input {
    const text = JSON.stringify(input).replaceAll(PLACEHOLDER, (_all, kinds, index) => {
      const pairs = String(kinds)
        .split('|')
        .flatMap((kind) => this.#pairsByPrefix.get(kind) ?? []);
      return JSON.stringify(pairs[Number(index) % pairs.length]?.[side] ?? 'unknown');
    });
    return JSON.parse(text) as Input;
  }
}

/** Replaces all ids by the same text. */
function removeIds(outcome: object): unknown {
  return JSON.parse(JSON.stringify(outcome).replaceAll(RESOURCE_ID, 'id'));
}

test('returns equal outcomes and stores equal rows over REST and GraphQL for equal input', async () => {
  const [restTenant, graphqlTenant] = [await createRestTenant(app), await createRestTenant(app)];
  const ids = new PairedIds();
  for (const name of ['records', 'others']) {
    const [restDestination, graphqlDestination] = [restTenant, graphqlTenant].map((owner) =>
      insertDestination(app, owner.tenant, name),
    );
    ids.add([(await restDestination)?.id ?? '', (await graphqlDestination)?.id ?? '']);
  }
  const outcomes = new Map<number, number>();
  const succeededChanges = new Set<string>();
  const differences: unknown[] = [];
  let comparedCount = 0;
  for (const { pair, input } of calls) {
    const createInput = ({ tenant }: RestTenant, side: 0 | 1) => ({
      ...ids.fill(input, side),
      projectIdOrName: tenant.projectId,
    });
    const [restInput, graphqlInput] = [createInput(restTenant, 0), createInput(graphqlTenant, 1)];
    if (!isWellFormed(pair, restInput) || !isExpressible(pair, restInput)) continue;
    const rest = await sendRest(restTenant, pair, restInput);
    const graphql = await sendGraphql(graphqlTenant, pair, graphqlInput);
    const { id: restId, ...restOutcome } = rest;
    const { id: graphqlId, ...graphqlOutcome } = graphql;
    if (!isDeepStrictEqual(removeIds(restOutcome), removeIds(graphqlOutcome))) {
      differences.push({ change: pair.mutation.name, input: restInput, rest, graphql });
    }
    if (restId && graphqlId) ids.add([restId, graphqlId]);
    outcomes.set(rest.status, (outcomes.get(rest.status) ?? 0) + 1);
    if (rest.status === 200) succeededChanges.add(pair.mutation.name);
    comparedCount += 1;
  }
  expect(differences).toEqual([]);
  const [restRows, graphqlRows] = [await readRows(restTenant), await readRows(graphqlTenant)];
  expect(restRows).toEqual(graphqlRows);
  // Most calls were compared, most changes succeeded, and each kind of refusal appeared.
  expect(comparedCount).toBeGreaterThan(CALL_COUNT / 2);
  expect(succeededChanges.size).toBeGreaterThan(15);
  for (const status of [200, 400, 404, 409]) {
    expect(outcomes.get(status) ?? 0, String(status)).toBeGreaterThan(0);
  }
}, 120_000);
