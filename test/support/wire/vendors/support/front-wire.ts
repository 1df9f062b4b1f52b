import { byCursor, byNextUrl } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  readMembers,
  readUnixTime,
  type WireVendor,
} from '../../wire-format.ts';

export const front: WireVendor = {
  objectName: 'contacts',
  textField: 'name',
  missingId: 'crd_zzz',
  fixture: {
    createId: (n) => `crd_${n.toString(36)}`,
    headers: BEARER,
    toErrorBody: (status, message) => ({
      _error: { status, title: 'Bad request', message, details: [] },
    }),
    findValueError: createLengthCheck('name'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
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
              readUnixTime(query, 'q[updated_after]'),
              readUnixTime(query, 'q[updated_before]'),
            ];
            return records.filter(
              ({ changedAt }) => (!since || changedAt > since) && (!until || changedAt < until),
            );
          },
          page: byNextUrl(
            byCursor({ name: 'limit', fallback: 50, max: 100 }, 'page_token'),
            'page_token',
          ),
          toBody: (contacts, { next }) => ({ _pagination: { next }, _results: contacts }),
        },
      ],
      fetchOne: { path: '/contacts/:id', toBody: (record) => record },
      create: {
        method: 'POST',
        path: '/contacts',
        status: 201,
        readValues: readMembers(null),
        toBody: (record) => record,
      },
      update: {
        method: 'PATCH',
        path: '/contacts/:id',
        status: 204,
        readValues: readMembers(null),
        toBody: () => undefined,
      },
      remove: { method: 'DELETE', path: '/contacts/:id', status: 204 },
    },
  },
};
