import type { ServedRequest } from '../../../providers/provider-server.ts';
import { BadRequest, byCursor, type Page } from '../../paging.ts';
import type { StoredRecord } from '../../vendor-store.ts';
import {
  BEARER,
  createLengthCheck,
  isObject,
  readMembers,
  toQuery,
  type Values,
  type WireVendor,
} from '../../wire-format.ts';

const page = byCursor({ name: 'limit', fallback: 100, max: 100 }, 'cursor');

/** The parameters of a search's page are in the body. */
const searchPage: Page = (records, request, url) =>
  page(records, { ...request, query: toQuery(readBody(request)) }, url);

function readBody({ body, headers }: ServedRequest): Values {
  if (headers['square-version'] !== '2025-08-20') throw new BadRequest('No such version');
  if (isObject(body)) return body;
  throw new BadRequest('The body must be an object');
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function parseTime(text: unknown): number | null {
  if (text === undefined) return null;
  if (typeof text === 'string' && RFC_3339.test(text)) return Date.parse(text);
  throw new BadRequest('Expected an RFC 3339 time');
}

/** True if the record matches a condition: a range of times without its bounds, or an exact text. */
function matchesCondition(record: StoredRecord, name: string, condition: unknown): boolean {
  if (!isObject(condition)) throw new BadRequest(`${name} must be an object`);
  if (name === 'updated_at') {
    const [start, end] = [parseTime(condition.start_at), parseTime(condition.end_at)];
    const changeTime = record.changedAt.getTime();
    return (start === null || changeTime > start) && (end === null || changeTime < end);
  }
  if (!['email_address', 'phone_number', 'reference_id'].includes(name)) {
    throw new BadRequest(`Unrecognized field ${name}`);
  }
  return record.values[name] === condition.exact;
}

function searchRecords(records: StoredRecord[], request: ServedRequest): StoredRecord[] {
  const { query } = readBody(request);
  const { filter = {}, sort } = isObject(query) ? query : {};
  if (!isObject(filter)) throw new BadRequest('filter must be an object');
  const isSorted = isObject(sort) && sort.field === 'CREATED_AT' && sort.order === 'ASC';
  if (!isSorted) throw new BadRequest('This server sorts only by the time of creation');
  return records.filter((record) =>
    Object.entries(filter).every(([name, condition]) => matchesCondition(record, name, condition)),
  );
}

const toBody = (customer: Values) => ({ customer });

/** A search of customers is a POST. The response omits an empty list. */
export const square: WireVendor = {
  objectName: 'customers',
  textField: 'reference_id',
  missingId: 'JDKYHBWT1D4F8MFH63DBMEN8Y0',
  requiredValues: { given_name: 'Ada' },
  fixture: {
    createId: (n) => `JDKYHBWT1D4F8MFH63DB${String(n).padStart(6, '0')}`,
    headers: BEARER,
    toErrorBody: (_status, detail) => ({
      errors: [{ category: 'INVALID_REQUEST_ERROR', code: 'BAD_REQUEST', detail }],
    }),
    findValueError: createLengthCheck('reference_id'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        id,
        created_at: '2026-01-01T00:00:00.000Z',
        updated_at: changedAt.toISOString(),
        ...values,
        version: 0,
      }),
      lists: [
        {
          method: 'POST',
          path: '/v2/customers/search',
          order: 'created',
          filter: searchRecords,
          page: searchPage,
          toBody: (customers, { next }) => ({
            ...(customers.length > 0 && { customers }),
            ...(next !== null && { cursor: next }),
          }),
        },
      ],
      fetchOne: { path: '/v2/customers/:id', toBody },
      create: {
        method: 'POST',
        path: '/v2/customers',
        status: 200,
        readValues: readMembers(null),
        toBody,
      },
      update: {
        method: 'PUT',
        path: '/v2/customers/:id',
        status: 200,
        readValues: readMembers(null),
        toBody,
      },
      remove: { method: 'DELETE', path: '/v2/customers/:id', status: 200, body: {} },
    },
  },
};
