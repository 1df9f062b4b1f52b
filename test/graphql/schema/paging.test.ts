/** Tests the guarantees of every list with operations, the list that grows fastest. */

import { expect, test } from 'vitest';
import { newId } from '../../../src/kernel/ids.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';
import { listIssueNames } from '../../support/graphql-client.ts';

const app = await getSharedApp();
const insert = insertRows(app);

const LIST_OPERATIONS = `query ListOperations($id: String!, $status: OperationStatus,
                      $first: Int, $after: String, $last: Int, $before: String) {
  project(idOrName: $id) {
    operations(status: $status, first: $first, after: $after, last: $last, before: $before) {
      edges { cursor node { id } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      totalCount
    }
  }
}`;

interface OperationPage {
  edges: { cursor: string; node: { id: string } }[];
  ids: string[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
  totalCount: number;
}

async function readPage(
  tenant: Tenant,
  args: Record<string, unknown> = {},
): Promise<OperationPage> {
  const { project } = await tenant.query(LIST_OPERATIONS, { id: tenant.projectId, ...args });
  const { edges } = project.operations;
  return {
    ...project.operations,
    ids: edges.map((edge: OperationPage['edges'][0]) => edge.node.id),
  };
}

/** Creates a tenant with operations, and returns their ids newest first. Every third operation is a failure. */
async function createOperations(count: number): Promise<{ tenant: Tenant; ids: string[] }> {
  const tenant = await app.createTenant();
  const ids = Array.from({ length: count }, () => newId('opr'));
  await insert.operations(
    ids.map((id, index) => ({
      id,
      projectId: tenant.projectId,
      status: index % 3 === 0 ? ('FAILURE' as const) : ('SUCCESS' as const),
    })),
  );
  return { tenant, ids: ids.reverse() };
}

test(
  'returns 1,000 rows in pages of 7, in both directions, while others are inserted',
  { tags: ['all/rows'] },
  async () => {
    const { tenant, ids } = await createOperations(1000);
    const { projectId } = tenant;
    expect((await readPage(tenant, { first: 1000 })).ids).toEqual(ids);
    const originalIds = new Set(ids);
    const readNextPage = async (args: Record<string, unknown>) => {
      const [page] = await Promise.all([readPage(tenant, args), insert.operation({ projectId })]);
      return page;
    };

    const forwards: string[] = [];
    for (let after: string | null = null, hasMore = true; hasMore; ) {
      const page: OperationPage = await readNextPage({ first: 7, after });
      expect(page.ids.length === 7 || !page.pageInfo.hasNextPage).toBe(true);
      forwards.push(...page.ids);
      ({ endCursor: after, hasNextPage: hasMore } = page.pageInfo);
    }
    expect(forwards.filter((id) => originalIds.has(id))).toEqual(ids);

    const backwards: string[] = [];
    for (let before: string | null = null, hasMore = true; hasMore; ) {
      const page: OperationPage = await readNextPage({ last: 7, before });
      expect(page.ids.length === 7 || !page.pageInfo.hasPreviousPage).toBe(true);
      backwards.unshift(...page.ids);
      ({ startCursor: before, hasPreviousPage: hasMore } = page.pageInfo);
    }
    expect(backwards.filter((id) => originalIds.has(id))).toEqual(ids);
    expect(new Set(backwards).size).toBe(backwards.length);
  },
);

test('returns whether there are more rows on either side, in both directions, with either cursor', async () => {
  const { tenant, ids } = await createOperations(10);
  const { edges } = await readPage(tenant);
  const getCursor = (index: number) => edges[index]?.cursor;
  const findCursor = (id: string | undefined) => (id ? getCursor(ids.indexOf(id)) : null);
  /** Expects these rows, and that further rows exist only in these directions. */
  const expectPage = async (
    args: Record<string, unknown>,
    pageIds: string[],
    directions: ('previous' | 'next')[] = [],
  ) =>
    expect(await readPage(tenant, args)).toMatchObject({
      ids: pageIds,
      totalCount: 10,
      pageInfo: {
        startCursor: findCursor(pageIds[0]),
        endCursor: findCursor(pageIds.at(-1)),
        hasPreviousPage: directions.includes('previous'),
        hasNextPage: directions.includes('next'),
      },
    });
  await expectPage({}, ids);
  await expectPage({ first: 10 }, ids);
  await expectPage({ last: 10 }, ids);
  await expectPage({ first: 3 }, ids.slice(0, 3), ['next']);
  await expectPage({ last: 3 }, ids.slice(7), ['previous']);

  await expectPage({ first: 3, after: getCursor(2) }, ids.slice(3, 6), ['previous', 'next']);
  await expectPage({ first: 3, after: getCursor(6) }, ids.slice(7), ['previous']);
  await expectPage({ first: 1, after: getCursor(8) }, ids.slice(9), ['previous']);
  await expectPage({ last: 3, before: getCursor(7) }, ids.slice(4, 7), ['previous', 'next']);
  await expectPage({ last: 3, before: getCursor(3) }, ids.slice(0, 3), ['next']);
  await expectPage({ last: 1, before: getCursor(1) }, ids.slice(0, 1), ['next']);

  await expectPage({ first: 2, before: getCursor(7) }, ids.slice(0, 2), ['next']);
  await expectPage({ first: 9, before: getCursor(7) }, ids.slice(0, 7), ['next']);
  await expectPage({ last: 2, after: getCursor(2) }, ids.slice(8), ['previous']);
  await expectPage({ last: 9, after: getCursor(2) }, ids.slice(3), ['previous']);

  const cursors = { after: getCursor(1), before: getCursor(8) };
  await expectPage({ first: 2, ...cursors }, ids.slice(2, 4), ['previous', 'next']);
  await expectPage({ last: 2, ...cursors }, ids.slice(6, 8), ['previous', 'next']);
  await expectPage({ first: 9, ...cursors }, ids.slice(2, 8), ['previous', 'next']);
  await expectPage({ last: 9, ...cursors }, ids.slice(2, 8), ['previous', 'next']);

  await expectPage({ first: 3, after: getCursor(9) }, [], ['previous']);
  await expectPage({ last: 3, before: getCursor(0) }, [], ['next']);
  const adjacentCursors = { after: getCursor(4), before: getCursor(5) };
  await expectPage({ first: 3, ...adjacentCursors }, [], ['previous', 'next']);
});

test('accepts a cursor whose row is deleted', async () => {
  const { tenant, ids } = await createOperations(5);
  const { edges } = await readPage(tenant);
  await app.app.services.database.prisma.operation.deleteMany({ where: { id: ids[2] as string } });
  const pageAfterDeleted = await readPage(tenant, { first: 1, after: edges[2]?.cursor });
  expect(pageAfterDeleted).toMatchObject({
    ids: [ids[3]],
    pageInfo: { hasPreviousPage: true, hasNextPage: true },
    totalCount: 4,
  });
});

test('accepts a cursor with another filter of its list', async () => {
  const { tenant, ids } = await createOperations(12);
  const { edges } = await readPage(tenant);
  // The oldest operation and every third operation after it are failures.
  const failures = ids.filter((_id, index) => (11 - index) % 3 === 0);
  const failedPage = { status: 'FAILED', first: 2 };
  expect(await readPage(tenant, failedPage)).toMatchObject({
    ids: failures.slice(0, 2),
    totalCount: 4,
    pageInfo: { hasNextPage: true, hasPreviousPage: false },
  });
  const lastPage = await readPage(tenant, { ...failedPage, after: edges[5]?.cursor });
  expect(lastPage).toMatchObject({
    ids: failures.slice(2),
    pageInfo: { hasNextPage: false, hasPreviousPage: true },
  });
  const after = lastPage.pageInfo.startCursor;
  expect((await readPage(tenant, { first: 2, after })).ids).toEqual(ids.slice(9, 11));
});

test('returns one empty page of an empty list', async () => {
  const tenant = await app.createTenant();
  expect(await readPage(tenant)).toEqual({
    edges: [],
    ids: [],
    pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    totalCount: 0,
  });
});

test('returns 50 items by default, and more on request', async () => {
  const { tenant, ids } = await createOperations(201);
  expect((await readPage(tenant)).ids).toEqual(ids.slice(0, 50));
  expect((await readPage(tenant, { last: 1000 })).ids).toEqual(ids);
});

test('reports all invalid arguments', async () => {
  const { tenant } = await createOperations(2);
  const expectIssues = async (args: Record<string, unknown>) => {
    const { code, problem } = await tenant.expectRefusal(LIST_OPERATIONS, {
      id: tenant.projectId,
      ...args,
    });
    expect(code).toBe('BAD_USER_INPUT');
    return problem.issues?.map((issue) => [issue.in, issue.name]);
  };
  for (const size of [0, -1, 1001]) {
    expect(await expectIssues({ first: size })).toEqual([['body', 'first']]);
    expect(await expectIssues({ last: size })).toEqual([['body', 'last']]);
  }
  expect(await expectIssues({ first: 1, last: 1 })).toEqual([['body', 'last']]);
  expect(await expectIssues({ first: 0, last: 1001, after: 'x', before: 'y' })).toEqual([
    ['body', 'first'],
    ['body', 'last'],
    ['body', 'last'],
  ]);
  expect(await expectIssues({ first: 1, after: 'x', before: 'y' })).toEqual([
    ['body', 'after'],
    ['body', 'before'],
  ]);
});

test("refuses a damaged cursor, another list's and another project's", async () => {
  const [{ tenant }, { tenant: otherTenant }] = [
    await createOperations(3),
    await createOperations(3),
  ];
  const ownCursor = (await readPage(tenant)).edges[1]?.cursor as string;
  const foreignCursor = (await readPage(otherTenant)).edges[1]?.cursor as string;
  const query = `query ListTopics($id: String!) {
    project(idOrName: $id) { topics { edges { cursor } } }
  }`;
  await app.app.services.database.prisma.topic.create({
    data: { id: newId('top'), projectId: tenant.projectId, name: 'alerts' },
  });
  const { project } = await tenant.query(query, { id: tenant.projectId });
  const otherListCursor = project.topics.edges[0].cursor;

  const middle = Math.floor(ownCursor.length / 2);
  const flipped = ownCursor[middle] === 'A' ? 'B' : 'A';
  const damagedCursors = [
    '',
    'nonsense',
    '🦄',
    ownCursor.slice(0, -1),
    `${ownCursor}AAAA`,
    ownCursor.slice(0, middle) + flipped + ownCursor.slice(middle + 1),
    Buffer.from('0000000$opr_').toString('base64url'),
  ];
  for (const cursor of [...damagedCursors, otherListCursor, foreignCursor]) {
    for (const name of ['after', 'before']) {
      const { code, problem } = await tenant.expectRefusal(LIST_OPERATIONS, {
        id: tenant.projectId,
        [name]: cursor,
      });
      expect({ code, names: listIssueNames(problem) }).toEqual({
        code: 'BAD_USER_INPUT',
        names: [name],
      });
    }
  }
  expect((await readPage(tenant, { after: ownCursor })).ids).toHaveLength(1);
});
