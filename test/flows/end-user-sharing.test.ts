/**
 * Compiled queries, cached callers, shared statements and results of streams are shared between requests. No
 * caller may get the result of another: end users of one group, of one project and of two, and an API key
 * send the same requests at the same time, for every field that a walk of the schema finds.
 */
import { type GraphQLObjectType, isNonNullType } from 'graphql';
import { expect, test } from 'vitest';
import { inTransaction } from '../../src/database/transaction.ts';
import { updateOperation } from '../../src/domain/operation/operation-work.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { getSharedApp, HIGH_RATE_LIMITS } from '../support/app.ts';
import { openEventStream } from '../support/event-stream.ts';
import { createEndUser } from '../support/fixtures/end-users.ts';
import { createIntegrationContent, integrate } from '../support/fixtures/integrations.ts';
import type { GraphqlClient } from '../support/graphql-client.ts';
import { createEndUserCallers, fillDemoTenant } from '../support/tenancy/end-user-callers.ts';
import { foreignArgument } from '../support/tenancy/foreign-values.ts';
import { buildQueries, findReachableFields } from '../support/tenancy/reachable-fields.ts';
import { selectFields } from '../support/tenancy/selections.ts';

const app = await getSharedApp({
  env: {
    DEMO: 'true',
    ...HIGH_RATE_LIMITS,
    LIMIT_COST: '1000000',
  },
});
/** The number of concurrent requests of each caller. The query was compiled before. */
const AT_ONCE = 2;

type Variables = Record<string, unknown>;

interface Caller {
  name: string;
  client: Pick<GraphqlClient, 'request'> & { headers: Record<string, string> };
}

async function createSharingCallers() {
  const { callers } = await createEndUserCallers(app);
  const demo = await fillDemoTenant(app);
  const { user: bob, ownValues } = callers[0] as (typeof callers)[number];
  const { user: outsider } = callers[2] as (typeof callers)[number];
  const ada = await createEndUser(app, demo, { groupRef: 'acme', consumerRef: 'ada' });
  const carol = await createEndUser(app, demo, { groupRef: 'rival', consumerRef: 'carol' });
  await integrate(app, demo, createIntegrationContent('another'));
  const bobsConnection = { groupRef: 'rival', consumerRef: 'bob', integrations: ['crm-sync'] };
  const narrow = await createEndUser(app, demo, bobsConnection);
  const concurrentCallers: Caller[] = [
    { name: 'bob', client: bob },
    { name: 'bob, with one integration', client: narrow },
    { name: 'carol, of the same group', client: carol },
    { name: 'ada, of another group', client: ada },
    { name: 'an end user of another project', client: outsider },
    { name: 'an API key', client: demo },
  ];
  // The first contract of an installation asks its account, which changes the status of the connection.
  const contracts =
    '{ viewer { project { installations(first: 10) { nodes { contract { hash } } } } } }';
  for (const { client } of concurrentCallers) await client.request(contracts);
  return { concurrentCallers, ownValues, bob };
}
const { concurrentCallers, ownValues, bob } = await createSharingCallers();
const { prisma } = app.app.services.database;

async function fetchText({ client }: Caller, query: string, variables: Variables): Promise<string> {
  const { data, errors = [] } = await client.request(query, variables);
  return JSON.stringify([
    data,
    errors.map(({ message, extensions }) => [message, extensions.code]),
  ]);
}

/** Sends one query for each caller, first one after the other and then concurrently. Returns the results of each. */
async function queryConcurrently(query: string, variables: Variables): Promise<string[]> {
  const sequential: string[] = [];
  for (const caller of concurrentCallers)
    sequential.push(await fetchText(caller, query, variables));
  const concurrent = await Promise.all(
    Array.from({ length: AT_ONCE }, () =>
      concurrentCallers.map((caller) => fetchText(caller, query, variables)),
    ).flat(),
  );
  for (const [index, response] of concurrent.entries()) {
    const callerIndex = index % concurrentCallers.length;
    expect([query, concurrentCallers[callerIndex]?.name, response]).toEqual([
      query,
      concurrentCallers[callerIndex]?.name,
      sequential[callerIndex],
    ]);
  }
  return sequential;
}

test(
  "returns a caller's own result of every field while others request the field",
  { tags: ['all/walk'], timeout: 180_000 },
  async () => {
    const fields = await findReachableFields(bob, ownValues);
    let differing = 0;
    const queries = fields.flatMap((reached) =>
      buildQueries(reached).map((query) => ({ ...reached, ...query })),
    );
    for (const { field, query, args } of queries) {
      const requiredArgs = args.filter(({ type }) => isNonNullType(type) || field.extensions.keys);
      const values = requiredArgs.map((arg) => [arg.name, foreignArgument(field, arg, ownValues)]);
      const responses = await queryConcurrently(query, Object.fromEntries(values));
      if (new Set(responses).size > 2) differing += 1;
    }
    // Most fields must have different results for different callers, or the test would compare nothing.
    expect(differing).toBeGreaterThan(fields.length / 4);
  },
);

/** The fields of an operation that each of its callers may see. */
const WHOLE = `${selectFields(schema.getType('Operation') as GraphQLObjectType, 0)}
  installation { id group { groupRef } connection { id status consumer { consumerRef } } }
  project { connections(first: 1) { totalCount } integrations(first: 1) { totalCount } }`;

const NODE = `query ($id: ID!) { node(id: $id) { ... on Operation { ${WHOLE} } } }`;

test('delivers to each subscriber of an operation the part that is visible to its caller', async () => {
  const id = ownValues.findId('opr') as string;
  await prisma.operation.updateMany({ where: { id }, data: { status: 'IN_PROGRESS' } });
  const followers = Array.from({ length: AT_ONCE }, () => concurrentCallers).flat();
  const query = `subscription ($id: ID!) { operation(id: $id) { ${WHOLE} } }`;
  const streams = await Promise.all(
    followers.map(({ client: { headers } }) =>
      openEventStream(app.fetch, { query, variables: { id }, headers }),
    ),
  );
  const next = () =>
    Promise.all(
      streams.map(async (stream) => (await stream.next())?.data?.data?.operation ?? null),
    );
  const fetchVisible = async () =>
    Promise.all(
      followers.map(async ({ client }) => (await client.request(NODE, { id })).data?.node ?? null),
    );
  expect(await next()).toEqual(await fetchVisible());
  const { projectId } = await prisma.operation.findFirstOrThrow({ where: { id } });
  const end = { result: 'Done.', metadata: { objects: ['contacts'] }, now: new Date() };
  await inTransaction(app.app.services.database, (tx) =>
    updateOperation(tx, { id, projectId }, { ...end, status: 'SUCCESS' }),
  );
  const received = await next();
  for (const stream of streams) stream.close();
  expect(received).toEqual(await fetchVisible());
  // There are four results: nothing, that of bob and carol, that of one integration, and everything.
  expect(new Set(received.map((response) => JSON.stringify(response))).size).toBe(4);
});
