import { byLink, byPage, counted } from '../../paging.ts';
import { membersOf, TOKEN, timeIn, tooLong, type WireVendor } from '../../terms.ts';

export const gitlab: WireVendor = {
  objectName: 'projects',
  textField: 'name',
  missingId: '999',
  fixture: {
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
            const [since, until] = [
              timeIn(query, 'updated_after'),
              timeIn(query, 'updated_before'),
            ];
            return records.filter(
              ({ changedAt }) => (!since || changedAt >= since) && (!until || changedAt <= until),
            );
          },
          page: counted(
            byLink(byPage({ name: 'per_page', fallback: 20, max: 100 }, 'page'), 'page'),
            'x-total',
          ),
          answer: (shown) => shown,
        },
      ],
      one: { path: '/api/v4/projects/:id', answer: (record) => record },
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
  },
};
