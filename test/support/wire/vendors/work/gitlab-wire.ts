import { byLink, byPage, withTotalHeader } from '../../paging.ts';
import {
  createLengthCheck,
  readMembers,
  readTime,
  TOKEN,
  type WireVendor,
} from '../../wire-format.ts';

export const gitlab: WireVendor = {
  objectName: 'projects',
  textField: 'name',
  missingId: '999',
  fixture: {
    createId: (n) => 278_900 + n,
    headers: { 'PRIVATE-TOKEN': TOKEN },
    toErrorBody: (status, message) =>
      status === 400 ? { message: { name: [message] } } : { message: `${status} ${message}` },
    findValueError: createLengthCheck('name'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        id,
        ...values,
        updated_at: changedAt.toISOString(),
      }),
      lists: [
        {
          path: '/api/v4/projects',
          order: 'oldestChange',
          filter: (records, { query }) => {
            const [since, until] = [
              readTime(query, 'updated_after'),
              readTime(query, 'updated_before'),
            ];
            return records.filter(
              ({ changedAt }) => (!since || changedAt >= since) && (!until || changedAt <= until),
            );
          },
          page: withTotalHeader(
            byLink(byPage({ name: 'per_page', fallback: 20, max: 100 }, 'page'), 'page'),
            'x-total',
          ),
          toBody: (projects) => projects,
        },
      ],
      fetchOne: { path: '/api/v4/projects/:id', toBody: (record) => record },
      create: {
        method: 'POST',
        path: '/api/v4/projects',
        status: 201,
        readValues: readMembers(null),
        toBody: (record) => record,
      },
      update: {
        method: 'PUT',
        path: '/api/v4/projects/:id',
        status: 200,
        readValues: readMembers(null),
        toBody: (record) => record,
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
