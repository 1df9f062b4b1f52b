/** Tests monday.com's short pages, columns without text, expired cursors, and limits in responses with status 200. */
import { expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import { ProviderError } from '../../../../src/providers/provider-error.ts';
import {
  type ServedResponse,
  startProviderServer,
} from '../../../support/providers/provider-server.ts';
import { createPlainSession } from '../../../support/providers/provider-session.ts';
import { getDeclaration } from '../../../support/wire/declarations.ts';
import { isObject } from '../../../support/wire/wire-format.ts';

function getProvider() {
  const { readPage, readRecords } = createDeclarativeProvider(
    getDeclaration('monday'),
  ).capabilities;
  if (!readPage || !readRecords) throw new Error('monday does not read');
  return { readPage, readRecords };
}

interface Operation {
  query: string;
  variables: Record<string, unknown>;
}

async function startServer(serve: (operation: Operation) => ServedResponse) {
  const operations: Operation[] = [];
  const server = await startProviderServer(({ body }) => {
    const { query, variables } = isObject(body) ? body : {};
    const operation = { query: String(query), variables: isObject(variables) ? variables : {} };
    operations.push(operation);
    return serve(operation);
  });
  return { ...server, operations };
}

async function catchReadFailure(response: ServedResponse) {
  const { readPage } = getProvider();
  await using server = await startServer(() => response);
  const read = { objectName: 'items', fields: ['name'], pageSize: 10 };
  const failure = await readPage(createPlainSession(server.url), read).catch((error) => error);
  expect(failure).toBeInstanceOf(ProviderError);
  return failure as ProviderError;
}

test('reads boards after a page that permissions shortened', async () => {
  const { readPage } = getProvider();
  const boards = Array.from({ length: 5 }, (_, n) => ({ id: `b${n}`, updated_at: null }));
  await using server = await startServer(({ variables }) => {
    const from = (Number(variables.page) - 1) * 2;
    const page = boards.slice(from, from + 2).filter(({ id }) => id !== 'b0');
    return { status: 200, body: { data: { boards: page } } };
  });
  const session = createPlainSession(server.url);
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const read = { objectName: 'boards', fields: ['id'], pageSize: 2, cursor };
    const page = await readPage(session, read);
    ids.push(...page.records.map(({ id }) => id));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(ids).toEqual(['b1', 'b2', 'b3', 'b4']);
});

const MIRROR_COLUMN = { id: 'mirror', type: 'mirror', text: null };

function createItem(id: number, columnValues: unknown[]) {
  return { id: String(id), name: `Item ${id}`, board: { id: '1' }, column_values: columnValues };
}

/** Serves a board whose items have a mirror column. The display value is in responses that select it. */
function serveBoard({ query, variables }: Operation): ServedResponse {
  const ids = [1, 2, 3];
  if (!query.includes('items(')) {
    const isItems = query.includes('items_page');
    const items = ids.map((id) =>
      createItem(id, [{ id: 'a', type: 'text', text: '' }, MIRROR_COLUMN]),
    );
    const board = isItems ? { items_page: { cursor: null, items } } : { id: '1' };
    return { status: 200, body: { data: { boards: variables.page === 2 ? [] : [board] } } };
  }
  const requestedIds = Array.isArray(variables.ids) ? variables.ids : [];
  const items = ids
    .filter((id) => requestedIds.includes(String(id)))
    .map((id) => createItem(id, [{ ...MIRROR_COLUMN, display_value: `Linked ${id}` }]));
  return { status: 200, body: { data: { items } } };
}

test('reads the display values of mirror columns by one request for a page', async () => {
  const { readPage } = getProvider();
  await using server = await startServer(serveBoard);
  const read = { objectName: 'items', fields: ['name', 'mirror'], pageSize: 10 };
  const page = await readPage(createPlainSession(server.url), read);
  expect(page.records.map(({ id, fields }) => [id, fields])).toEqual(
    [1, 2, 3].map((id) => [`1:${id}`, { name: `Item ${id}`, mirror: `Linked ${id}` }]),
  );
  expect(server.operations).toHaveLength(3);
  expect(server.operations[2]?.variables).toEqual({
    ids: ['1', '2', '3'],
    columns: ['name', 'mirror'],
  });
});

test('requests no display values if no such column is selected', async () => {
  const { readPage } = getProvider();
  await using server = await startServer(serveBoard);
  const read = { objectName: 'items', fields: ['name', 'a'], pageSize: 10 };
  const page = await readPage(createPlainSession(server.url), read);
  expect(page.records[0]?.fields).toEqual({ name: 'Item 1', a: '' });
  expect(server.operations.map(({ query }) => query).join()).not.toContain('display_value');
});

test.each([
  {
    errors: [
      {
        message: 'Complexity budget exhausted',
        extensions: { code: 'COMPLEXITY_BUDGET_EXHAUSTED', retry_in_seconds: 7 },
      },
    ],
    waitMs: 7_000,
  },
  {
    error_code: 'ComplexityException',
    status_code: 429,
    error_message: 'Complexity budget exhausted, query cost 30001 budget remaining 19986',
    errors: ['Complexity budget exhausted, query cost 30001 budget remaining 19986'],
    waitMs: 60_000,
  },
  {
    error_code: 'complexityBudgetExhausted',
    errors: ['Complexity budget exhausted, query cost 222250 budget remaining 214980'],
    waitMs: 60_000,
  },
  { errors: [{ message: 'Rate Limit Exceeded' }], waitMs: 60_000 },
  { errors: [{ extensions: { code: 'maxConcurrencyExceeded' } }], waitMs: 30_000 },
  {
    errors: [{ extensions: { code: 'IP_RATE_LIMIT_EXCEEDED', retry_in_seconds: 10 } }],
    waitMs: 10_000,
  },
  { errors: [{ extensions: { code: 'DAILY_LIMIT_EXCEEDED' } }], waitMs: 3_600_000 },
])('waits for a limit in a response with status 200: $errors', async ({ waitMs, ...body }) => {
  const failure = await catchReadFailure({ status: 200, body });
  expect([failure.kind, failure.retryAfterMs]).toEqual(['RATE_LIMITED', waitMs]);
});

test.each([
  'CursorExpiredError',
  'CursorException',
])('reads the items of the board again after %s', async (code) => {
  const { readPage } = getProvider();
  const body = { errors: [{ message: 'The cursor is too old', extensions: { code } }] };
  await using server = await startServer((operation) =>
    operation.variables.cursor === undefined ? serveBoard(operation) : { status: 200, body },
  );
  const inner = JSON.stringify({ by: 'all', next: 'MSw100', first: null, empty: 0 });
  const cursor = JSON.stringify({ ids: ['1'], more: null, inner });
  const read = { objectName: 'items', fields: ['name'], pageSize: 10, cursor };
  const page = await readPage(createPlainSession(server.url), read);
  expect(page.records).toHaveLength(3);
});
