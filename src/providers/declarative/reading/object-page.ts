/** A page of an object: of its own list, or of the lists below each record of another object. */
import { z } from 'zod';
import type { ProviderSession } from '../../contract.ts';
import type { PageRead, RecordPage } from '../../moving-records.ts';
import { ProviderError } from '../../provider-error.ts';
import { findObject } from '../describe-object.ts';
import type { Vendor } from '../failure.ts';
import { type ListRead, readList } from './list-page.ts';
import { jsonIn, notOfThisRead } from './position.ts';

export async function readPage(
  vendor: Vendor,
  session: ProviderSession,
  read: PageRead,
): Promise<RecordPage> {
  const object = findObject(vendor, read.objectName);
  const variables = { object: read.objectName };
  if (!object.parent) return readList(vendor, session, { object, read, variables });
  const place = await currentParent(vendor, session, { object, read, variables });
  const [parentId] = place.ids;
  if (parentId === undefined) return pageAt(place, []);
  const below = {
    object,
    read: { ...read, cursor: place.inner ?? undefined },
    variables: { ...variables, [object.parent.as]: parentId },
  };
  const page = await pageBelow(vendor, session, below);
  const { records, nextCursor: inner } = page;
  return pageAt({ ...place, ids: inner === null ? place.ids.slice(1) : place.ids, inner }, records);
}

const stored = z.strictObject({
  /** Ids of parents whose lists are still to be read; the first one is being read. */
  ids: z.array(z.string()),
  /** Where the list of parents goes on. */
  more: z.string().nullable(),
  /** Where the list below the first of them goes on. */
  inner: z.string().nullable(),
});
type Place = z.infer<typeof stored>;

function pageAt(place: Place, records: RecordPage['records']): RecordPage {
  const isEnd = place.ids.length === 0 && place.more === null;
  return { records, nextCursor: isEnd ? null : JSON.stringify(place), estimatedTotal: null };
}

async function currentParent(
  vendor: Vendor,
  session: ProviderSession,
  { object: { parent }, read }: ListRead,
): Promise<Place> {
  const place = read.cursor === undefined ? null : readPlace(read.cursor);
  if (place && place.ids.length > 0) return place;
  const cursor = place?.more ?? undefined;
  const { pageSize } = read;
  const parents = { objectName: parent?.object ?? '', fields: [], pageSize, cursor };
  const page = await readPage(vendor, session, parents);
  return { ids: page.records.map(({ id }) => id), more: page.nextCursor, inner: null };
}

function readPlace(cursor: string): Place {
  const parsed = stored.safeParse(jsonIn(cursor));
  if (parsed.success) return parsed.data;
  throw notOfThisRead();
}

/** A parent that is gone since it was listed has nothing below it. */
async function pageBelow(
  vendor: Vendor,
  session: ProviderSession,
  below: ListRead,
): Promise<RecordPage> {
  try {
    return await readList(vendor, session, below);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== 'MISSING_OBJECT') throw error;
    return { records: [], nextCursor: null, estimatedTotal: null };
  }
}
