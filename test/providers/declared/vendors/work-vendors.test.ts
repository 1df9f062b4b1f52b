/** Tests how the vendors of work tools behave at their edges: expired cursors, rate limits, wide filters, and long URLs. */
import { expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import type { PageRead } from '../../../../src/providers/moving-records.ts';
import { ProviderError } from '../../../../src/providers/provider-error.ts';
import {
  type ServedRequest,
  type ServedResponse,
  startProviderServer,
} from '../../../support/providers/provider-server.ts';
import { createPlainSession } from '../../../support/providers/provider-session.ts';
import { getDeclaration } from '../../../support/wire/declarations.ts';

const METADATA = { base: 'appBase', cloudId: 'cloud' };

function getProvider(name: string) {
  const { readPage, readRecords } = createDeclarativeProvider(getDeclaration(name)).capabilities;
  if (!readPage || !readRecords) throw new Error(`${name} does not read`);
  return { readPage, readRecords };
}

async function startServer(serve: (request: ServedRequest) => ServedResponse) {
  const server = await startProviderServer(serve);
  return { ...server, session: createPlainSession(server.url, {}, { metadata: METADATA }) };
}

type Read = Pick<PageRead, 'objectName'> & Partial<PageRead>;

async function catchReadFailure(name: string, read: Read, response: ServedResponse) {
  const { readPage } = getProvider(name);
  await using server = await startServer(() => response);
  const failure = await readPage(server.session, { fields: [], pageSize: 10, ...read }).catch(
    (error) => error,
  );
  expect(failure).toBeInstanceOf(ProviderError);
  return failure as ProviderError;
}

const SECOND_PAGE = JSON.stringify({ by: 'all', next: 'abc', first: null, empty: 0 });

interface ExpiredCursor {
  name: string;
  objectName: string;
  cursor: string;
  status: number;
  body: unknown;
}

const EXPIRED_CURSORS: ExpiredCursor[] = [
  {
    name: 'asana',
    objectName: 'workspaces',
    cursor: SECOND_PAGE,
    status: 400,
    body: { errors: [{ message: 'offset: Your pagination token has expired.' }] },
  },
  {
    name: 'atlassian',
    objectName: 'issues',
    cursor: SECOND_PAGE,
    status: 400,
    body: { errorMessages: ['The next page token is invalid or expired.'] },
  },
  {
    name: 'zoom',
    objectName: 'users',
    cursor: SECOND_PAGE,
    status: 400,
    body: { code: 300, message: 'The next page token is invalid or expired.' },
  },
  {
    name: 'airtable',
    objectName: 'tblTasks',
    cursor: SECOND_PAGE,
    status: 422,
    body: { error: 'LIST_RECORDS_ITERATOR_NOT_AVAILABLE' },
  },
  {
    name: 'notion',
    objectName: 'users',
    cursor: SECOND_PAGE,
    status: 400,
    body: { code: 'validation_error', message: 'The start_cursor provided is invalid: abc' },
  },
  {
    name: 'linear',
    objectName: 'issues',
    cursor: SECOND_PAGE,
    status: 200,
    body: { errors: [{ message: 'Could not find the cursor', extensions: {} }] },
  },
];

test.each(
  EXPIRED_CURSORS,
)('$name: restarts if the cursor has expired, and fails if the first page is refused', async ({
  name,
  objectName,
  cursor,
  status,
  body,
}) => {
  const laterFailure = await catchReadFailure(name, { objectName, cursor }, { status, body });
  expect(laterFailure.kind).toBe('CURSOR_GONE');
  const firstFailure = await catchReadFailure(name, { objectName }, { status, body });
  expect(firstFailure.kind).toBe('BAD_REQUEST');
});

test.each([
  { name: 'asana', objectName: 'workspaces', cursor: SECOND_PAGE },
  { name: 'zoom', objectName: 'users', cursor: SECOND_PAGE },
])('$name: fails if a later page is refused for another reason', async ({ name, ...read }) => {
  const response = { status: 400, body: { errors: [{ message: 'Unknown field' }] } };
  expect((await catchReadFailure(name, read, response)).kind).toBe('BAD_REQUEST');
});

const SECONDARY_LIMIT = {
  message: 'You have exceeded a secondary rate limit. Please wait a few minutes.',
};
const IN_AN_HOUR = String(Math.floor(Date.parse('2026-01-01T01:00:00Z') / 1_000));
const DATE = 'Thu, 01 Jan 2026 00:00:00 GMT';

interface Limit {
  name: string;
  objectName: string;
  response: ServedResponse;
  waitMs: number;
}

const LIMITS: Limit[] = [
  {
    name: 'github',
    objectName: 'issues',
    response: { status: 403, body: SECONDARY_LIMIT },
    waitMs: 60_000,
  },
  {
    name: 'github',
    objectName: 'issues',
    response: {
      status: 403,
      headers: { date: DATE, 'x-ratelimit-remaining': '4000', 'x-ratelimit-reset': IN_AN_HOUR },
      body: SECONDARY_LIMIT,
    },
    waitMs: 60_000,
  },
  {
    name: 'github',
    objectName: 'issues',
    response: {
      status: 403,
      headers: { date: DATE, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': IN_AN_HOUR },
      body: { message: 'API rate limit exceeded for user ID 1.' },
    },
    waitMs: 3_600_000,
  },
  {
    name: 'atlassian',
    objectName: 'issues',
    response: { status: 503, headers: { 'retry-after': '5' }, body: {} },
    waitMs: 5_000,
  },
  {
    name: 'linear',
    objectName: 'issues',
    response: {
      status: 400,
      body: { errors: [{ message: 'Rate limit', extensions: { code: 'RATELIMITED' } }] },
    },
    waitMs: 60_000,
  },
  {
    name: 'airtable',
    objectName: 'tblTasks',
    response: { status: 429, body: { errors: [{ error: 'RATE_LIMIT_REACHED' }] } },
    waitMs: 30_000,
  },
];

test.each(LIMITS)('$name: waits $waitMs ms after a limit with status $response.status', async ({
  name,
  objectName,
  response,
  waitMs,
}) => {
  const failure = await catchReadFailure(name, { objectName }, response);
  expect([failure.kind, failure.retryAfterMs]).toEqual(['RATE_LIMITED', waitMs]);
});

const TASK = {
  gid: '5',
  name: 'Plan',
  modified_at: '2026-01-01T00:00:00.000Z',
  custom_fields: [{ gid: '1200000000000007', display_value: 'High' }],
};

test('selects custom fields of Asana by the list that contains them', async () => {
  const { readRecords } = getProvider('asana');
  await using server = await startServer(() => ({ status: 200, body: { data: TASK } }));
  const fields = ['name', '1200000000000007', '1200000000000008'];
  const records = await readRecords(server.session, { objectName: 'tasks', fields, ids: ['5'] });
  expect(server.requests[0]?.query.get('opt_fields')).toBe('gid,modified_at,name,custom_fields');
  expect(records[0]?.fields).toEqual({
    name: 'Plan',
    '1200000000000007': 'High',
    '1200000000000008': null,
  });
});

test('returns Asana tasks whose associations changed, although their own time did not', async () => {
  const { readPage } = getProvider('asana');
  const lists: Record<string, unknown[]> = {
    '/1.0/workspaces': [{ gid: '1' }],
    '/1.0/workspaces/1/projects': [{ gid: '2' }],
    '/1.0/tasks': [TASK],
  };
  await using server = await startServer(({ path }) => ({
    status: 200,
    body: { data: lists[path], next_page: null },
  }));
  const since = new Date('2026-01-02T00:00:00Z');
  const read = { objectName: 'tasks', fields: ['name'], pageSize: 10, since };
  const page = await readPage(server.session, read);
  expect(page.records.map(({ id }) => id)).toEqual(['5']);
});

test('selects many fields of Asana by several requests', async () => {
  const { readRecords } = getProvider('asana');
  const fields = Array.from({ length: 400 }, (_, n) => `a_field_with_a_long_name_${n}`);
  await using server = await startServer(({ query }) => {
    const names = query.get('opt_fields')?.split(',') ?? [];
    const values = names.map((name) => [name, `value of ${name}`]);
    return { status: 200, body: { data: { ...Object.fromEntries(values), ...TASK } } };
  });
  const records = await readRecords(server.session, { objectName: 'tasks', fields, ids: ['5'] });
  expect(records[0]?.fields).toEqual(
    Object.fromEntries(fields.map((name) => [name, `value of ${name}`])),
  );
  expect(server.requests).toHaveLength(3);
});

test('ends a read of Jira issues at the window, which the filter exceeds by 14 hours', async () => {
  const { readPage } = getProvider('atlassian');
  const times = ['2026-01-02T10:30:00.000+0000', '2026-01-02T09:00:00.000+0000'];
  await using server = await startServer(() => ({
    status: 200,
    body: {
      issues: times.map((updated, n) => ({ id: String(n), fields: { updated } })),
      isLast: false,
      nextPageToken: 'abc',
    },
  }));
  const [since, until] = [new Date('2026-01-02T10:00:00Z'), new Date('2026-01-02T11:00:30Z')];
  const read = { objectName: 'issues', fields: [], pageSize: 2, since, until };
  const page = await readPage(server.session, read);
  expect(page.records.map(({ id }) => id)).toEqual(['0']);
  expect(page.nextCursor).toBeNull();
  expect(server.requests[0]?.body).toMatchObject({
    jql: 'updated >= "2026-01-01 20:00" AND updated <= "2026-01-03 01:01" ORDER BY updated DESC',
  });
});

test('filters Airtable records by whole minutes, because their precision is unknown', async () => {
  const { readPage } = getProvider('airtable');
  await using server = await startServer(() => ({ status: 200, body: { records: [] } }));
  const [since, until] = [new Date('2026-01-02T10:00:30Z'), new Date('2026-01-02T11:00:30Z')];
  await readPage(server.session, { objectName: 'tbl1', fields: [], pageSize: 2, since, until });
  const formula = server.requests[0]?.query.get('filterByFormula');
  expect(formula).toContain("'2026-01-02T09:59:00Z'");
  expect(formula).toContain("'2026-01-02T11:02:00Z'");
});

test('reads a GitLab group by id like in its list, without its first 100 projects', async () => {
  const { readRecords } = getProvider('gitlab');
  await using server = await startServer(() => ({ status: 200, body: { id: 7, name: 'Team' } }));
  await readRecords(server.session, { objectName: 'groups', fields: ['name'], ids: ['7'] });
  expect(server.requests[0]?.query.get('with_projects')).toBe('false');
});
