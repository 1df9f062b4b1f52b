/** Lists of parents with one parent per page, of which only the last one has children. */
import type { ServedRequest, ServedResponse } from '../../providers/provider-server.ts';

interface ParentList {
  path: string;
  cursorParameter: string;
  /** The IDs of parents without children, and the parent of the wire's records. */
  ids: string[];
  toBody: (id: string, next: string | null) => unknown;
  /** Returns the ID of the parent whose children are requested. */
  findParent: (request: ServedRequest) => string | null | undefined;
  emptyList: unknown;
}

export const PARENT_LISTS: Record<string, ParentList> = {
  asana: {
    path: '/1.0/workspaces/11/projects',
    cursorParameter: 'offset',
    ids: ['18', '19', '20', '21'],
    toBody: (gid, next) => ({ data: [{ gid }], next_page: next && { offset: next } }),
    findParent: ({ path, query }) => (path === '/1.0/tasks' ? query.get('project') : null),
    emptyList: { data: [], next_page: null },
  },
  zoom: {
    path: '/v2/users',
    cursorParameter: 'next_page_token',
    ids: ['u_4', 'u_3', 'u_2', 'u_1'],
    toBody: (id, next) => ({ users: [{ id }], next_page_token: next ?? '' }),
    findParent: ({ path }) => /^\/v2\/users\/(\w+)\/meetings$/.exec(path)?.[1],
    emptyList: { meetings: [], next_page_token: '' },
  },
};

/** The first cursor. The lists of children have smaller ones. */
const FIRST_CURSOR = 1_000;

/** Serves the list of parents, and the lists below parents without children. `afterChildren` runs after each of them. */
export function serveParents(
  { path, cursorParameter, ids, toBody, findParent, emptyList }: ParentList,
  request: ServedRequest,
  afterChildren: () => void,
): ServedResponse | null {
  if (request.path === path) {
    const cursor = request.query.get(cursorParameter);
    const index = cursor === null ? 0 : Number(cursor.replace('c_', '')) - FIRST_CURSOR;
    const next = index < ids.length - 1 ? `c_${FIRST_CURSOR + index + 1}` : null;
    return { status: 200, body: toBody(ids[index] ?? '', next) };
  }
  const parent = findParent(request);
  if (!parent || parent === ids.at(-1)) return null;
  afterChildren();
  return { status: 200, body: emptyList };
}
