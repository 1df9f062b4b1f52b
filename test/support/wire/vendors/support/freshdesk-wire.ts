import { BadRequest, byLink, byPage } from '../../paging.ts';
import {
  createLengthCheck,
  createPlainChange,
  readTime,
  roundToSecond,
  TOKEN,
  toIsoSeconds,
  type WireVendor,
} from '../../wire-format.ts';

const BASIC_CREDENTIALS = Buffer.from(`${TOKEN}:X`).toString('base64');

export const freshdesk: WireVendor = {
  objectName: 'tickets',
  textField: 'subject',
  missingId: '999',
  fixture: {
    createId: (n) => n,
    headers: { authorization: `Basic ${BASIC_CREDENTIALS}` },
    toErrorBody: (status, message) =>
      status === 400
        ? {
            description: 'Validation failed',
            errors: [{ field: 'subject', message, code: 'invalid_value' }],
          }
        : { code: 'refused', message },
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
          order: 'oldestChange',
          filter: (records, { query }) => {
            if (query.get('order_by') !== 'updated_at')
              throw new BadRequest('order_by must be updated_at');
            const since = readTime(query, 'updated_since');
            // Without `updated_since`, Freshdesk lists only tickets of the last 30 days.
            if (!since) return [];
            return records.filter((record) => roundToSecond(record) >= since.getTime());
          },
          page: byLink(byPage({ name: 'per_page', fallback: 30, max: 100 }, 'page'), 'page'),
          toBody: (tickets) => tickets,
        },
      ],
      fetchOne: { path: '/api/v2/tickets/:id', toBody: (record) => record },
      create: createPlainChange('POST', '/api/v2/tickets', 201),
      update: createPlainChange('PUT', '/api/v2/tickets/:id', 200),
      remove: { method: 'DELETE', path: '/api/v2/tickets/:id', status: 204 },
      fields: {
        path: '/api/v2/ticket_fields',
        body: [
          {
            id: 1,
            name: 'subject',
            label: 'Subject',
            type: 'default_subject',
            default: true,
            required_for_agents: true,
          },
          {
            id: 2,
            name: 'cf_plan',
            label: 'Plan',
            type: 'custom_text',
            default: false,
            required_for_agents: false,
          },
        ],
      },
    },
  },
};
