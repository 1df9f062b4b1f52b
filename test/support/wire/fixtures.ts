/**
 * Vendors' wire formats, written from their own published descriptions: what a list looks like, how it
 * pages and filters, what a write takes and answers, and how errors are worded.
 */
import { BadRequest, byAddress, byCursor, byLastId, byLink, byPage } from './paging.ts';
import type { VendorFixture, WireChange } from './vendor-server.ts';
import type { StoredRecord } from './vendor-store.ts';

const TOKEN = 'vendor-token';
const BEARER = { authorization: `Bearer ${TOKEN}` };
export const SECRET = TOKEN;

type Values = Record<string, unknown>;

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of a body, which must lie under `name` where there is one. */
function membersOf(name: string | null): WireChange['valuesIn'] {
  return (body) => {
    const found = name === null ? body : isObject(body) ? body[name] : undefined;
    if (isObject(found)) return found;
    throw new BadRequest(name === null ? 'The body must be an object' : `${name} is missing`);
  };
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

function isoSeconds(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

function timeIn(query: URLSearchParams, name: string): Date | null {
  const text = query.get(name);
  if (text === null) return null;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)) {
    throw new BadRequest(`${name} must be an RFC 3339 time`);
  }
  return new Date(text);
}

function unixIn(query: URLSearchParams, name: string): Date | null {
  const text = query.get(name);
  if (text === null) return null;
  if (!/^\d{9,10}(\.\d{1,3})?$/.test(text)) throw new BadRequest(`${name} must be unix seconds`);
  return new Date(Number(text) * 1000);
}

/** Vendors compare what they show: times cut to the second. */
function shownTime({ changedAt }: StoredRecord): number {
  return seconds(changedAt) * 1000;
}

const TOO_LONG = 'is too long';
function tooLong(field: string) {
  return (values: Values) =>
    String(values[field] ?? '').length > 200 ? `${field} ${TOO_LONG}` : null;
}

export const pipedriveWire: VendorFixture = {
  idOf: (n) => n,
  headers: BEARER,
  contentType: 'application/json',
  invalidStatus: 400,
  refusal: (status, message) => ({
    success: false,
    error: message,
    error_info: 'Please check developers.pipedrive.com for more information.',
    code: `ERR_${status}`,
  }),
  problemWith: tooLong('title'),
  object: {
    show: ({ id, changedAt, values }) => ({
      id,
      ...values,
      update_time: isoSeconds(changedAt),
      custom_fields: isObject(values.custom_fields) ? values.custom_fields : {},
    }),
    lists: [
      {
        path: '/api/v2/deals',
        order: 'oldestChange',
        filter: (records, { query }) => {
          const [since, until] = [timeIn(query, 'updated_since'), timeIn(query, 'updated_until')];
          return records.filter(
            (record) =>
              (!since || shownTime(record) >= since.getTime()) &&
              (!until || shownTime(record) < until.getTime()),
          );
        },
        page: byCursor({ name: 'limit', fallback: 100, max: 500 }, 'cursor'),
        answer: (shown, { next }) => ({
          success: true,
          data: shown,
          additional_data: { next_cursor: next },
        }),
      },
    ],
    create: {
      method: 'POST',
      path: '/api/v2/deals',
      status: 200,
      valuesIn: membersOf(null),
      answer: (data) => ({ success: true, data }),
    },
    update: {
      method: 'PATCH',
      path: '/api/v2/deals/:id',
      status: 200,
      valuesIn: membersOf(null),
      answer: (data) => ({ success: true, data }),
    },
    remove: { method: 'DELETE', path: '/api/v2/deals/:id', status: 200, body: { success: true } },
    fields: {
      path: '/api/v2/dealFields',
      body: {
        success: true,
        data: [
          {
            field_code: 'title',
            field_name: 'Title',
            field_type: 'varchar',
            is_custom_field: false,
          },
          {
            field_code: 'status',
            field_name: 'Status',
            field_type: 'enum',
            is_custom_field: false,
            options: [{ id: 'open', label: 'Open' }],
          },
        ],
        additional_data: { next_cursor: null },
      },
    },
  },
};

