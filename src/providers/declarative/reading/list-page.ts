/** Reads one page of an object's list, as declared. */
import type { ProviderSession } from '../../contract.ts';
import type { PageRead, ProviderRecord, RecordPage } from '../../moving-records.ts';
import type { Declaration, ObjectDeclaration } from '../declaration/declaration.ts';
import type { ListDeclaration } from '../declaration/list-declaration.ts';
import { findValue } from '../json.ts';
import { sendRequest } from '../send-request.ts';
import { fillPath, fillQuery, type TemplateVariables } from '../template.ts';
import { getFilterBehavior } from '../times.ts';
import { getBehavior, type Vendor } from '../vendor.ts';
import { readCutLists } from './cut-lists.ts';
import { completeNestedLists } from './nested-lists.ts';
import { readOmittedValues } from './omitted-values.ts';
import { findPageSize } from './page-request.ts';
import { readRows, requestPage } from './page-response.ts';
import {
  type BehavingList,
  createCursorError,
  findNextPosition,
  isScroll,
  type Position,
  readPosition,
  readTotal,
} from './paging.ts';
import { addFields } from './records-by-ids.ts';
import { readChangeTime, toRecord } from './row-record.ts';
import { findSearchList } from './search-conditions.ts';
import { batchFields, listReturnedNames } from './selected-fields.ts';

type TimeWindow = Pick<PageRead, 'since' | 'until'>;

export interface ListRead {
  object: ObjectDeclaration;
  read: PageRead;
  variables: TemplateVariables;
}

/** Reads the records of the time window. Drops records outside it that the vendor can't filter out. */
export async function readList(
  vendor: Vendor,
  session: ProviderSession,
  { object, read, variables }: ListRead,
): Promise<RecordPage> {
  const { declaration } = vendor;
  const position = readPosition(read.cursor);
  const [listName, list] = selectList(declaration, object, { read, position });
  // The vendor may have moved its position without a stored page.
  if (isScroll(list) && position?.next != null && !read.followsPage) throw createCursorError();
  const [fieldBatch, ...otherBatches] = batchFields(
    list.selectedFields,
    list.behavior,
    read.fields,
  );
  const context = { read, fieldBatch, position, variables, session };
  const response = await requestPage(vendor, list, context);
  const rows = readRows(response, list);
  const fields = listReturnedNames(list.selectedFields, read.fields, fieldBatch);
  const records = rows.map((raw) =>
    toRecord(object, raw, { fields, variables, selectedFields: list.selectedFields }),
  );
  const needsTimes = read.since || read.until || list.isKeysetPaged || list.isNewestFirst;
  const times = needsTimes ? rows.map((raw) => readChangeTime(object, raw)) : [];
  const page = {
    response,
    baseUrl: session.baseUrl,
    ids: records.map(({ id }) => id),
    size: findPageSize(list, read, position),
    parameter: position?.next ?? null,
  };
  const nextPosition = isPastWindow(object, list, { read, lastTime: times.at(-1) })
    ? null
    : findNextPosition(declaration, list, { page, position, times }, listName);
  const isNew = createFilter({ object, list, read, position });
  const newRecords = records.filter((record, index) => isNew(record, times[index] ?? null));
  return {
    records: await completeRecords(vendor, session, {
      ...{ object, read, variables, records: newRecords },
      fieldNames: otherBatches.flatMap((batch) => batch ?? []),
    }),
    nextCursor: nextPosition && JSON.stringify(nextPosition),
    ...(nextPosition?.next != null && isScroll(list) && { isScroll: true }),
    estimatedTotal: position
      ? null
      : (readTotal(list, response) ??
        (await countRecords(vendor, session, { object, read, variables }))),
  };
}

interface RecordsToComplete extends ListRead {
  records: ProviderRecord[];
  /** Fields that the request for the page could not name. */
  fieldNames: string[];
}

