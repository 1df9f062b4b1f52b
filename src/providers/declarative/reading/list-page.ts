/** Reads one page of an object's list, as declared. */
import { isObject } from '../../../work/is-object.ts';
import type { ProviderResponse, ProviderSession } from '../../contract.ts';
import type { PageRead, ProviderRecord, RecordPage } from '../../moving-records.ts';
import { ProviderError } from '../../provider-error.ts';
import type { ObjectDeclaration } from '../declaration/declaration.ts';
import type { ListDeclaration } from '../declaration/list-declaration.ts';
import { createFailure, hasSucceeded } from '../failure.ts';
import { findValue } from '../json.ts';
import { flattenFields } from '../nested-fields.ts';
import { findRecordId } from '../record-id.ts';
import { sendRequest } from '../send-request.ts';
import { fillPath, fillQuery, type TemplateVariables } from '../template.ts';
import { parseTime } from '../times.ts';
import type { Vendor } from '../vendor.ts';
import { createRequest, getPageSize } from './page-request.ts';
import { findNextPosition, readPosition } from './paging.ts';
import { findSearchList } from './search-conditions.ts';

export interface ListRead {
  object: ObjectDeclaration;
  read: PageRead;
  variables: TemplateVariables;
}

/** The status of a response to If-Modified-Since if nothing has changed. */
const NOT_MODIFIED = 304;
const NO_CONTENT = 204;

/** Reads the records of the time window. Drops records outside it that the vendor can't filter out. */
export async function readList(
  vendor: Vendor,
  session: ProviderSession,
  { object, read, variables }: ListRead,
): Promise<RecordPage> {
  const [listName, list] = selectList(object, read);
  const position = readPosition(read.cursor, listName);
  const request = createRequest(vendor.declaration, list, { read, position, variables, session });
  const response = await session.send(request);
  if (response.status !== NOT_MODIFIED && !hasSucceeded(vendor, response))
    throw createFailure(vendor, response, 'READ');
  const rows = readRows(response, list);
  const records = rows.map((raw) => toRecord(object, raw, { read, variables }));
  const needsTimes = read.since || read.until || list.isKeysetPaged || list.isNewestFirst;
  const times = needsTimes ? rows.map((raw) => readChangeTime(object, raw)) : [];
  const page = {
    response,
    baseUrl: session.baseUrl,
    ids: records.map(({ id }) => id),
    size: getPageSize(list, read, position),
    parameter: position?.next ?? null,
  };
  const { precisionMs } = object.changedAt ?? {};
  const isPastWindow =
    list.isNewestFirst && !isInWindow(times.at(-1) ?? null, { since: read.since }, precisionMs);
  const nextPosition = isPastWindow
    ? null
    : findNextPosition(list, { page, position, times }, listName);
  const seenIds = new Set(position?.seen);
  return {
    records: records.filter(
      ({ id, raw }, index) =>
        isInWindow(times[index] ?? null, read, precisionMs) &&
        !seenIds.has(id) &&
        !isSkipped(list, raw),
    ),
    nextCursor: nextPosition && JSON.stringify(nextPosition),
    estimatedTotal: position
      ? null
      : (readTotal(list, response) ??
        (await countRecords(vendor, session, { object, read, variables }))),
  };
}

/**
 * Selects the list for a read, and the name by which cursors refer to it. A search uses the list that supports
 * conditions. An incremental read uses `incrementalList` if it is declared. A full read also uses it if only that list
 * is complete.
 */
function selectList(
  object: ObjectDeclaration,
  read: PageRead,
): ['all' | 'changed', ListDeclaration] {
  const { list, incrementalList } = object;
  const searchList = read.filters?.length ? findSearchList(object) : undefined;
  if (!incrementalList || searchList === list) return ['all', list];
  if (searchList === incrementalList || read.since || read.until)
    return ['changed', incrementalList];
  if (!incrementalList.fullReadQuery) return ['all', list];
  return [
    'changed',
    { ...incrementalList, query: { ...incrementalList.query, ...incrementalList.fullReadQuery } },
  ];
}

