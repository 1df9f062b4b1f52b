import { BadRequest, byCursor, byNextUrl } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  createResourceReader,
  type WireVendor,
} from '../../wire-format.ts';

export const outreach: WireVendor = {
  objectName: 'prospects',
  textField: 'firstName',
  missingId: '999',
  fixture: {
    createId: (n) => n,
    headers: BEARER,
    contentType: 'application/vnd.api+json',
    invalidStatus: 422,
    toErrorBody: (status, detail) => ({
      errors: [{ id: `status${status}`, title: 'Request refused', detail }],
    }),
    findValueError: createLengthCheck('firstName'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        type: 'prospect',
        id,
        attributes: { ...values, updatedAt: changedAt.toISOString() },
        relationships: {},
      }),
      lists: [
        {
          path: '/api/v2/prospects',
          order: 'oldestChange',
          filter: (records, { query }) => {
            const range = query.get('filter[updatedAt]');
            if (range === null) return records;
            const [from = '', to = ''] = range.split('..');
            const [since, until] = [new Date(from), to === 'inf' ? null : new Date(to)];
            if (Number.isNaN(since.getTime())) throw new BadRequest(`${range} is not a range`);
            return records.filter(
              ({ changedAt }) => changedAt >= since && (!until || changedAt <= until),
            );
          },
          page: byNextUrl(
            byCursor({ name: 'page[size]', fallback: 50, max: 1000 }, 'page[after]'),
            'page[after]',
          ),
          toBody: (data, { next }) => ({ data, links: next === null ? {} : { next } }),
        },
      ],
      fetchOne: { path: '/api/v2/prospects/:id', toBody: (data) => ({ data }) },
      create: {
        method: 'POST',
        path: '/api/v2/prospects',
        status: 201,
        readValues: createResourceReader('prospect', false),
        toBody: (data) => ({ data }),
      },
      update: {
        method: 'PATCH',
        path: '/api/v2/prospects/:id',
        status: 200,
        readValues: createResourceReader('prospect', true),
        toBody: (data) => ({ data }),
      },
      remove: { method: 'DELETE', path: '/api/v2/prospects/:id', status: 204 },
    },
  },
};