/** Adds what the vendor's list omits: the other items of lists, costly values, and fields beyond its limit. */
async function completeRecords(
  vendor: Vendor,
  session: ProviderSession,
  { object, read, variables, records, fieldNames }: RecordsToComplete,
): Promise<ProviderRecord[]> {
  const withLists = await readCutLists(vendor, session, { object, records, variables });
  const withValues = await readOmittedValues(vendor, session, { object, read, records: withLists });
  const withFields = await addFields(vendor, session, {
    ...{ object, read, records: withValues, fieldNames },
  });
  return completeNestedLists(vendor, session, { object, read, records: withFields });
}

/** True if all further records changed outside the window, because the list is in the order of the changes. */
function isPastWindow(
  { changedAt }: ObjectDeclaration,
  { isNewestFirst, isKeysetPaged }: BehavingList,
  { read: { since, until }, lastTime }: { read: PageRead; lastTime: Date | null | undefined },
): boolean {
  if (!lastTime) return false;
  if (isNewestFirst && since) return getLatestTime(lastTime, changedAt?.precisionMs) < since;
  return isKeysetPaged && until !== undefined && lastTime > until;
}

interface FilterContext extends Pick<ListRead, 'object' | 'read'> {
  list: BehavingList;
  position: Position | null;
}

/** Returns a predicate: does the read return this record with this time of change? */
function createFilter({ object, list, read, position }: FilterContext) {
  const seenIds = new Set(position?.seen);
  const window = getWindow(list, read);
  return ({ id, raw }: ProviderRecord, changedAt: Date | null): boolean =>
    isInWindow(changedAt, window, object.changedAt?.precisionMs) &&
    !seenIds.has(id) &&
    !isSkipped(list, raw);
}

/**
 * Returns the window for the records of a page. If the vendor's filter compares another time than the records' time of
 * change, its filter alone decides which records are new.
 */
function getWindow(list: BehavingList, { since, until }: PageRead): TimeWindow {
  const comparesOtherTime =
    list.since !== undefined && getFilterBehavior(list.behavior).column !== 'changedAt';
  return comparesOtherTime ? { until } : { since, until };
}

/**
 * Selects the list for a read, and the name by which cursors refer to it. A search uses the list that supports
 * conditions. An incremental read uses `incrementalList` if it is declared. A full read also uses it if only that list
 * is complete. Throws CURSOR_GONE if the position is in another list.
 */
function selectList(
  declaration: Declaration,
  object: ObjectDeclaration,
  { read, position }: { read: PageRead; position: Position | null },
): [Position['by'], BehavingList] {
  const { deepList } = object;
  const [name, list] =
    position?.by === 'deep' && deepList ? (['deep', deepList] as const) : getList(object, read);
  if (position && position.by !== name) throw createCursorError();
  return [name, { ...list, behavior: getBehavior(declaration, list) }];
}

function getList(
  { list, incrementalList }: ObjectDeclaration,
  read: PageRead,
): ['all' | 'changed', ListDeclaration] {
  const searchList = read.filters?.length ? findSearchList({ list, incrementalList }) : undefined;
  if (!incrementalList || searchList === list) return ['all', list];
  if (searchList === incrementalList || read.since || read.until)
    return ['changed', incrementalList];
  if (!incrementalList.fullReadQuery) return ['all', list];
  return [
    'changed',
    { ...incrementalList, query: { ...incrementalList.query, ...incrementalList.fullReadQuery } },
  ];
}

function isSkipped({ skipIfPresent }: ListDeclaration, raw: Record<string, unknown>): boolean {
  return skipIfPresent !== undefined && findValue(raw, skipIfPresent) != null;
}

function isInWindow(
  changedAt: Date | null,
  { since, until }: TimeWindow,
  precisionMs?: number,
): boolean {
  if (changedAt === null) return true;
  const latestTime = getLatestTime(changedAt, precisionMs);
  return (!since || latestTime >= since) && (!until || changedAt <= until);
}

/** Returns the latest time of a change that the vendor shows as `time`, because it truncates times. */
function getLatestTime(time: Date, precisionMs = 1): Date {
  return new Date(time.getTime() + precisionMs - 1);
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
