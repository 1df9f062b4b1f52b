/** Reads record pages: from the list of all records, or by a search for changes. */
import { z } from 'zod';
import type { ProviderSession } from '../contract.ts';
import type { PageRead, ProviderRecord, RecordPage, RecordsRead } from '../moving-records.ts';
import { ProviderError } from '../provider-error.ts';
import { parseResponse } from '../read-responses.ts';
import { requireSuccess } from './failure.ts';
import { paths } from './paths.ts';
import { type CrmRecord, listResponse, recordsResponse, searchResponse } from './wire.ts';

const LIST_PAGE_SIZE_MAX = 100;
const SEARCH_PAGE_SIZE_MAX = 200;
const ID_PROPERTY = 'hs_object_id';

const listCursor = z.object({ by: z.literal('list'), after: z.string() });

/**
 * The position in a search. Each page starts above the last id. With offsets, a record that changes during the read
 * would leave the time window, and shift the records after it.
 */
const searchCursor = z.object({
  by: z.literal('search'),
  /** The last id of the previous page. Null for the first page. */
  aboveId: z.string().nullable(),
  /** The offset after an empty page, within the results above `aboveId`. */
  pastEmpty: z.string().optional(),
  /** The total of the whole read. Responses of later pages count only the rest. */
  total: z.int(),
});
type SearchCursor = z.infer<typeof searchCursor>;

/** The maximum length of the property names in the list's URL. A search sends them in its body. */
const PROPERTIES_LENGTH_MAX = 6_000;

/** Reads a page. A full read uses the list, because the search index may lag. */
export function readPage(session: ProviderSession, read: PageRead): Promise<RecordPage> {
  const isFiltered = read.since || read.until || read.filters?.length;
  const isLong = listProperties(read).join(',').length > PROPERTIES_LENGTH_MAX;
  return isFiltered || isLong ? searchPage(session, read) : listPage(session, read);
}

export async function readRecords(
  session: ProviderSession,
  { objectName, fields, ids }: RecordsRead,
): Promise<ProviderRecord[]> {
  const response = await session.send({
    method: 'POST',
    path: paths.batchRead(objectName),
    body: { inputs: ids.map((id) => ({ id })), properties: listProperties({ fields }) },
  });
  const { results } = parseResponse(recordsResponse, requireSuccess(response), 'READ');
  return results.map((record) => toRecord(record, fields));
}

async function listPage(session: ProviderSession, read: PageRead): Promise<RecordPage> {
  const cursor = parseCursor(listCursor, read);
  const response = await session.send({
    method: 'GET',
    path: paths.records(read.objectName),
    query: {
      limit: Math.min(read.pageSize, LIST_PAGE_SIZE_MAX),
      properties: listProperties(read).join(',') || undefined,
      archived: false,
      after: cursor?.after,
    },
  });
  const { results, paging } = parseResponse(listResponse, requireSuccess(response), 'READ');
  const after = paging?.next?.after;
  return {
    records: results.map((record) => toRecord(record, read.fields)),
    nextCursor: after === undefined ? null : formatCursor({ by: 'list', after }),
    estimatedTotal: cursor ? null : await countRecords(session, read),
  };
}

/**
 * Counts the records by a search, because the list returns no total. The count may lag. Null on failure, because the
 * read does not need it.
 */
async function countRecords(
  session: ProviderSession,
  { objectName }: PageRead,
): Promise<number | null> {
  const countRequest = {
    method: 'POST',
    path: paths.search(objectName),
    body: { limit: 1 },
  } as const;
  try {
    return parseResponse(searchResponse, requireSuccess(await session.send(countRequest)), 'READ')
      .total;
  } catch (error) {
    if (error instanceof ProviderError) return null;
    throw error;
  }
}

