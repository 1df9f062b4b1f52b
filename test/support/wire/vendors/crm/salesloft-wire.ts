import { byPage } from '../../paging.ts';
import { BEARER, membersOf, timeIn, tooLong, type WireVendor } from '../../terms.ts';

export const salesloft: WireVendor = {
  objectName: 'people',
  textField: 'first_name',
  missingId: '999',
  fixture: {
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
      one: { path: '/v2/people/:id', answer: (data) => ({ data }) },
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
  },
};
