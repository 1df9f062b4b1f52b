/** Reads records by id: for events that contain only an id, and for values that a list omits. */
import { isObject } from '../../../work/is-object.ts';
import type { ProviderResponse, ProviderSession } from '../../contract.ts';
import type { ProviderRecord, RecordsRead } from '../../moving-records.ts';
import { ProviderError } from '../../provider-error.ts';
import { truncateMessage } from '../../read-responses.ts';
import type { ObjectDeclaration } from '../declaration/declaration.ts';
import type { IdLookup } from '../declaration/object-declaration.ts';
import { createFailure, hasSucceeded } from '../failure.ts';
import { findValue, type JsonObject } from '../json.ts';
import { listIdVariables } from '../record-id.ts';
import { getObject, type Vendor } from '../vendor.ts';
import { readCutLists } from './cut-lists.ts';
import { completeNestedLists } from './nested-lists.ts';
import { isEmptyList } from './page-response.ts';
import { draftRequest, type RequestDraft, setParameter } from './request-draft.ts';
import { readChangeTime, toRecord } from './row-record.ts';
import {
  batchFields,
  countUrlBytes,
  type FieldBatch,
  getParameterBytesMax,
  listReturnedNames,
  selectFields,
  splitItems,
} from './selected-fields.ts';

/** The maximum number of concurrent requests of one call. */
const CONCURRENCY_MAX = 4;

/** How often records that change between two requests are read again before the read is retried later. */
const ATTEMPTS_MAX = 3;

/**
 * Reads the records, and omits deleted ones. If the fields need several requests, the parts of a record have the same
 * time of change. Throws ProviderError if the provider cannot read by id, if a request fails, or if a response is not a
 * record.
 */
export async function readRecords(
  vendor: Vendor,
  session: ProviderSession,
  { objectName, fields, ids, omitsReplaced }: RecordsRead,
): Promise<ProviderRecord[]> {
  const object = getObject(vendor, objectName);
  const { byIds } = object;
  if (!byIds) {
    const detail = `${vendor.displayName} does not return ${objectName} by id`;
    throw new ProviderError('BAD_REQUEST', detail);
  }
  const context = { vendor, session, object, byIds, objectName, fields, omitsReplaced };
  const records = new Map<string, ProviderRecord>();
  let pendingIds = ids;
  for (let attempt = 0; pendingIds.length > 0; attempt += 1) {
    if (attempt === ATTEMPTS_MAX) {
      throw new ProviderError('RETRYABLE', 'Records changed between the requests for their fields');
    }
    const { complete, changedIds } = await fetchFields(context, pendingIds);
    for (const record of complete) records.set(record.id, record);
    pendingIds = changedIds;
  }
  return completeNestedLists(vendor, session, {
    object,
    read: { objectName, fields },
    records: [...records.values()],
  });
}

/**
 * Adds fields that the request for the page could not name. A record that the vendor does not return by id lacks them. A
 * record that changed in the meantime is read again, with all of its fields.
 */
export async function addFields(
  vendor: Vendor,
  session: ProviderSession,
  {
    object,
    read: { objectName, fields },
    records,
    fieldNames,
  }: {
    object: ObjectDeclaration;
    read: Pick<RecordsRead, 'objectName' | 'fields'>;
    records: ProviderRecord[];
    fieldNames: string[];
  },
): Promise<ProviderRecord[]> {
  if (fieldNames.length === 0 || records.length === 0) return records;
  const ids = records.map(({ id }) => id);
  const read = { objectName, omitsReplaced: true };
  const otherParts = await readRecords(vendor, session, { ...read, fields: fieldNames, ids });
  const { complete, changedIds } = joinParts(object, [records, otherParts]);
  const rereadRecords = await readRecords(vendor, session, { ...read, fields, ids: changedIds });
  const recordsById = new Map([...complete, ...rereadRecords].map((record) => [record.id, record]));
  return records.map((record) => recordsById.get(record.id) ?? record);
}

interface FetchContext extends Omit<RecordsRead, 'ids'> {
  vendor: Vendor;
  session: ProviderSession;
  object: ObjectDeclaration;
  byIds: IdLookup;
}

interface JoinedRecords {
  complete: ProviderRecord[];
  /** Records whose parts have different times of change. */
  changedIds: string[];
}

/** Fetches each group of fields and joins the parts of each record. */
async function fetchFields(context: FetchContext, ids: string[]): Promise<JoinedRecords> {
  const { vendor, byIds, fields } = context;
  const { behavior } = vendor.declaration;
  const parts: ProviderRecord[][] = [];
  for (const batch of batchFields(byIds.selectedFields, behavior, fields)) {
    parts.push(await fetchFieldBatch(context, ids, batch));
  }
  return joinParts(context.object, parts);
}

async function fetchFieldBatch(
  context: FetchContext,
  ids: string[],
  fieldBatch: FieldBatch,
): Promise<ProviderRecord[]> {
  const { byIds, vendor } = context;
  const batches = byIds.ids
    ? splitItems(ids, {
        countMax: byIds.ids.max,
        bytesMax:
          byIds.ids.in === 'query'
            ? getParameterBytesMax(vendor.declaration.behavior.urlBytesMax) -
              countUrlBytes(byIds.selectedFields, fieldBatch)
            : Infinity,
      })
    : ids.map((id) => [id]);
  const allRecords: ProviderRecord[] = [];
  for (let start = 0; start < batches.length; start += CONCURRENCY_MAX) {
    const fetches = batches
      .slice(start, start + CONCURRENCY_MAX)
      .map((batchIds) => fetchBatch(context, batchIds, fieldBatch));
    for (const records of await Promise.all(fetches)) allRecords.push(...records);
  }
  return allRecords;
}

