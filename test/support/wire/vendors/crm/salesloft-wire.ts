import { byPage } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  readMembers,
  readTime,
  type WireVendor,
} from '../../wire-format.ts';

export const salesloft: WireVendor = {
  objectName: 'people',
  textField: 'first_name',
  missingId: '999',
  fixture: {
    createId: (n) => 1000 + n,
    headers: BEARER,
    invalidStatus: 422,
    toErrorBody: (status, message) =>
      status === 422 ? { errors: { first_name: [message] } } : { error: message },
    findValueError: createLengthCheck('first_name'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        id,
        ...values,
        updated_at: changedAt.toISOString().replace('Z', '000Z'),
      }),
      lists: [
        {
          path: '/v2/people',
          order: 'oldestChange',
          filter: (records, { query }) => {
            const since = readTime(query, 'updated_at[gte]');
            return records.filter(({ changedAt }) => !since || changedAt >= since);
          },
          page: byPage({ name: 'per_page', fallback: 25, max: 100 }, 'page'),
          toBody: (data, { next }) => ({
            metadata: { paging: { next_page: next === null ? null : Number(next) } },
            data,
          }),
        },
      ],
      fetchOne: { path: '/v2/people/:id', toBody: (data) => ({ data }) },
      create: {
        method: 'POST',
        path: '/v2/people',
        status: 200,
        readValues: readMembers(null),
        toBody: (data) => ({ data }),
      },
      update: {
        method: 'PUT',
        path: '/v2/people/:id',
        status: 200,
        readValues: readMembers(null),
        toBody: (data) => ({ data }),
      },
      remove: { method: 'DELETE', path: '/v2/people/:id', status: 204 },
    },
  },
};
