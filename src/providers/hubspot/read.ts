/** Pages of records: the list of all, or a search for what changed. */
import { z } from 'zod';
import type { ProviderResponse, ProviderSession } from '../contract.ts';
import type { PageRead, ProviderRecord, RecordPage, RecordsRead } from '../moving-records.ts';
import { ProviderError } from '../provider-error.ts';
import { isSuccess, responseBody } from '../read-responses.ts';
import { paths } from './paths.ts';
import { failure } from './refused.ts';
import { type CrmRecord, listResponse, recordsResponse, searchResponse } from './wire.ts';

const LISTED_MAX = 100;
const SEARCHED_MAX = 200;

const listCursor = z.object({ by: z.literal('list'), after: z.string() });

/**
 * Each page begins above the last id of the one before: a record that changes meanwhile leaves the window, and by a
 * count of hits all others would move up. Earlier versions counted: their place, `after`, is not read, and what
 * they gave above `aboveId` comes again.
 */
const searchCursor = z.object({
  by: z.literal('search'),
  /** Null: processes of an earlier version begin at `aboveId` too. */
  after: z.unknown().transform(() => null),
  /** Null at the start. */
  aboveId: z.string().nullable(),
  /** After a page without records: where in the hits above that id the next one starts. */
  pastEmpty: z.string().optional(),
  /** Hits of the whole read: the answers of later pages count only what is left. */
  total: z.int(),
});
type SearchCursor = z.infer<typeof searchCursor>;

/** The list has its properties in its URL, which is as long as this at most; the search has them in its body. */
const LISTED_CHARACTERS_MAX = 6_000;

/** Lists all records: a list is never behind, as the search index can be. */
export function readPage(session: ProviderSession, read: PageRead): Promise<RecordPage> {
  const isSome = read.since || read.until || read.filters?.length;
  const isLong = properties(read).join(',').length > LISTED_CHARACTERS_MAX;
  return isSome || isLong ? searchPage(session, read) : listPage(session, read);
}

export async function readRecords(
  session: ProviderSession,
  { objectName, fields, ids }: RecordsRead,
): Promise<ProviderRecord[]> {
  const response = await session.send({
    method: 'POST',
    path: paths.batchRead(objectName),
    body: { inputs: ids.map((id) => ({ id })), properties: properties({ fields }) },
  });
  const { results } = responseBody(recordsResponse, succeeded(response), 'READ');
  return results.map((record) => toRecord(record, fields));
}

async function listPage(session: ProviderSession, read: PageRead): Promise<RecordPage> {
  const cursor = findCursor(listCursor, read);
  const response = await session.send({
    method: 'GET',
    path: paths.records(read.objectName),
    query: {
      limit: Math.min(read.pageSize, LISTED_MAX),
      properties: properties(read).join(',') || undefined,
      archived: false,
      after: cursor?.after,
    },
  });
  const { results, paging } = responseBody(listResponse, succeeded(response), 'READ');
  const after = paging?.next?.after;
  return {
    records: results.map((record) => toRecord(record, read.fields)),
    nextCursor: after === undefined ? null : writeCursor({ by: 'list', after }),
    estimatedTotal: cursor ? null : await countRecords(session, read),
  };
}

/** A list tells no total. A search tells one, which may lag a little. Null if it does not answer: the read goes on. */
async function countRecords(
  session: ProviderSession,
  { objectName }: PageRead,
): Promise<number | null> {
  const all = { method: 'POST', path: paths.search(objectName), body: { limit: 1 } } as const;
  try {
    return responseBody(searchResponse, succeeded(await session.send(all)), 'READ').total;
  } catch (error) {
    if (error instanceof ProviderError) return null;
    throw error;
  }
}

