/** Reads record pages by SOQL. Salesforce's query locator is the cursor. */
import type { ProviderResponse, ProviderSession } from '../contract.ts';
import type { PageRead, ProviderRecord, RecordPage, RecordsRead } from '../moving-records.ts';
import { checkCursor } from '../page-guard.ts';
import { ProviderError } from '../provider-error.ts';
import { isSuccess, parseResponse } from '../read-responses.ts';
import { createFailure, requireSuccess } from './failure.ts';
import { checkObjectName, parseFieldPath, toRecordId } from './object-names.ts';
import { sendQuery } from './query.ts';
import { nextRecordsPath, type QueryRow, queryResponse } from './wire.ts';

/** The permitted page sizes. Pages may be smaller if rows are large. */
const PAGE_SIZE_MIN = 200;
const PAGE_SIZE_MAX = 2_000;
/** The length of a short id. A long id has three more characters. Salesforce accepts and returns both. */
const SHORT_ID_LENGTH = 15;

export async function readPage(session: ProviderSession, read: PageRead): Promise<RecordPage> {
  const size = Math.min(Math.max(read.pageSize, PAGE_SIZE_MIN), PAGE_SIZE_MAX);
  const response = await requestPage(session, read, {
    'sforce-query-options': `batchSize=${size}`,
  });
  const body = parseResponse(queryResponse, response, 'READ');
  const fieldPaths = read.fields.map((field): [string, string[]] => [field, parseFieldPath(field)]);
  return {
    records: body.records.map((row) => toRecord(row, fieldPaths)),
    nextCursor: body.done ? null : body.nextRecordsUrl,
    estimatedTotal: body.totalSize,
  };
}

export async function readRecords(
  session: ProviderSession,
  { objectName, fields, ids }: RecordsRead,
): Promise<ProviderRecord[]> {
  const validIds = ids.filter((id) => toRecordId(id) !== null);
  if (validIds.length === 0) return [];
  const quotedIds = validIds.map((id) => `'${id}'`).join(',');
  const soql = `SELECT ${formatColumns(fields)} FROM ${checkObjectName(objectName)} WHERE Id IN (${quotedIds})`;
  const foundRows = await queryAllRows(session, soql);
  const fieldPaths = fields.map((field): [string, string[]] => [field, parseFieldPath(field)]);
  const rows = new Map(foundRows.map((row) => [row.Id.slice(0, SHORT_ID_LENGTH), row]));
  return validIds.flatMap((id) => {
    const row = rows.get(id.slice(0, SHORT_ID_LENGTH));
    return row ? { ...toRecord(row, fieldPaths), id } : [];
  });
}

/** Returns the rows of all pages. Salesforce returns few rows on a page if they are large. */
async function queryAllRows(session: ProviderSession, soql: string): Promise<QueryRow[]> {
  const rows: QueryRow[] = [];
  let response = await sendQuery(session, soql);
  let mark: string | null = null;
  for (let pagesRead = 1; ; pagesRead += 1) {
    const page = parseResponse(queryResponse, requireSuccess(response), 'READ');
    rows.push(...page.records);
    if (page.done) return rows;
    mark = checkCursor(page.nextRecordsUrl, { mark, pagesRead });
    response = await session.send({ method: 'GET', path: page.nextRecordsUrl });
  }
}

/** Requests the first page by a query, and later pages by the locator that the previous page returned. */
async function requestPage(
  session: ProviderSession,
  read: PageRead,
  headers: Record<string, string>,
): Promise<ProviderResponse> {
  if (read.cursor === undefined)
    return requireSuccess(await sendQuery(session, formatSoql(read), headers));
  const path = nextRecordsPath.safeParse(read.cursor);
  if (!path.success) throw createCursorError('The cursor does not belong to this read');
  const response = await session.send({ method: 'GET', path: path.data, headers });
  if (isSuccess(response)) return response;
  const failure = createFailure(response);
  // The object exists, because the query has returned a page of it.
  throw failure.kind === 'MISSING_OBJECT' ? createCursorError(failure.message) : failure;
}

function createCursorError(message: string): ProviderError {
  return new ProviderError('CURSOR_GONE', message);
}

/**
 * Builds the query. It contains no unchecked input: names are validated, strings are quoted, and times are formatted
 * here.
 */
function formatSoql({ objectName, fields, since, until, filters = [] }: PageRead): string {
  const conditions = [
    since && `SystemModstamp >= ${since.toISOString()}`,
    until && `SystemModstamp <= ${until.toISOString()}`,
    ...filters.map(
      ({ fieldName, value }) => `${parseFieldPath(fieldName).join('.')} = ${formatLiteral(value)}`,
    ),
  ].filter((condition) => condition !== undefined);
  const where = conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : '';
  return `SELECT ${formatColumns(fields)} FROM ${checkObjectName(objectName)}${where}`;
}

function formatColumns(fields: readonly string[]): string {
  const columns = ['Id', ...fields.map((field) => parseFieldPath(field).join('.'))];
  // SOQL refuses duplicate columns. Names are case-insensitive.
  return [...new Map(columns.map((column) => [column.toLowerCase(), column])).values()].join();
}

/** A backslash escapes the next character of a string. */
function formatLiteral(value: string | number | boolean): string {
  return typeof value === 'string' ? `'${value.replaceAll(/[\\']/g, '\\$&')}'` : String(value);
}

function toRecord(
  row: QueryRow,
  fieldPaths: [fieldName: string, steps: string[]][],
): ProviderRecord {
  const values = indexByLowerCase(row);
  const fields = fieldPaths.map(([fieldName, steps]) => [fieldName, findValue(values, steps)]);
  return { id: row.Id, fields: Object.fromEntries(fields), raw: row };
}

/** Salesforce returns names in its own spelling, whatever the spelling of the request. */
function indexByLowerCase(row: object): Map<string, unknown> {
  return new Map(Object.entries(row).map(([name, value]) => [name.toLowerCase(), value]));
}

function findValue(values: Map<string, unknown>, [name = '', ...path]: string[]): unknown {
  const value = values.get(name.toLowerCase()) ?? null;
  if (path.length === 0) return value;
  return typeof value === 'object' && value !== null
    ? findValue(indexByLowerCase(value), path)
    : null;
}
