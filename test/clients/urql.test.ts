/**
 * Tests that urql can page through a list.
 *
 * @module-tag all/walk
 */
import { Client, cacheExchange, fetchExchange, gql, type OperationResult } from '@urql/core';
import { expect, test } from 'vitest';
import { newId } from '../../src/kernel/ids.ts';
import { getSharedApp } from '../support/app.ts';
import { insertRows } from '../support/database/insert-rows.ts';

const app = await getSharedApp();

const LIST_OPERATIONS = gql`
  query ListOperations($project: String!, $after: String) {
    project(idOrName: $project) {
      id
      operations(first: 100, after: $after) {
        nodes { id }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`;

test('pages through all operations with urql', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const operations = Array.from({ length: 1_000 }, () => ({ projectId, id: newId('opr') }));
  await insertRows(app).operations(operations);
  const client = new Client({
    url: 'http://gateway.test/graphql',
    exchanges: [cacheExchange, fetchExchange],
    preferGetMethod: false,
    fetchOptions: { headers: { 'x-api-key': tenant.apiKey } },
    fetch: async (input, init) => app.fetch(new URL(String(input)).pathname, init),
  });
  const ids: string[] = [];
  for (let after: string | null = null; ; ) {
    const response: OperationResult = await client.query(LIST_OPERATIONS, {
      project: tenant.projectName,
      after,
    });
    expect(response.error).toBeUndefined();
    const { nodes, pageInfo } = response.data.project.operations;
    ids.push(...nodes.map(({ id }: { id: string }) => id));
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  expect(ids).toEqual(operations.map(({ id }) => id).toReversed());
});