async function searchPage(session: ProviderSession, read: PageRead): Promise<RecordPage> {
  const cursor = parseCursor(searchCursor, read);
  const response = await session.send({
    method: 'POST',
    path: paths.search(read.objectName),
    body: {
      ...createFilterGroups(createFilters(read, cursor?.aboveId ?? null)),
      sorts: [{ propertyName: ID_PROPERTY, direction: 'ASCENDING' }],
      properties: listProperties(read),
      limit: Math.min(read.pageSize, SEARCH_PAGE_SIZE_MAX),
      ...(cursor?.pastEmpty && { after: cursor.pastEmpty }),
    },
  });
  const { results, paging, total } = parseResponse(
    searchResponse,
    requireSuccess(response),
    'READ',
  );
  const currentCursor = cursor ?? { by: 'search' as const, aboveId: null, total };
  const nextCursor = findNextCursor(currentCursor, {
    after: paging?.next?.after,
    lastId: results.at(-1)?.id,
  });
  return {
    records: results.map((record) => toRecord(record, read.fields)),
    nextCursor: nextCursor && formatCursor(nextCursor),
    estimatedTotal: currentCursor.total,
  };
}

/** Returns the cursor of the next page. An empty page may be followed by others. */
function findNextCursor(
  { pastEmpty: _, ...cursor }: SearchCursor,
  { after, lastId }: { after: string | undefined; lastId: string | undefined },
): SearchCursor | null {
  if (after === undefined) return null;
  return lastId === undefined ? { ...cursor, pastEmpty: after } : { ...cursor, aboveId: lastId };
}

interface Filter {
  propertyName: string;
  operator: 'GTE' | 'LTE' | 'GT' | 'EQ';
  value: string;
}

/** HubSpot refuses a group without filters. */
function createFilterGroups(filters: Filter[]) {
  return filters.length > 0 ? { filterGroups: [{ filters }] } : {};
}

/**
 * HubSpot allows six filters per group. This module uses at most three. Callers may use the other three
 * (`features.filtersMax`).
 */
function createFilters(
  { objectName, since, until, filters: conditions = [] }: PageRead,
  aboveId: string | null,
): Filter[] {
  const timeProperty = getChangeTimeProperty(objectName);
  return [
    ...(since ? [createFilter(timeProperty, 'GTE', since.getTime())] : []),
    ...(until ? [createFilter(timeProperty, 'LTE', until.getTime())] : []),
    ...(aboveId ? [createFilter(ID_PROPERTY, 'GT', aboveId)] : []),
    ...conditions.map(({ fieldName, value }) =>
      createFilter(fieldName === 'id' ? ID_PROPERTY : fieldName, 'EQ', value),
    ),
  ];
}

function createFilter(
  propertyName: string,
  operator: Filter['operator'],
  value: string | number | boolean,
): Filter {
  return { propertyName, operator, value: String(value) };
}

/** Contacts have another name for the property, for historical reasons. */
function getChangeTimeProperty(objectName: string): string {
  const isContacts = objectName.toLowerCase() === 'contacts' || objectName === '0-1';
  return isContacts ? 'lastmodifieddate' : 'hs_lastmodifieddate';
}

/** `id` is not a property, because each record has it next to its properties. */
function listProperties({ fields }: Pick<PageRead, 'fields'>): string[] {
  return fields.filter((field) => field !== 'id');
}

function toRecord(record: CrmRecord, fields: string[]): ProviderRecord {
  const readField = (field: string) => (field === 'id' ? record.id : record.properties[field]);
  return {
    id: record.id,
    fields: Object.fromEntries(fields.map((field) => [field, readField(field) ?? null])),
    raw: record,
  };
}

function formatCursor(cursor: z.infer<typeof listCursor> | SearchCursor): string {
  return JSON.stringify(cursor);
}

/** Parses a cursor. Throws CURSOR_GONE for a cursor of the other endpoint. */
function parseCursor<Schema extends z.ZodType>(
  schema: Schema,
  { cursor }: PageRead,
): z.output<Schema> | undefined {
  if (cursor === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(cursor));
  } catch (cause) {
    throw new ProviderError('CURSOR_GONE', 'The cursor does not belong to this read', { cause });
  }
}
