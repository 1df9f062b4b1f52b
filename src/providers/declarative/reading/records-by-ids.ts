/** Reads records by id. Events that do not contain their record need it. */
import type { ProviderResponse, ProviderSession } from '../../contract.ts';
import type { ProviderRecord, RecordsRead } from '../../moving-records.ts';
import { ProviderError } from '../../provider-error.ts';
import type { ObjectDeclaration } from '../declaration/declaration.ts';
import type { Fetching } from '../declaration/object-declaration.ts';
import { findObject } from '../describe-object.ts';
import { failure, hasSucceeded, type Vendor } from '../failure.ts';
import { isObject, valueAt } from '../json.ts';
import { idVariables } from '../record-id.ts';
import { fillJson, fillPath, fillQuery, fillTexts } from '../template.ts';
import { toRecord } from './list-page.ts';
import { fieldNames, type RequestDraft, setParameter } from './page-request.ts';

/** The maximum number of concurrent requests of one caller. */
const CONCURRENCY = 4;

/** Reads the records. Deleted ones are omitted. */
export async function readRecords(
  vendor: Vendor,
  session: ProviderSession,
  { objectName, fields, ids }: RecordsRead,
): Promise<ProviderRecord[]> {
  const object = findObject(vendor, objectName);
  const { byIds } = object;
  if (!byIds) {
    const detail = `${vendor.displayName} does not return ${objectName} by id`;
    throw new ProviderError('BAD_REQUEST', detail);
  }
  const size = byIds.ids?.max ?? 1;
  const parts = Array.from({ length: Math.ceil(ids.length / size) }, (_, n) =>
    ids.slice(n * size, (n + 1) * size),
  );
  const one = { vendor, session, object, byIds, objectName, fields };
  const found: ProviderRecord[] = [];
  for (let start = 0; start < parts.length; start += CONCURRENCY) {
    const some = parts.slice(start, start + CONCURRENCY).map((part) => fetchSome(one, part));
    for (const records of await Promise.all(some)) found.push(...records);
  }
  return found;
}

interface FetchContext extends Omit<RecordsRead, 'ids'> {
  vendor: Vendor;
  session: ProviderSession;
  object: ObjectDeclaration;
  byIds: Fetching;
}

async function fetchSome(
  { vendor, session, object, byIds, objectName, fields }: FetchContext,
  ids: string[],
): Promise<ProviderRecord[]> {
  const [id = ''] = ids;
  const variables = { object: objectName, ...idVariables(object.id, id) };
  const response = await session.send(
    requestFor(vendor, byIds, { session, ids, variables, fields }),
  );
  const isSingle = byIds.ids === undefined;
  if (isSingle && isGone(response)) return [];
  if (!hasSucceeded(vendor, response)) throw failure(vendor, response, 'READ');
  const read = { fields };
  return rowsIn(response, byIds)
    .filter((row) => byIds.gone === undefined || !valueAt(row, byIds.gone))
    .map((raw) => toRecord(object, raw, { read, variables: { object: objectName } }))
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

function requestFor(
  { declaration }: Vendor,
  byIds: Fetching,
  { session, ids, variables, fields }: RecordRequest,
): RequestDraft {
  const { method, path, query, body, ids: many, fields: selectedFields } = byIds;
  const page: RequestDraft = {
    method,
    path: fillPath(path, variables, session),
    query: fillQuery(query, variables, session),
    headers: fillTexts(declaration.headers, session),
    body: fillJson(body, variables),
  };
  if (selectedFields) setParameter(page, selectedFields, fieldNames(selectedFields, fields));
  if (many) {
    const named = ids.map((id) => many.template.replace('{id}', () => id));
    const text = () => named.join(many.separator);
    setParameter(page, many, many.isList ? named : many.wrap.replace('{ids}', text));
  }
  return page;
}

/** Returns the records of the response. Some vendors return null for deleted records. */
function rowsIn({ status, body }: ProviderResponse, { records, ids }: Fetching) {
  const found = valueAt(body, records);
  if (ids === undefined) return isObject(found) ? [found] : [];
  if (Array.isArray(found)) return found.filter(isObject);
  if (found == null && (isObject(body) || status === 204)) return [];
  throw new ProviderError('RETRYABLE', 'The response has no list of records', { status });
}
