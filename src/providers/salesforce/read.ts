/** Reads record pages by SOQL. Salesforce's query locator is the cursor. */
import type { ProviderRequest, ProviderSession } from '../contract.ts';
import type { PageRead, ProviderRecord, RecordPage, RecordsRead } from '../moving-records.ts';
import { ProviderError } from '../provider-error.ts';
import { parseResponse } from '../read-responses.ts';
import { requireSuccess } from './failure.ts';
import { checkObjectName, parseFieldPath, toRecordId } from './object-names.ts';
import { paths } from './paths.ts';
import { nextRecordsPath, type QueryRow, queryResponse } from './wire.ts';

/** The permitted page sizes. Pages may be smaller if rows are large. */
const PAGE_SIZE_MIN = 200;
const PAGE_SIZE_MAX = 2_000;
/** The length of a short id. A long id has three more characters. Salesforce accepts and returns both. */
const SHORT_ID_LENGTH = 15;

export async function readPage(session: ProviderSession, read: PageRead): Promise<RecordPage> {
  const size = Math.min(Math.max(read.pageSize, PAGE_SIZE_MIN), PAGE_SIZE_MAX);
  const response = await session.send({
    ...createPageRequest(read),
    headers: { 'sforce-query-options': `batchSize=${size}` },
  });
  const body = parseResponse(queryResponse, requireSuccess(response), 'READ');
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
  const response = await session.send({ method: 'GET', path: paths.query, query: { q: soql } });
  const { records } = parseResponse(queryResponse, requireSuccess(response), 'READ');
  const fieldPaths = fields.map((field): [string, string[]] => [field, parseFieldPath(field)]);
  const rows = new Map(records.map((row) => [row.Id.slice(0, SHORT_ID_LENGTH), row]));
  return validIds.flatMap((id) => {
    const row = rows.get(id.slice(0, SHORT_ID_LENGTH));
    return row ? { ...toRecord(row, fieldPaths), id } : [];
  });
}

function createPageRequest(read: PageRead): ProviderRequest {
  if (read.cursor === undefined) {
    return { method: 'GET', path: paths.query, query: { q: formatSoql(read) } };
  }
  const path = nextRecordsPath.safeParse(read.cursor);
  if (path.success) return { method: 'GET', path: path.data };
  throw new ProviderError('CURSOR_GONE', 'The cursor does not belong to this read');
}

/**
 * Builds the query. It contains no unchecked input: names are validated, strings are quoted, and times are formatted
 * here.
 */
function formatSoql({ objectName, fields, since, until, filters = [] }: PageRead): string {
  const conditions = [
    since && `SystemModstamp > ${since.toISOString()}`,
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
