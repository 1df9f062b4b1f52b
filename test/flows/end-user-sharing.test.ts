/**
 * Requests share compiled queries, cached callers, statements and results of streams. End users of the same and of
 * different groups and projects, and an API key, send the same requests at the same time for every reachable field.
 * No caller gets the result of another.
 */
import { type GraphQLObjectType, isNonNullType } from 'graphql';
import { expect, test } from 'vitest';
import { inTransaction } from '../../src/database/transactions/transaction.ts';
import { SCOPE_BY_PERMISSION } from '../../src/domain/access/viewer/end-user.ts';
import { updateOperation } from '../../src/domain/data/operation/operation-work.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { getSharedApp, HIGH_RATE_LIMITS, onPostgres } from '../support/app.ts';
import { openEventStream } from '../support/event-stream.ts';
import { createEndUser } from '../support/fixtures/end-users.ts';
import { createIntegration, createIntegrationContent } from '../support/fixtures/integrations.ts';
import type { GraphqlClient } from '../support/graphql-client.ts';
import { createEndUserCallers, fillDemoTenant } from '../support/tenancy/end-user-callers.ts';
import { createForeignArgument } from '../support/tenancy/foreign-values.ts';
import { buildQueries, findReachableFields } from '../support/tenancy/reachable-fields.ts';
import { selectFields } from '../support/tenancy/selections.ts';

const app = await getSharedApp({
  env: {
    DEMO: 'true',
    ...HIGH_RATE_LIMITS,
    LIMIT_COST: '1000000',
  },
});
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
  await createIntegration(app, demo, createIntegrationContent('another'));
  // The token differs from bob's only in its integrations.
  const bobOfOneIntegration = await createEndUser(app, demo, {
    groupRef: 'rival',
    consumerRef: 'bob',
    permissions: Object.keys(SCOPE_BY_PERMISSION),
    integrations: ['crm-sync'],
  });
  const concurrentCallers: Caller[] = [
    { name: 'bob', client: bob },
    { name: 'bob, with one integration', client: bobOfOneIntegration },
    { name: 'carol, of the same group', client: carol },
    { name: 'ada, of another group', client: ada },
    { name: 'an end user of another project', client: outsider },
    { name: 'an API key', client: demo },
  ];
  // The first query of a contract requests metadata of the account, which changes the connection's status.
  const contracts =
    'query Contracts { viewer { project { installations(first: 10) { nodes { contract { hash } } } } } }';
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

/** Sends the query for each caller, sequentially and then concurrently. Returns the result of each caller. */
async function queryConcurrently(query: string, variables: Variables): Promise<string[]> {
  const sequential: string[] = [];
  for (const caller of concurrentCallers)
    sequential.push(await fetchText(caller, query, variables));
  const concurrent = await Promise.all(
    concurrentCallers.map((caller) => fetchText(caller, query, variables)),
  );
  for (const [index, { name }] of concurrentCallers.entries()) {
    expect([query, name, concurrent[index]]).toEqual([query, name, sequential[index]]);
  }
  return sequential;
}

// Requests share results and compiled queries in the process, above the database. On PostgreSQL, the test of streams
// compares the results of the same callers.
test.skipIf(onPostgres)(
  "returns a caller's own result of every field while others request the field",
  { tags: ['all/walk'], timeout: 180_000 },
  async () => {
    const fields = await findReachableFields(bob, ownValues);
    let differingCount = 0;
    const clients = concurrentCallers.map(({ client }) => client);
    const queries = await buildQueries(fields, clients);
    for (const { field, query, args } of queries) {
      const requiredArgs = args.filter(
        ({ type }) => isNonNullType(type) || field.extensions.argumentSets,
      );
      const values = requiredArgs.map((arg) => [
        arg.name,
        createForeignArgument(field, arg, ownValues),
      ]);
      const responses = await queryConcurrently(query, Object.fromEntries(values));
      if (new Set(responses).size > 2) differingCount += 1;
    }
    // Many queries must have different results for different callers, or the test would compare nothing.
    expect(differingCount).toBeGreaterThan(queries.length / 4);
  },
);

/** The fields of an operation that each of its callers may see. */
const OPERATION_FIELDS = `${selectFields(schema.getType('Operation') as GraphQLObjectType, 0)}
  installation { id group { groupRef } connection { id status consumer { consumerRef } } }
  project { connections(first: 1) { totalCount } integrations(first: 1) { totalCount } }`;

const GET_OPERATION = `query Operation($id: ID!) { node(id: $id) { ... on Operation { ${OPERATION_FIELDS} } } }`;

test('delivers to each subscriber the fields of an operation that its caller may see', async () => {
  const id = ownValues.findId('opr') as string;
  await prisma.operation.updateMany({ where: { id }, data: { status: 'IN_PROGRESS' } });
  // Two streams of a caller share their results.
  const followers = [...concurrentCallers, ...concurrentCallers];
  const query = `subscription Operation($id: ID!) { operation(id: $id) { ${OPERATION_FIELDS} } }`;
  const streams = await Promise.all(
    followers.map(({ client: { headers } }) =>
      openEventStream(app.fetch, { query, variables: { id }, headers }),
    ),
  );
  const readNextOperations = () =>
    Promise.all(
      streams.map(async (stream) => (await stream.next())?.data?.data?.operation ?? null),
    );
  const fetchOperations = async () =>
    Promise.all(
      followers.map(
        async ({ client }) => (await client.request(GET_OPERATION, { id })).data?.node ?? null,
      ),
    );
  expect(await readNextOperations()).toEqual(await fetchOperations());
  const { projectId } = await prisma.operation.findFirstOrThrow({ where: { id } });
  const finished = { result: 'Done.', metadata: { objects: ['contacts'] }, now: new Date() };
  await inTransaction(app.app.services.database, (tx) =>
    updateOperation(tx, { id, projectId }, { ...finished, status: 'SUCCESS' }),
  );
  const receivedOperations = await readNextOperations();
  for (const stream of streams) stream.close();
  expect(receivedOperations).toEqual(await fetchOperations());
  // Four results differ: null, that of bob and carol, that of one integration, and the whole operation.
  expect(new Set(receivedOperations.map((response) => JSON.stringify(response))).size).toBe(4);
});
