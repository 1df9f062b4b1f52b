/** Reads the other items of lists inside records that have their own endpoint. */
import type { ProviderSession } from '../../contract.ts';
import type { ProviderRecord, RecordsRead } from '../../moving-records.ts';
import { addListLength, checkCursor } from '../../page-guard.ts';
import { ProviderError } from '../../provider-error.ts';
import type { NestedListRead, ObjectDeclaration } from '../declaration/object-declaration.ts';
import { findValue, parseId, withValue } from '../json.ts';
import { listIdVariables } from '../record-id.ts';
import { getBehavior, type Vendor } from '../vendor.ts';
import { readRows, requestPage } from './page-response.ts';
import { type BehavingList, findNextPosition, type Position } from './paging.ts';
import { toRecord } from './row-record.ts';

/** The maximum number of records whose lists are read concurrently. */
const CONCURRENCY_MAX = 4;

interface NestedRead {
  object: ObjectDeclaration;
  read: Pick<RecordsRead, 'objectName' | 'fields'>;
  records: ProviderRecord[];
}

/**
 * Replaces each selected list of which the vendor returned only the first items by the whole list. A record that was
 * deleted in the meantime stays as it is.
 */
export async function completeNestedLists(
  vendor: Vendor,
  session: ProviderSession,
  { object, read, records }: NestedRead,
): Promise<ProviderRecord[]> {
  const lists = object.nestedLists.filter(({ field }) => read.fields.includes(field));
  if (lists.length === 0) return records;
  const complete: ProviderRecord[] = [];
  for (let start = 0; start < records.length; start += CONCURRENCY_MAX) {
    const results = await Promise.all(
      records
        .slice(start, start + CONCURRENCY_MAX)
        .map((record) => completeRecord({ vendor, session, object, read }, record, lists)),
    );
    complete.push(...results);
  }
  return complete;
}

interface RecordContext extends Omit<NestedRead, 'records'> {
  vendor: Vendor;
  session: ProviderSession;
}

/** Returns the record with whole lists. */
async function completeRecord(
  context: RecordContext,
  record: ProviderRecord,
  lists: NestedListRead[],
): Promise<ProviderRecord> {
  const { object } = context;
  const cutLists = lists.filter(({ hasMore }) => findValue(record.raw, hasMore) === true);
  if (cutLists.length === 0) return record;
  let { raw } = record;
  try {
    for (const nestedList of cutLists) {
      const items = await readItems(context, record.id, nestedList);
      raw = withValue(withValue(raw, nestedList.at, items), nestedList.hasMore, false);
    }
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'MISSING_OBJECT') return record;
    throw error;
  }
  const { fields } = toRecord(object, raw, {
    fields: cutLists.map(({ field }) => field),
    variables: {},
  });
  return { id: record.id, fields: { ...record.fields, ...fields }, raw };
}

/** Reads all items of a list. Throws CURSOR_GONE if its cursor expired, so that the read restarts, and RepeatedCursors. */
async function readItems(
  { vendor, session, object, read }: RecordContext,
  recordId: string,
  { list: declaredList, itemId }: NestedListRead,
): Promise<Record<string, unknown>[]> {
  const { declaration } = vendor;
  const list: BehavingList = {
    ...declaredList,
    behavior: getBehavior(declaration, declaredList),
  };
  const size = list.pageSize?.max ?? null;
  const variables = { object: read.objectName, ...listIdVariables(object.id, recordId) };
  const items: Record<string, unknown>[] = [];
  let length = 0;
  let position: Position | null = null;
  let mark: string | null = null;
  let pagesRead = 0;
  do {
    const response = await requestPage(vendor, list, {
      read: { objectName: read.objectName, fields: [], pageSize: size ?? Infinity },
      ...{ fieldBatch: null, position, variables, session },
    });
    const rows = readRows(response, list);
    length = addListLength(length, rows);
    items.push(...rows);
    const page = {
      ...{ response, size, baseUrl: session.baseUrl },
      ids: rows.map((row) => parseId(findValue(row, itemId)) ?? ''),
      parameter: position?.next ?? null,
    };
    position = findNextPosition(declaration, list, { page, position, times: [] }, 'all');
    pagesRead += 1;
    if (position) mark = checkCursor(JSON.stringify(position), { mark, pagesRead });
  } while (position);
  return items;
}
