import type { ServedRequest } from '../../../providers/provider-server.ts';
import { BadRequest, byCursor, type Page } from '../../paging.ts';
import {
  BEARER,
  isObject,
  plainChange,
  seconds,
  shownTime,
  tooLong,
  type WireVendor,
} from '../../terms.ts';
import type { StoredRecord } from '../../vendor-store.ts';

const SIZE = { name: 'per_page', fallback: 50, max: 150 };
const page = byCursor(SIZE, 'starting_after');

/** A search has its paging in the body. */
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

function conditionsIn({ body }: ServedRequest): Condition[] {
  const query = isObject(body) ? body.query : undefined;
  if (!isObject(query) || query.operator !== 'AND' || !Array.isArray(query.value)) {
    throw new BadRequest('The query must be AND of conditions');
  }
  if (query.value.length === 0) throw new BadRequest('The query has no conditions');
  return query.value as Condition[];
}

function holds(record: StoredRecord, { field, operator, value }: Condition): boolean {
  if (operator === '=') return record.values[field] === value;
  const time = shownTime(record) / 1000;
  if (field !== 'updated_at' || typeof value !== 'number') throw new BadRequest('Not a condition');
  if (operator === '>') return time > value;
  if (operator === '<') return time < value;
  throw new BadRequest(`${operator} is not an operator of dates`);
}

const response = (data: unknown[], { next, total }: { next: string | null; total: number }) => ({
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
    idOf: (n) => `6762f0${n.toString(16).padStart(18, '0')}`,
    headers: { ...BEARER },
    contentType: 'application/json',
    invalidStatus: 400,
    refusal: (_status, message) => ({
      type: 'error.list',
      request_id: 'r1',
      errors: [{ code: 'parameter_invalid', message }],
    }),
    problemWith: tooLong('name'),
    object: {
      show: ({ id, changedAt, values }) => ({
        type: 'contact',
        id,
        ...values,
        updated_at: seconds(changedAt),
      }),
      lists: [
        { path: '/contacts', order: 'made', page, answer: response },
        {
          method: 'POST',
          path: '/contacts/search',
          order: 'made',
          filter: (records, request) => {
            const conditions = conditionsIn(request);
            return records.filter((record) =>
              conditions.every((condition) => holds(record, condition)),
            );
          },
          page: searchPage,
          answer: response,
        },
      ],
      one: { path: '/contacts/:id', answer: (record) => record },
      create: plainChange('POST', '/contacts', 200),
      update: plainChange('PUT', '/contacts/:id', 200),
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