export const salesloftWire: VendorFixture = {
  idOf: (n) => 1000 + n,
  headers: BEARER,
  contentType: 'application/json',
  invalidStatus: 422,
  refusal: (status, message) =>
    status === 422 ? { errors: { first_name: [message] } } : { error: message },
  problemWith: tooLong('first_name'),
  object: {
    show: ({ id, changedAt, values }) => ({
      id,
      ...values,
      updated_at: changedAt.toISOString().replace('Z', '000Z'),
    }),
    lists: [
      {
        path: '/v2/people',
        order: 'oldestChange',
        filter: (records, { query }) => {
          const since = timeIn(query, 'updated_at[gte]');
          return records.filter(({ changedAt }) => !since || changedAt >= since);
        },
        page: byPage({ name: 'per_page', fallback: 25, max: 100 }, 'page'),
        answer: (shown, { next }) => ({
          metadata: { paging: { next_page: next === null ? null : Number(next) } },
          data: shown,
        }),
      },
    ],
    create: {
      method: 'POST',
      path: '/v2/people',
      status: 200,
      valuesIn: membersOf(null),
      answer: (data) => ({ data }),
    },
    update: {
      method: 'PUT',
      path: '/v2/people/:id',
      status: 200,
      valuesIn: membersOf(null),
      answer: (data) => ({ data }),
    },
    remove: { method: 'DELETE', path: '/v2/people/:id', status: 204 },
  },
};

export const frontWire: VendorFixture = {
  idOf: (n) => `crd_${n.toString(36)}`,
  headers: BEARER,
  contentType: 'application/json',
  invalidStatus: 400,
  refusal: (status, message) => ({
    _error: { status, title: 'Bad request', message, details: [] },
  }),
  problemWith: tooLong('name'),
  object: {
    show: ({ id, changedAt, values }) => ({
      _links: { self: `https://api2.frontapp.com/contacts/${id}` },
      id,
      ...values,
      updated_at: changedAt.getTime() / 1000,
    }),
    lists: [
      {
        path: '/contacts',
        order: 'oldestChange',
        filter: (records, { query }) => {
          const [since, until] = [
            unixIn(query, 'q[updated_after]'),
            unixIn(query, 'q[updated_before]'),
          ];
          return records.filter(
            ({ changedAt }) => (!since || changedAt > since) && (!until || changedAt < until),
          );
        },
        page: byAddress(
          byCursor({ name: 'limit', fallback: 50, max: 100 }, 'page_token'),
          'page_token',
        ),
        answer: (shown, { next }) => ({ _pagination: { next }, _results: shown }),
      },
    ],
    create: {
      method: 'POST',
      path: '/contacts',
      status: 201,
      valuesIn: membersOf(null),
      answer: (record) => record,
    },
    update: {
      method: 'PATCH',
      path: '/contacts/:id',
      status: 204,
      valuesIn: membersOf(null),
      answer: () => undefined,
    },
    remove: { method: 'DELETE', path: '/contacts/:id', status: 204 },
  },
};

export const zendeskWire: VendorFixture = {
  idOf: (n) => 35436000 + n,
  headers: BEARER,
  contentType: 'application/json',
  invalidStatus: 422,
  refusal: (status, message) =>
    status === 422
      ? {
          error: 'RecordInvalid',
          description: 'Record validation errors',
          details: { subject: [{ description: `Subject: ${message}` }] },
        }
      : { error: { title: 'Error', message } },
  problemWith: tooLong('subject'),
  object: {
    show: ({ id, changedAt, values }) => ({ id, ...values, updated_at: isoSeconds(changedAt) }),
    lists: [
      {
        path: '/api/v2/tickets',
        order: 'made',
        page: byCursor({ name: 'page[size]', fallback: 100, max: 100 }, 'page[after]'),
        answer: (shown, { next }) => ({
          tickets: shown,
          // The last page has a cursor too.
          meta: { has_more: next !== null, after_cursor: next ?? 'c_0', before_cursor: null },
        }),
      },
      {
        path: '/api/v2/incremental/tickets/cursor',
        order: 'oldestChange',
        filter: (records, { query }) => {
          const cursor = query.get('cursor');
          const start = unixIn(query, 'start_time') ?? sinceOf(cursor);
          if (!start) throw new BadRequest('start_time is missing');
          return records.filter((record) => shownTime(record) >= start.getTime());
        },
        page: (records, request, url) => {
          const { query } = request;
          const start = query.get('start_time') ?? query.get('cursor')?.split('~')[1] ?? '';
          const place = query.get('cursor')?.split('~')[0];
          const inner = new URLSearchParams(query);
          if (place) inner.set('cursor', place);
          const page = byCursor({ name: 'per_page', fallback: 1000, max: 1000 }, 'cursor');
          const found = page(records, { ...request, query: inner }, url);
          return { ...found, next: found.next && `${found.next}~${start}` };
        },
        answer: (shown, { next }) => ({
          tickets: shown,
          after_cursor: next ?? 'c_0~0',
          end_of_stream: next === null,
        }),
      },
    ],
    create: {
      method: 'POST',
      path: '/api/v2/tickets',
      status: 201,
      valuesIn: membersOf('ticket'),
      answer: (ticket) => ({ ticket }),
    },
    update: {
      method: 'PUT',
      path: '/api/v2/tickets/:id',
      status: 200,
      valuesIn: membersOf('ticket'),
      answer: (ticket) => ({ ticket }),
    },
    remove: { method: 'DELETE', path: '/api/v2/tickets/:id', status: 204 },
    fields: {
      path: '/api/v2/ticket_fields',
      body: {
        ticket_fields: [
          { id: 'subject', type: 'subject', title: 'Subject', required: true },
          {
            id: 42,
            type: 'tagger',
            title: 'Plan',
            required: false,
            custom_field_options: [{ name: 'Gold', value: 'gold' }],
          },
        ],
      },
    },
  },
};