/** Joins the parts of each record. Omits a record that lacks a part, because it was deleted in the meantime. */
function joinParts(object: ObjectDeclaration, parts: ProviderRecord[][]): JoinedRecords {
  const [firstParts = [], ...otherParts] = parts;
  if (otherParts.length === 0) return { complete: firstParts, changedIds: [] };
  const indexes = otherParts.map((records) => new Map(records.map((part) => [part.id, part])));
  const joined: JoinedRecords = { complete: [], changedIds: [] };
  for (const record of firstParts) {
    const recordParts = indexes.map((index) => index.get(record.id));
    if (recordParts.includes(undefined)) continue;
    const time = readChangeTime(object, record.raw)?.getTime();
    const hasChanged = recordParts.some(
      (part) => part && readChangeTime(object, part.raw)?.getTime() !== time,
    );
    if (hasChanged) joined.changedIds.push(record.id);
    else joined.complete.push(recordParts.reduce(mergeParts, record) ?? record);
  }
  return joined;
}

function mergeParts(record: ProviderRecord, part: ProviderRecord | undefined): ProviderRecord {
  if (!part) return record;
  return {
    id: record.id,
    fields: { ...record.fields, ...part.fields },
    raw: mergeObjects(record.raw, part.raw),
  };
}

/** Merges objects at every depth, because vendors nest fields in maps. */
function mergeObjects(a: JsonObject, b: JsonObject): JsonObject {
  const merged = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const other = merged[name];
    merged[name] = isObject(other) && isObject(value) ? mergeObjects(other, value) : value;
  }
  return merged;
}

async function fetchBatch(
  context: FetchContext,
  ids: string[],
  fieldBatch: FieldBatch,
): Promise<ProviderRecord[]> {
  const { vendor, session, object, byIds, objectName, fields: allFields } = context;
  const [id = ''] = ids;
  const variables = { object: objectName, ...listIdVariables(object.id, id) };
  const response = await session.send(
    createRequest(vendor, byIds, { session, object, ids, variables, fieldBatch }),
  );
  const isSingle = byIds.ids === undefined;
  if (isSingle && isGone(response)) return [];
  if (!hasSucceeded(vendor, response)) throw createFailure(vendor, response);
  const { selectedFields } = byIds;
  const fields = listReturnedNames(selectedFields, allFields, fieldBatch);
  const objectVariables = { object: objectName };
  const recordContext = { fields, variables: objectVariables, selectedFields };
  const records = readReturnedRows(response, byIds)
    .filter((row) => byIds.deletionFlag === undefined || !findValue(row, byIds.deletionFlag))
    .map((raw) => toRecord(object, raw, recordContext))
    .flatMap((record) => nameAsRequested(context, record, ids));
  return readCutLists(vendor, session, { object, records, variables: objectVariables });
}

/**
 * Returns the record under its id as the request spells it. Throws BAD_REQUEST if a request for one id returned a record
 * with another id: the vendor found it by another key, or it replaces a merged record.
 */
function nameAsRequested(
  { vendor, byIds, omitsReplaced }: FetchContext,
  record: ProviderRecord,
  ids: string[],
): ProviderRecord[] {
  if (ids.includes(record.id)) return [record];
  const spellings = ids.filter((id) => isSameId(id, record.id));
  if (spellings.length > 0) return spellings.map((id) => ({ ...record, id }));
  if (byIds.ids || omitsReplaced) return [];
  const detail = `${vendor.displayName} returned the record ${record.id} for the id ${ids[0]}. Use the id ${record.id}.`;
  throw new ProviderError('BAD_REQUEST', truncateMessage(detail));
}

/** True if the ids differ at most in case and hyphens, as two spellings of a UUID do. */
function isSameId(a: string, b: string): boolean {
  const [first, second] = [a, b].map((id) => id.replaceAll('-', '').toLowerCase());
  return first === second;
}

function isGone({ status }: ProviderResponse): boolean {
  return status === 404 || status === 410;
}

interface RecordRequest {
  session: ProviderSession;
  object: ObjectDeclaration;
  ids: string[];
  variables: Record<string, string>;
  fieldBatch: FieldBatch;
}

function createRequest(
  { declaration }: Vendor,
  byIds: IdLookup,
  { session, object, ids, variables, fieldBatch }: RecordRequest,
): RequestDraft {
  const request = draftRequest(declaration, byIds, { variables, session });
  selectFields(request, byIds.selectedFields, fieldBatch);
  const { ids: idList } = byIds;
  const listedIds = ids.map((id) => getListedId(object, idList?.part, id));
  if (idList) setParameter(request, idList, idList.isList ? listedIds : listedIds.join(','));
  return request;
}

/** Returns the id, or the part of it that the request lists. */
function getListedId(
  { id: idDeclaration }: ObjectDeclaration,
  part: string | undefined,
  id: string,
) {
  return (part === undefined ? undefined : listIdVariables(idDeclaration, id)?.[part]) ?? id;
}

/**
 * Returns the records of the response. Some vendors return null for deleted records. Throws RETRYABLE for any other
 * response without a record, such as the error page of a proxy, because callers take a missing record for a deleted one.
 */
function readReturnedRows(
  response: ProviderResponse,
  { records, ids }: IdLookup,
): Record<string, unknown>[] {
  const value = findValue(response.body, records);
  if (ids === undefined && isObject(value)) return [value];
  if (ids !== undefined && Array.isArray(value)) return value.filter(isObject);
  if (value == null && isEmptyList(response, records)) return [];
  const expected = ids === undefined ? 'record' : 'list of records';
  throw new ProviderError('RETRYABLE', `The response has no ${expected}`, {
    status: response.status,
  });
}