async function searchPage(session: ProviderSession, read: PageRead): Promise<RecordPage> {
  const cursor = findCursor(searchCursor, read);
  const response = await session.send({
    method: 'POST',
    path: paths.search(read.objectName),
    body: {
      ...filterGroups(filters(read, cursor?.aboveId ?? null)),
      sorts: [{ propertyName: 'hs_object_id', direction: 'ASCENDING' }],
      properties: properties(read),
      limit: Math.min(read.pageSize, SEARCHED_MAX),
      ...(cursor?.pastEmpty && { after: cursor.pastEmpty }),
    },
  });
  const { results, paging, total } = responseBody(searchResponse, succeeded(response), 'READ');
  const here = cursor ?? { by: 'search' as const, after: null, aboveId: null, total };
  const next = nextSearch(here, { after: paging?.next?.after, lastId: results.at(-1)?.id });
  return {
    records: results.map((record) => toRecord(record, read.fields)),
    nextCursor: next && writeCursor(next),
    estimatedTotal: here.total,
  };
}

/** Throws RETRYABLE if the pages repeat themselves. */
function nextSearch(
  { pastEmpty, ...here }: SearchCursor,
  { after, lastId }: { after: string | undefined; lastId: string | undefined },
): SearchCursor | null {
  if (after === undefined) return null;
  if (lastId !== undefined) return { ...here, aboveId: lastId };
  if (after !== pastEmpty) return { ...here, pastEmpty: after };
  throw new ProviderError('RETRYABLE', 'The pages of the search repeat themselves');
}

interface Filter {
  propertyName: string;
  operator: 'GTE' | 'LTE' | 'GT' | 'EQ';
  value: string;
}

/** A group without filters is refused. */
function filterGroups(all: Filter[]) {
  return all.length > 0 ? { filterGroups: [{ filters: all }] } : {};
}

/** A search takes six in a group: three are left to callers (`takes.filters`). */
function filters(
  { objectName, since, until, filters: given = [] }: PageRead,
  aboveId: string | null,
): Filter[] {
  const propertyName = changedProperty(objectName);
  const all: Filter[] = [];
  if (since) all.push({ propertyName, operator: 'GTE', value: String(since.getTime()) });
  if (until) all.push({ propertyName, operator: 'LTE', value: String(until.getTime()) });
  if (aboveId) all.push({ propertyName: 'hs_object_id', operator: 'GT', value: aboveId });
  for (const { fieldName, value } of given) {
    const name = fieldName === 'id' ? 'hs_object_id' : fieldName;
    all.push({ propertyName: name, operator: 'EQ', value: String(value) });
  }
  return all;
}

/** Contacts are older than the convention that the other objects follow. */
function changedProperty(objectName: string): string {
  const isContacts = objectName.toLowerCase() === 'contacts' || objectName === '0-1';
  return isContacts ? 'lastmodifieddate' : 'hs_lastmodifieddate';
}

/** `id` is no property: every record has it beside them. */
function properties({ fields }: Pick<PageRead, 'fields'>): string[] {
  return fields.filter((field) => field !== 'id');
}

export function toRecord(record: CrmRecord, fields: string[]): ProviderRecord {
  const value = (field: string) => (field === 'id' ? record.id : record.properties[field]);
  return {
    id: record.id,
    fields: Object.fromEntries(fields.map((field) => [field, value(field) ?? null])),
    raw: record,
  };
}

function succeeded(response: ProviderResponse): ProviderResponse {
  if (isSuccess(response)) return response;
  throw failure(response, 'READ');
}

function writeCursor(cursor: z.infer<typeof listCursor> | SearchCursor): string {
  return JSON.stringify(cursor);
}

/** A cursor of the other endpoint counts as gone: its position means nothing here. */
function findCursor<Form extends z.ZodType>(
  form: Form,
  { cursor }: PageRead,
): z.output<Form> | undefined {
  if (cursor === undefined) return undefined;
  try {
    return form.parse(JSON.parse(cursor));
  } catch (cause) {
    throw new ProviderError('CURSOR_GONE', 'The cursor does not belong to this read', { cause });
  }
}
