/** Reads one page of an object: of its own list, or of the lists under each parent record. */
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
  const parentPosition = await findCurrentParent(vendor, session, {
    parentName: object.parent.object,
    read,
  });
  const [parentId] = parentPosition.ids;
  if (parentId === undefined) return createPage(parentPosition, []);
  const childRead = {
    object,
    read: { ...read, cursor: parentPosition.inner ?? undefined },
    variables: { ...variables, [object.parent.variable]: parentId },
  };
  const page = await readChildPage(vendor, session, childRead);
  const { records, nextCursor: childCursor } = page;
  return createPage(
    {
      ...parentPosition,
      ids: childCursor === null ? parentPosition.ids.slice(1) : parentPosition.ids,
      inner: childCursor,
    },
    records,
  );
}

const storedPosition = z.strictObject({
  /** Ids of parents that are not fully read. The first one is being read. */
  ids: z.array(z.string()),
  /** The cursor of the list of parents. */
  more: z.string().nullable(),
  /** The cursor of the list below the first parent. */
  inner: z.string().nullable(),
});
type ParentPosition = z.infer<typeof storedPosition>;

function createPage(parentPosition: ParentPosition, records: RecordPage['records']): RecordPage {
  const isLastPage = parentPosition.ids.length === 0 && parentPosition.more === null;
  return {
    records,
    nextCursor: isLastPage ? null : JSON.stringify(parentPosition),
    estimatedTotal: null,
  };
}

/** Returns the stored position, or the start of the next page of parents if all parents of the position are read. */
async function findCurrentParent(
  vendor: Vendor,
  session: ProviderSession,
  { parentName, read: { cursor, pageSize } }: { parentName: string; read: PageRead },
): Promise<ParentPosition> {
  const parentPosition = cursor === undefined ? null : readParentPosition(cursor);
  if (parentPosition && parentPosition.ids.length > 0) return parentPosition;
  const page = await readPage(vendor, session, {
    objectName: parentName,
    fields: [],
    pageSize,
    cursor: parentPosition?.more ?? undefined,
  });
  return { ids: page.records.map(({ id }) => id), more: page.nextCursor, inner: null };
}

function readParentPosition(cursor: string): ParentPosition {
  const result = storedPosition.safeParse(parseJson(cursor));
  if (result.success) return result.data;
  throw createCursorError();
}

/** Reads a page below a parent. If the parent was deleted after it was listed, the page is empty. */
async function readChildPage(
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
