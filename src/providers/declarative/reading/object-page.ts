/** Reads one page of an object: of its own list, or of the lists under each parent record. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { ProviderSession } from '../../contract.ts';
import type { PageRead, RecordPage } from '../../moving-records.ts';
import { ProviderError } from '../../provider-error.ts';
import { getObject, type Vendor } from '../vendor.ts';
import { type ListRead, readList } from './list-page.ts';
import { createCursorError, parseJson } from './paging.ts';

export async function readPage(
  vendor: Vendor,
  session: ProviderSession,
  read: PageRead,
): Promise<RecordPage> {
  const object = getObject(vendor, read.objectName);
  const variables = { object: read.objectName };
  if (!object.parent) return readList(vendor, session, { object, read, variables });
  const position = await getCurrentParent(vendor, session, {
    parentName: object.parent.object,
    read,
  });
  const [parentId] = position.ids;
  if (parentId === undefined) return createPage(position, []);
  const { page, isRestarted } = await readChildPage(vendor, session, {
    object,
    read: { ...read, cursor: position.inner ?? undefined },
    variables: { ...variables, [object.parent.variable]: parentId },
  });
  const nextPosition =
    page.nextCursor === null
      ? withoutParent(position, parentId)
      : { ...position, inner: page.nextCursor };
  return createPage(isRestarted ? countRestart(nextPosition) : nextPosition, page.records);
}

const storedPosition = z.strictObject({
  /** Ids of parents that are not fully read. The first one is being read. */
  ids: z.array(z.string()),
  /** The cursor of the list of parents. */
  more: z.string().nullable(),
  /** The cursor of the list below the first parent. */
  inner: z.string().nullable(),
  /**
   * Hashes of the parents that are fully read. If the cursor of the list of parents expires, the list is read from its
   * start, without these. Absent if the list has only one page.
   */
  done: z.array(z.string()).optional(),
  /** The number of restarts since a parent was last fully read. */
  restarts: z.int().optional(),
});
type ParentPosition = z.infer<typeof storedPosition>;

/** The position is stored with each page. The children of parents beyond this number may be read again. */
const DONE_MAX = 10_000;
const HASH_LENGTH = 11;
/** A read fails after this number of restarts in which no parent was fully read. */
const RESTARTS_MAX = 10;

function hashParent(id: string): string {
  return hash('sha256', id, 'base64url').slice(0, HASH_LENGTH);
}

/** Returns the position after the children of the first parent. */
function withoutParent(position: ParentPosition, parentId: string): ParentPosition {
  const { ids, more, done = [] } = position;
  const isOnlyPage = more === null && done.length === 0;
  return {
    ids: ids.slice(1),
    more,
    inner: null,
    ...(!isOnlyPage && { done: [...done, hashParent(parentId)].slice(-DONE_MAX) }),
  };
}

/** Counts a restart at the first page below a parent, or of the list of parents. Throws RETRYABLE after too many. */
function countRestart(position: ParentPosition): ParentPosition {
  const restarts = (position.restarts ?? 0) + 1;
  if (restarts <= RESTARTS_MAX) return { ...position, restarts };
  throw new ProviderError(
    'RETRYABLE',
    'The cursors of the list expire before its parents are read',
  );
}

function createPage(position: ParentPosition, records: RecordPage['records']): RecordPage {
  const isLastPage = position.ids.length === 0 && position.more === null;
  return {
    records,
    nextCursor: isLastPage ? null : JSON.stringify(position),
    estimatedTotal: null,
  };
}

interface ParentRead {
  parentName: string;
  read: PageRead;
}

/** Returns the stored position, or the start of the next page of parents if all parents of the position are read. */
async function getCurrentParent(
  vendor: Vendor,
  session: ProviderSession,
  { parentName, read: { cursor, pageSize } }: ParentRead,
): Promise<ParentPosition> {
  const position = cursor === undefined ? null : readParentPosition(cursor);
  if (position && position.ids.length > 0) return position;
  const read = { objectName: parentName, fields: [], pageSize };
  const { page, isRestarted } = await readParents(vendor, session, {
    ...read,
    cursor: position?.more ?? undefined,
  });
  const done = new Set(position?.done);
  const ids = page.records.map(({ id }) => id).filter((id) => !done.has(hashParent(id)));
  const nextPosition = {
    ids,
    more: page.nextCursor,
    inner: null,
    ...(position?.done && { done: position.done }),
    ...(position?.restarts !== undefined && { restarts: position.restarts }),
  };
  return isRestarted ? countRestart(nextPosition) : nextPosition;
}

interface PageOrFirst {
  page: RecordPage;
  /** True if the cursor has expired, so that this is the first page. */
  isRestarted: boolean;
}

/** Reads a page of parents. If its cursor has expired, reads the first page. */
async function readParents(
  vendor: Vendor,
  session: ProviderSession,
  { cursor, ...read }: PageRead,
): Promise<PageOrFirst> {
  const readFirst = (isRestarted: boolean) =>
    readPage(vendor, session, read).then((page) => ({ page, isRestarted }));
  if (cursor === undefined) return readFirst(false);
  try {
    return { page: await readPage(vendor, session, { ...read, cursor }), isRestarted: false };
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== 'CURSOR_GONE') throw error;
    return readFirst(true);
  }
}

function readParentPosition(cursor: string): ParentPosition {
  const result = storedPosition.safeParse(parseJson(cursor));
  if (result.success) return result.data;
  throw createCursorError();
}

/**
 * Reads a page below a parent. If the parent was deleted after it was listed, the page is empty. If the cursor has
 * expired, the first page below this parent is read, so that the parents that are done are not read again.
 */
async function readChildPage(
  vendor: Vendor,
  session: ProviderSession,
  childRead: ListRead,
): Promise<PageOrFirst> {
  const { cursor, ...read } = childRead.read;
  try {
    return { page: await readPageOfParent(vendor, session, childRead), isRestarted: false };
  } catch (error) {
    const isExpired = error instanceof ProviderError && error.kind === 'CURSOR_GONE';
    if (!isExpired || cursor === undefined) throw error;
    const page = await readPageOfParent(vendor, session, { ...childRead, read });
    return { page, isRestarted: true };
  }
}

async function readPageOfParent(
  vendor: Vendor,
  session: ProviderSession,
  childRead: ListRead,
): Promise<RecordPage> {
  try {
    return await readList(vendor, session, childRead);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== 'MISSING_OBJECT') throw error;
    return { records: [], nextCursor: null, estimatedTotal: null };
  }
}
