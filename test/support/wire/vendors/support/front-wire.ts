import { byAddress, byCursor } from '../../paging.ts';
import { BEARER, membersOf, tooLong, unixIn, type WireVendor } from '../../terms.ts';

export const front: WireVendor = {
  objectName: 'contacts',
  textField: 'name',
  missingId: 'crd_zzz',
  fixture: {
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
      one: { path: '/contacts/:id', answer: (record) => record },
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
  },
};
