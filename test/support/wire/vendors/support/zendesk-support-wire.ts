import { BadRequest, byCursor } from '../../paging.ts';
import type { StoredRecord } from '../../vendor-store.ts';
import {
  BEARER,
  createLengthCheck,
  readMembers,
  readUnixTime,
  roundToSecond,
  toIsoSeconds,
  type WireVendor,
} from '../../wire-format.ts';

/** Statuses that the list omits. Zendesk archives closed tickets after some months. */
const UNLISTED: unknown[] = ['closed', 'deleted'];

export const zendeskSupport: WireVendor = {
  objectName: 'tickets',
  textField: 'subject',
  missingId: '999',
  fixture: {
    createId: (n) => 35436000 + n,
    headers: BEARER,
    invalidStatus: 422,
    toErrorBody: (status, message) =>
      status === 422
        ? {
            error: 'RecordInvalid',
            description: 'Record validation errors',
            details: { subject: [{ description: `Subject: ${message}` }] },
          }
        : { error: { title: 'Error', message } },
    findValueError: createLengthCheck('subject'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        id,
        ...values,
        updated_at: toIsoSeconds(changedAt),
      }),
      lists: [
        {
          path: '/api/v2/tickets',
          order: 'created',
          filter: (records) => records.filter(({ values }) => !UNLISTED.includes(values.status)),
          page: byCursor({ name: 'page[size]', fallback: 100, max: 100 }, 'page[after]'),
          toBody: (tickets, { next }) => ({
            tickets,
            // The last page has a cursor too.
            meta: { has_more: next !== null, after_cursor: next ?? 'c_0', before_cursor: null },
          }),
        },
        {
          path: '/api/v2/incremental/tickets/cursor',
          // The filter sorts by the time of the last change of any kind.
          order: 'created',
          filter: (records, { query }) => {
            const cursor = query.get('cursor');
            const start = readUnixTime(query, 'start_time') ?? parseStartTime(cursor);
            if (!start) throw new BadRequest('start_time is missing');
            const excludesDeleted = query.get('exclude_deleted') === 'true';
            return records
              .filter(
                (record) =>
                  getGenerationTime(record) >= start.getTime() &&
                  !(excludesDeleted && record.values.status === 'deleted'),
              )
              .toSorted((a, b) => getGenerationTime(a) - getGenerationTime(b));
          },
          page: (records, request, url) => {
            const { query } = request;
            const start = query.get('start_time') ?? query.get('cursor')?.split('~')[1] ?? '';
            const position = query.get('cursor')?.split('~')[0];
            const cursorQuery = new URLSearchParams(query);
            if (position) cursorQuery.set('cursor', position);
            const page = byCursor({ name: 'per_page', fallback: 1000, max: 1000 }, 'cursor');
            const slice = page(records, { ...request, query: cursorQuery }, url);
            return { ...slice, next: slice.next && `${slice.next}~${start}` };
          },
          toBody: (tickets, { next }) => ({
            tickets,
            after_cursor: next ?? 'c_0~0',
            end_of_stream: next === null,
          }),
        },
      ],
      count: {
        path: '/api/v2/tickets/count',
        toBody: (value) => ({ count: { refreshed_at: '2026-01-01T00:00:00Z', value } }),
      },
      fetchMany: {
        path: '/api/v2/tickets/show_many',
        readIds: ({ query }) => query.get('ids')?.split(',') ?? null,
        toBody: (tickets) => ({ tickets, count: tickets.length }),
      },
      create: {
        method: 'POST',
        path: '/api/v2/tickets',
        status: 201,
        readValues: readMembers('ticket'),
        toBody: (ticket) => ({ ticket }),
      },
      update: {
        method: 'PUT',
        path: '/api/v2/tickets/:id',
        status: 200,
        readValues: readMembers('ticket'),
        toBody: (ticket) => ({ ticket }),
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
  },
};

/**
 * Returns `generated_timestamp`, in milliseconds. Changes by the system, such as triggers and merges, set only this time
 * and not `updated_at`.
 */
function getGenerationTime(record: StoredRecord): number {
  const { generated_timestamp: seconds } = record.values;
  return typeof seconds === 'number' ? seconds * 1000 : roundToSecond(record);
}

function parseStartTime(cursor: string | null): Date | null {
  const start = cursor?.split('~')[1];
  return start ? new Date(Number(start) * 1000) : null;
}