/** Returns the records of a page. Throws RETRYABLE if the response has no list, such as the error page of a proxy. */
export function readRows(
  response: ProviderResponse,
  { records: pointer, record }: ListDeclaration,
): Record<string, unknown>[] {
  const items =
    findValue(response.body, pointer) ?? (isEmptyList(response, pointer) ? [] : undefined);
  const rows = Array.isArray(items) ? items.map((item) => findValue(item, record)) : [items];
  if (rows.every(isObject) && Array.isArray(items)) return rows;
  throw new ProviderError('RETRYABLE', 'The response has no list of records', {
    status: response.status,
  });
}

/** True if the response means an empty list: some vendors omit an empty list, or return 204 or 304 without a body. */
function isEmptyList({ status, body }: ProviderResponse, pointer: string): boolean {
  return (
    (isObject(body) && pointer !== '') ||
    ((status === NO_CONTENT || status === NOT_MODIFIED) && body === null)
  );
}

function readTotal(
  { total, totalHeader }: ListDeclaration,
  { body, headers }: ProviderResponse,
): number | null {
  const headerTotal = totalHeader && headers[totalHeader.toLowerCase()];
  const count = total === undefined ? Number(headerTotal || Number.NaN) : findValue(body, total);
  return typeof count === 'number' && Number.isSafeInteger(count) ? count : null;
}

export function toRecord(
  { id, nestedFields }: ObjectDeclaration,
  raw: Record<string, unknown>,
  { read, variables }: { read: Pick<PageRead, 'fields'>; variables: TemplateVariables },
): ProviderRecord {
  const recordId = findRecordId(id, raw);
  if (recordId === null) throw new ProviderError('RETRYABLE', 'A record of the list has no id');
  const maps = [
    raw,
    ...nestedFields.map((declaration) => flattenFields(declaration, raw)),
    variables,
  ];
  const fields: Record<string, unknown> = {};
  for (const field of read.fields) {
    const source = maps.find((map) => Object.hasOwn(map, field));
    fields[field] = (field === 'id' ? recordId : source?.[field]) ?? null;
  }
  return { id: recordId, fields, raw };
}

function isSkipped({ skipIfPresent }: ListDeclaration, raw: Record<string, unknown>): boolean {
  return skipIfPresent !== undefined && findValue(raw, skipIfPresent) != null;
}

function isInWindow(
  changedAt: Date | null,
  { since, until }: Pick<PageRead, 'since' | 'until'>,
  precisionMs = 1,
): boolean {
  if (changedAt === null) return true;
  const latestTime = new Date(changedAt.getTime() + precisionMs - 1);
  return (!since || latestTime >= since) && (!until || changedAt <= until);
}

/** Returns the record's time of change. Null if the record has none. */
function readChangeTime(
  { changedAt }: ObjectDeclaration,
  raw: Record<string, unknown>,
): Date | null {
  return changedAt ? parseTime(findValue(raw, changedAt.at), changedAt.format) : null;
}

/**
 * Counts the records of a full read. Null if the vendor has no request for the count or the request fails, because the
 * read does not need the count.
 */
async function countRecords(
  vendor: Vendor,
  session: ProviderSession,
  { object: { count }, read, variables }: ListRead,
): Promise<number | null> {
  const isFullRead = !read.since && !read.until && !read.filters?.length;
  if (!count || !isFullRead) return null;
  const response = await sendRequest(vendor, session, {
    method: 'GET',
    path: fillPath(count.path, variables, session),
    query: fillQuery(count.query, variables, session),
  }).catch(() => null);
  const total = Number(findValue(response?.body, count.at) ?? Number.NaN);
  return Number.isSafeInteger(total) ? total : null;
}