function sinceOf(cursor: string | null): Date | null {
  const start = cursor?.split('~')[1];
  return start ? new Date(Number(start) * 1000) : null;
}

export const gitlabWire: VendorFixture = {
  idOf: (n) => 278_900 + n,
  headers: { 'PRIVATE-TOKEN': TOKEN },
  contentType: 'application/json',
  invalidStatus: 400,
  refusal: (status, message) =>
    status === 400 ? { message: { name: [message] } } : { message: `${status} ${message}` },
  problemWith: tooLong('name'),
  object: {
    show: ({ id, changedAt, values }) => ({ id, ...values, updated_at: changedAt.toISOString() }),
    lists: [
      {
        path: '/api/v4/projects',
        order: 'oldestChange',
        filter: (records, { query }) => {
          const [since, until] = [timeIn(query, 'updated_after'), timeIn(query, 'updated_before')];
          return records.filter(
            ({ changedAt }) => (!since || changedAt >= since) && (!until || changedAt <= until),
          );
        },
        page: byLink(byPage({ name: 'per_page', fallback: 20, max: 100 }, 'page'), 'page'),
        answer: (shown) => shown,
      },
    ],
    create: {
      method: 'POST',
      path: '/api/v4/projects',
      status: 201,
      valuesIn: membersOf(null),
      answer: (record) => record,
    },
    update: {
      method: 'PUT',
      path: '/api/v4/projects/:id',
      status: 200,
      valuesIn: membersOf(null),
      answer: (record) => record,
    },
    remove: {
      method: 'DELETE',
      path: '/api/v4/projects/:id',
      status: 202,
      body: { message: '202 Accepted' },
    },
  },
};

export const stripeWire: VendorFixture = {
  idOf: (n) => `cus_${n.toString(36).padStart(8, '0')}`,
  headers: BEARER,
  contentType: 'application/x-www-form-urlencoded',
  invalidStatus: 400,
  refusal: (_status, message) => ({ error: { type: 'invalid_request_error', message } }),
  problemWith: tooLong('name'),
  object: {
    show: ({ id, values }) => ({ id, object: 'customer', ...values }),
    lists: [
      {
        path: '/v1/customers',
        order: 'made',
        page: byLastId({ name: 'limit', fallback: 10, max: 100 }, 'starting_after'),
        answer: (shown, { next }) => ({
          object: 'list',
          url: '/v1/customers',
          has_more: next !== null,
          data: shown,
        }),
      },
    ],
    create: {
      method: 'POST',
      path: '/v1/customers',
      status: 200,
      valuesIn: membersOf(null),
      answer: (record) => record,
    },
    update: {
      method: 'POST',
      path: '/v1/customers/:id',
      status: 200,
      valuesIn: membersOf(null),
      answer: (record) => record,
    },
    remove: {
      method: 'DELETE',
      path: '/v1/customers/:id',
      status: 200,
      body: { object: 'customer', deleted: true },
    },
  },
};
