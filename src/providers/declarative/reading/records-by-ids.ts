/** Reads records by id, for events that contain only the id of the changed record. */
import { isObject } from '../../../work/is-object.ts';
import type { ProviderResponse, ProviderSession } from '../../contract.ts';
import type { ProviderRecord, RecordsRead } from '../../moving-records.ts';
import { ProviderError } from '../../provider-error.ts';
import type { ObjectDeclaration } from '../declaration/declaration.ts';
import type { IdLookup } from '../declaration/object-declaration.ts';
import { createFailure, hasSucceeded } from '../failure.ts';
import { findValue } from '../json.ts';
import { listIdVariables } from '../record-id.ts';
import { getObject, type Vendor } from '../vendor.ts';
import { toRecord } from './list-page.ts';
import { draftRequest, formatFieldNames, type RequestDraft, setParameter } from './page-request.ts';

/** The maximum number of concurrent requests of one call. */
const CONCURRENCY_MAX = 4;

/** Reads the records, and omits deleted ones. Throws ProviderError if the provider cannot read by id, or if a request fails. */
export async function readRecords(
  vendor: Vendor,
  session: ProviderSession,
  { objectName, fields, ids }: RecordsRead,
): Promise<ProviderRecord[]> {
  const object = getObject(vendor, objectName);
  const { byIds } = object;
  if (!byIds) {
    const detail = `${vendor.displayName} does not return ${objectName} by id`;
    throw new ProviderError('BAD_REQUEST', detail);
  }
  const size = byIds.ids?.max ?? 1;
  const batches = Array.from({ length: Math.ceil(ids.length / size) }, (_, index) =>
    ids.slice(index * size, (index + 1) * size),
  );
  const context = { vendor, session, object, byIds, objectName, fields };
  const allRecords: ProviderRecord[] = [];
  for (let start = 0; start < batches.length; start += CONCURRENCY_MAX) {
    const fetches = batches
      .slice(start, start + CONCURRENCY_MAX)
      .map((batchIds) => fetchBatch(context, batchIds));
    for (const records of await Promise.all(fetches)) allRecords.push(...records);
  }
  return allRecords;
}

interface FetchContext extends Omit<RecordsRead, 'ids'> {
  vendor: Vendor;
  session: ProviderSession;
  object: ObjectDeclaration;
  byIds: IdLookup;
}

async function fetchBatch(
  { vendor, session, object, byIds, objectName, fields }: FetchContext,
  ids: string[],
): Promise<ProviderRecord[]> {
  const [id = ''] = ids;
  const variables = { object: objectName, ...listIdVariables(object.id, id) };
  const response = await session.send(
    createRequest(vendor, byIds, { session, ids, variables, fields }),
  );
  const isSingle = byIds.ids === undefined;
  if (isSingle && isGone(response)) return [];
  if (!hasSucceeded(vendor, response)) throw createFailure(vendor, response, 'READ');
  return readReturnedRows(response, byIds)
    .filter((row) => byIds.deletionFlag === undefined || !findValue(row, byIds.deletionFlag))
    .map((raw) => toRecord(object, raw, { read: { fields }, variables: { object: objectName } }))
    .filter((record) => ids.includes(record.id));
}

function isGone({ status }: ProviderResponse): boolean {
  return status === 404 || status === 410;
}

interface RecordRequest {
  session: ProviderSession;
  ids: string[];
  variables: Record<string, string>;
  fields: string[];
}

function createRequest(
  { declaration }: Vendor,
  byIds: IdLookup,
  { session, ids, variables, fields }: RecordRequest,
): RequestDraft {
  const { ids: idList, selectedFields } = byIds;
  const request = draftRequest(declaration, byIds, { variables, session });
  if (selectedFields) {
    setParameter(request, selectedFields, formatFieldNames(selectedFields, fields));
  }
  if (idList) {
    setParameter(request, idList, idList.isList ? ids : ids.join(','));
  }
  return request;
}

/** Returns the records of the response. Some vendors return null for deleted records. */
function readReturnedRows(
  { status, body }: ProviderResponse,
  { records, ids }: IdLookup,
): Record<string, unknown>[] {
  const value = findValue(body, records);
  if (ids === undefined) return isObject(value) ? [value] : [];
  if (Array.isArray(value)) return value.filter(isObject);
  if (value == null && (isObject(body) || status === 204)) return [];
  throw new ProviderError('RETRYABLE', 'The response has no list of records', { status });
}
