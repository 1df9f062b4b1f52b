/**
 * Parses the SOQL that the connector sends: columns of one object, with conditions on SystemModstamp, IDs or
 * field values.
 */
import type { ServedResponse } from './provider-server.ts';
import {
  type SalesforceField,
  type SalesforceObject,
  type SalesforceRecord,
  SalesforceRefusal,
  type SalesforceStore,
} from './salesforce-store.ts';

const API_PATH = '/services/data/v60.0';
const SMALLEST_PAGE = 200;
const LARGEST_PAGE = 2_000;

type Row = Record<string, unknown>;

/** A user has this many open queries. A further one closes the oldest. */
const OPEN_QUERIES_MAX = 10;

/** Runs queries, and keeps their rows for later pages. */
export class SalesforceQueries {
  readonly #store: SalesforceStore;
  readonly #rows: (Row[] | undefined)[] = [];
  /** The maximum number of rows on a page. Salesforce lowers it if rows are large. */
  pageRowsMax = LARGEST_PAGE;

  constructor(store: SalesforceStore) {
    this.#store = store;
  }

  start(soql: string, options: string | undefined): ServedResponse {
    const rows = runQuery(this.#store, soql);
    const number = this.#rows.push(rows) - 1;
    this.#rows[number - OPEN_QUERIES_MAX] = undefined;
    return this.#page(number, 0, options);
  }

  /** Returns the next page. The locator is `01g<number>-<number of earlier rows>`. */
  continue(locator: string, options: string | undefined): ServedResponse {
    const [, number, start] = /^01g(\d+)-(\d+)$/.exec(locator) ?? [];
    if (!this.#rows[Number(number)]) {
      throw new SalesforceRefusal(400, 'INVALID_QUERY_LOCATOR', 'invalid query locator');
    }
    return this.#page(Number(number), Number(start), options);
  }

  #page(number: number, start: number, options: string | undefined): ServedResponse {
    const rows = this.#rows[number] ?? [];
    const end = start + Math.min(parsePageSize(options), this.pageRowsMax);
    const done = end >= rows.length;
    return {
      status: 200,
      body: {
        totalSize: rows.length,
        done,
        ...(!done && { nextRecordsUrl: `${API_PATH}/query/01g${number}-${end}` }),
        records: rows.slice(start, end),
      },
    };
  }
}

function parsePageSize(options = `batchSize=${LARGEST_PAGE}`): number {
  const size = Number(/^batchSize=(\d+)$/.exec(options)?.[1]);
  if (size >= SMALLEST_PAGE && size <= LARGEST_PAGE) return size;
  throw new SalesforceRefusal(400, 'INVALID_QUERY_OPTIONS', `invalid batch size: ${options}`);
}

function runQuery(store: SalesforceStore, soql: string): Row[] {
  const [, columns = '', name = '', where] =
    /^SELECT ([\w.,]+) FROM (\w+)(?: WHERE (.+))?$/.exec(soql) ?? [];
  if (columns === '') {
    throw new SalesforceRefusal(400, 'MALFORMED_QUERY', `unexpected token: ${soql}`);
  }
  const object = store.findObject(name);
  if (!object) {
    throw new SalesforceRefusal(400, 'INVALID_TYPE', `sObject type '${name}' is not supported.`);
  }
  const selections = columns.split(',').map((column) => parseColumn(store, object, column));
  const conditions = where?.split(' AND ').map((text) => parseCondition(object, text)) ?? [];
  return store
    .listRecords(name)
    .filter((record) => conditions.every((matches) => matches(record)))
    .map((record) => toRow(object, record, selections));
}

type Selection = (record: SalesforceRecord) => [name: string, value: unknown];

/** Selects `Name`, or `Account.Name`, a field of the record that `AccountId` references. */
function parseColumn(store: SalesforceStore, object: SalesforceObject, column: string): Selection {
  const [name = '', parentColumn] = column.split('.');
  const parent = parentColumn === undefined ? undefined : findField(object, `${name}Id`);
  const parentObject = parent && store.findObject(parent.referenceTo[0] ?? '');
  if (parentObject && parentColumn !== undefined) {
    const selection = parseColumn(store, parentObject, parentColumn);
    return (record) => {
      const parentRecord = store
        .listRecords(parentObject.name)
        .find(({ Id }) => Id === record[parent.name]);
      return [
        parent.name.slice(0, -2),
        parentRecord ? toRow(parentObject, parentRecord, [selection]) : null,
      ];
    };
  }
  const field = parentColumn === undefined ? findField(object, name) : undefined;
  if (field) return (record) => [field.name, record[field.name] ?? null];
  const message = `No such column '${column}' on entity '${object.name}'.`;
  throw new SalesforceRefusal(400, 'INVALID_FIELD', message);
}

function findField({ fields }: SalesforceObject, name: string): SalesforceField | undefined {
  return fields.find((field) => field.name.toLowerCase() === name.toLowerCase());
}

function parseCondition(
  object: SalesforceObject,
  text: string,
): (record: SalesforceRecord) => boolean {
  const [, field, literal] = /^(\w+) = (.+)$/s.exec(text) ?? [];
  if (field !== undefined && literal !== undefined) {
    const value = parseLiteral(literal);
    const name = findField(object, field)?.name ?? field;
    return (record) => record[name] === value;
  }
  const [, idList] = /^Id IN \(('\w{15,18}'(?:,'\w{15,18}')*)\)$/.exec(text) ?? [];
  if (idList !== undefined) {
    const ids = new Set(idList.split(',').map((id) => id.slice(1, 16)));
    return ({ Id }) => ids.has(Id.slice(0, 15));
  }
  const [, operator, time = ''] = /^SystemModstamp (>=|<=) (\S+Z)$/.exec(text) ?? [];
  const bound = Date.parse(time);
  if (operator === '>=') return (record) => Date.parse(record.SystemModstamp) >= bound;
  if (operator === '<=') return (record) => Date.parse(record.SystemModstamp) <= bound;
  throw new SalesforceRefusal(400, 'MALFORMED_QUERY', `unexpected token: ${text}`);
}

/** Parses a quoted text with escapes, a number or a boolean. */
function parseLiteral(literal: string): unknown {
  const [, quoted] = /^'((?:[^'\\]|\\.)*)'$/s.exec(literal) ?? [];
  return quoted === undefined ? JSON.parse(literal) : quoted.replaceAll(/\\(.)/gs, '$1');
}

function toRow({ name }: SalesforceObject, record: SalesforceRecord, selections: Selection[]): Row {
  const url = `${API_PATH}/sobjects/${name}/${record.Id}`;
  const values = selections.map((select) => select(record));
  return { attributes: { type: name, url }, ...Object.fromEntries(values) };
}
