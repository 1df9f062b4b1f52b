/** Tests reads of objects that are listed below each parent, from vendors whose cursors expire. */
import { expect, test } from 'vitest';
import type { ObjectDeclarationInput } from '../../../../src/providers/declarative/declaration/declaration.ts';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import { ProviderError } from '../../../../src/providers/provider-error.ts';
import { MINUTE_MS, SECOND_MS } from '../../../../src/work/durations.ts';
import {
  type ServedRequest,
  type ServedResponse,
  startProviderServer,
} from '../../../support/providers/provider-server.ts';
import { createPlainSession, UNDOCUMENTED } from '../../../support/providers/provider-session.ts';

const TOKEN_LIFETIME_MS = 5 * MINUTE_MS;
const PARENTS_PER_PAGE = 10;

function declareObject(path: string, parent?: ObjectDeclarationInput['parent']) {
  return {
    displayName: path,
    ...(parent && { parent }),
    list: {
      path,
      records: '/data',
      paging: {
        kind: 'cursor',
        parameter: { in: 'query', name: 'token' },
        next: '/next',
      },
    },
  } satisfies ObjectDeclarationInput;
}

const provider = createDeclarativeProvider({
  name: 'tracker',
  displayName: 'Tracker',
  baseUrl: 'https://tracker.example',
  authSchemes: ['NONE'],
  api: {
    docsUrl: 'https://tracker.example/docs',
    checkedAgainst: 'nothing, because only tests use it',
    errors: { messages: ['/error'] },
    behavior: { ...UNDOCUMENTED, expiredCursor: [{ status: 400, contains: 'token has expired' }] },
    objects: {
      projects: declareObject('/projects'),
      tasks: declareObject('/projects/{project}/tasks', {
        object: 'projects',
        variable: 'project',
      }),
    },
  },
});

/** A vendor whose clock advances with each request of tasks, and whose page tokens expire. */
function createVendor({ projectCount, taskPages, requestMs }: Record<string, number>) {
  const state = { now: 0, projects: range(projectCount), requests: [] as string[] };
  const respond = ({ path, query }: ServedRequest): ServedResponse => {
    state.requests.push(path);
    if (path !== '/projects') state.now += requestMs ?? 0;
    const [time, from = '0'] = query.get('token')?.split('_') ?? [state.now];
    if (state.now - Number(time) > TOKEN_LIFETIME_MS) {
      return { status: 400, body: { error: 'Your pagination token has expired.' } };
    }
    const start = Number(from);
    const ids =
      path === '/projects'
        ? state.projects.slice(start, start + PARENTS_PER_PAGE)
        : [`${path.split('/')[2]}-${start}`];
    const end = path === '/projects' ? start + PARENTS_PER_PAGE : start + 1;
    const count = path === '/projects' ? state.projects.length : (taskPages ?? 0);
    const next = end < count ? `${state.now}_${end}` : null;
    return { status: 200, body: { data: ids.map((id) => ({ id })), next } };
  };
  return { state, respond };
}

function range(count = 0): string[] {
  return Array.from({ length: count }, (_, n) => `p${n}`);
}

async function readTasks(url: string, afterPage: (page: number) => void = () => undefined) {
  const session = createPlainSession(url);
  const ids: string[] = [];
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const read = { objectName: 'tasks', fields: ['id'], pageSize: 50, ...(cursor && { cursor }) };
    const { records, nextCursor } = (await provider.capabilities.readPage?.(session, read)) ?? {};
    ids.push(...(records ?? []).map(({ id }) => id));
    if (!nextCursor) return ids;
    cursor = nextCursor;
    afterPage(page);
  }
}

test('continues after the parents that are done if the cursor of their list has expired', async () => {
  const { state, respond } = createVendor({ projectCount: 35, taskPages: 1, requestMs: MINUTE_MS });
  await using server = await startProviderServer(respond);
  expect((await readTasks(server.url)).sort()).toEqual(
    range(35)
      .map((id) => `${id}-0`)
      .sort(),
  );
  expect(state.requests.filter((path) => path !== '/projects')).toHaveLength(35);
});

test('reads parents that are created while the read is under way', async () => {
  const { state, respond } = createVendor({ projectCount: 35, taskPages: 1, requestMs: MINUTE_MS });
  await using server = await startProviderServer(respond);
  const ids = await readTasks(server.url, (page) => {
    if (page === 12) state.projects.unshift('new');
  });
  expect(ids).toContain('new-0');
  expect(new Set(ids).size).toBe(36);
});

test('repeats only the list of one parent if its own cursor has expired', async () => {
  const { state, respond } = createVendor({ projectCount: 3, taskPages: 2, requestMs: SECOND_MS });
  await using server = await startProviderServer(respond);
  const ids = await readTasks(server.url, (page) => {
    // The second page of tasks of p1 is requested with an expired token.
    if (page === 3) state.now += 2 * TOKEN_LIFETIME_MS;
  });
  const repeated = ['p1-0', 'p1-0', 'p1-1'];
  expect(ids.sort()).toEqual(['p0-0', 'p0-1', ...repeated, 'p2-0', 'p2-1']);
});

test('stores no ids of parents whose list has only one page', async () => {
  const { respond } = createVendor({ projectCount: 3, taskPages: 1, requestMs: SECOND_MS });
  await using server = await startProviderServer(respond);
  const read = { objectName: 'tasks', fields: ['id'], pageSize: 50 };
  const page = await provider.capabilities.readPage?.(createPlainSession(server.url), read);
  expect(JSON.parse(page?.nextCursor ?? '')).toEqual({
    ids: ['p1', 'p2'],
    more: null,
    inner: null,
  });
});

test('reports an expired cursor if the list of parents has no first page either', async () => {
  await using server = await startProviderServer(() => ({
    status: 400,
    body: { error: 'Your pagination token has expired.' },
  }));
  const cursor = JSON.stringify({
    ids: [],
    more: '{"by":"all","next":"0_10","first":null,"empty":0}',
    inner: null,
  });
  const read = { objectName: 'tasks', fields: ['id'], pageSize: 50, cursor };
  const reading = provider.capabilities.readPage?.(createPlainSession(server.url), read);
  await expect(reading).rejects.toBeInstanceOf(ProviderError);
});

test('fails temporarily if the cursors of each parent expire before it is read', async () => {
  const { respond } = createVendor({ projectCount: 2, taskPages: 2, requestMs: 10 * MINUTE_MS });
  await using server = await startProviderServer(respond);
  await expect(readTasks(server.url)).rejects.toMatchObject({ kind: 'RETRYABLE' });
});
