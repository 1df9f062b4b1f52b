import { byOffset } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  createPlainChange,
  readTime,
  type WireVendor,
} from '../../wire-format.ts';

/** Paths end in a slash. Lists take `_skip` and `_limit`, and report whether there are more records. */
export const close: WireVendor = {
  objectName: 'lead',
  textField: 'name',
  missingId: 'lead_none',
  fixture: {
    createId: (n) => `lead_${n}`,
    headers: BEARER,
    toErrorBody: (status, message) =>
      status === 400 ? { errors: [], 'field-errors': { name: message } } : { error: message },
    findValueError: createLengthCheck('name'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        id,
        ...values,
        date_updated: changedAt.toISOString().replace('Z', '000+00:00'),
      }),
      lists: [
        {
          path: '/api/v1/lead/',
          order: 'created',
          filter: (records, { query }) => {
            const [since, until] = [
              readTime(query, 'date_updated__gte'),
              readTime(query, 'date_updated__lte'),
            ];
            return records.filter(
              ({ changedAt }) => (!since || changedAt >= since) && (!until || changedAt <= until),
            );
          },
          page: byOffset({ name: '_limit', fallback: 100, max: 200 }, '_skip'),
          toBody: (data, { next, total }) => ({
            data,
            has_more: next !== null,
            total_results: total,
          }),
        },
      ],
      fetchOne: { path: '/api/v1/lead/:id/', toBody: (record) => record },
      create: createPlainChange('POST', '/api/v1/lead/', 200),
      update: createPlainChange('PUT', '/api/v1/lead/:id/', 200),
      remove: { method: 'DELETE', path: '/api/v1/lead/:id/', status: 200, body: {} },
      fields: {
        path: '/api/v1/custom_field/lead/',
        body: {
          has_more: false,
          data: [{ id: 'cf_1', name: 'Plan', type: 'choices', choices: ['a'] }],
        },
      },
    },
  },
};
