import type { ServedRequest } from '../../../providers/provider-server.ts';
import { BadRequest, byCursor, type Page } from '../../paging.ts';
import type { WireOrder } from '../../vendor-server.ts';
import type { StoredRecord } from '../../vendor-store.ts';
import {
  BEARER,
  createLengthCheck,
  createPlainChange,
  isObject,
  roundToSecond,
  toSeconds,
  type WireVendor,
} from '../../wire-format.ts';

const SIZE = { name: 'per_page', fallback: 50, max: 150 };
const page = byCursor(SIZE, 'starting_after');

/** The parameters of a search's page are in the body. */
const searchPage: Page = (records, request, url) => {
  const { body } = request;
  const pagination = isObject(body) && isObject(body.pagination) ? body.pagination : {};
  const query = new URLSearchParams(
    Object.entries(pagination).map(([name, value]) => [name, String(value)]),
  );
  return page(records, { ...request, query }, url);
};

interface Condition {
  field: string;
  operator: string;
  value: unknown;
}

function readConditions({ body }: ServedRequest): Condition[] {
  const query = isObject(body) ? body.query : undefined;
  if (!isObject(query) || query.operator !== 'AND' || !Array.isArray(query.value)) {
    throw new BadRequest('The query must be AND of conditions');
  }
  if (query.value.length === 0) throw new BadRequest('The query has no conditions');
  return query.value as Condition[];
}

const DAY_SECONDS = 86_400;

/** Compares times by their day in UTC, as the search of contacts does. */
function matchesCondition(record: StoredRecord, { field, operator, value }: Condition): boolean {
  if (operator === '=') return record.values[field] === value;
  if (field !== 'updated_at' || typeof value !== 'number') throw new BadRequest('Not a condition');
  const day = Math.floor(roundToSecond(record) / 1000 / DAY_SECONDS);
  const conditionDay = Math.floor(value / DAY_SECONDS);
  if (operator === '>') return day > conditionDay;
  if (operator === '<') return day < conditionDay;
  throw new BadRequest(`${operator} is not an operator of dates`);
}

function readOrder({ body }: ServedRequest): WireOrder {
  const sort = isObject(body) && isObject(body.sort) ? body.sort : {};
  if (sort.field !== 'updated_at') return 'created';
  return sort.order === 'descending' ? 'newestChange' : 'oldestChange';
}

const toBody = (data: unknown[], { next, total }: { next: string | null; total: number }) => ({
  type: 'list',
  data,
  total_count: total,
  pages: {
    type: 'pages',
    page: 1,
    ...(next !== null && { next: { page: 2, starting_after: next } }),
  },
});

export const intercom: WireVendor = {
  objectName: 'contacts',
  textField: 'name',
  missingId: '6762f0000000000000ffffff',
  fixture: {
    createId: (n) => `6762f0${n.toString(16).padStart(18, '0')}`,
    headers: { ...BEARER },
    toErrorBody: (_status, message) => ({
      type: 'error.list',
      request_id: 'r1',
      errors: [{ code: 'parameter_invalid', message }],
    }),
    findValueError: createLengthCheck('name'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        type: 'contact',
        id,
        ...values,
        updated_at: toSeconds(changedAt),
      }),
      lists: [
        { path: '/contacts', order: 'created', page, toBody },
        {
          method: 'POST',
          path: '/contacts/search',
          order: readOrder,
          filter: (records, request) => {
            const conditions = readConditions(request);
            return records.filter((record) =>
              conditions.every((condition) => matchesCondition(record, condition)),
            );
          },
          page: searchPage,
          toBody,
        },
      ],
      fetchOne: { path: '/contacts/:id', toBody: (record) => record },
      create: createPlainChange('POST', '/contacts', 200),
      update: createPlainChange('PUT', '/contacts/:id', 200),
      remove: {
        method: 'DELETE',
        path: '/contacts/:id',
        status: 200,
        body: { type: 'contact', deleted: true },
      },
      fields: {
        path: '/data_attributes',
        query: { model: 'contact' },
        body: {
          type: 'list',
          data: [
            {
              name: 'name',
              full_name: 'name',
              label: 'Name',
              data_type: 'string',
              api_writable: true,
              custom: false,
            },
            {
              name: 'plan',
              full_name: 'custom_attributes.plan',
              label: 'Plan',
              data_type: 'string',
              api_writable: true,
              custom: true,
            },
          ],
        },
      },
    },
  },
};
