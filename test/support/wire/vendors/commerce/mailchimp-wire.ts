import { byOffset } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  createPlainChange,
  readTime,
  roundToSecond,
  type WireVendor,
} from '../../wire-format.ts';

const MEMBERS_PATH = '/3.0/lists/l1/members';

/** Members belong to a list, and their ID is a hash. */
export const mailchimp: WireVendor = {
  objectName: 'members',
  textField: 'full_name',
  missingId: 'l1:ffffffffffffffffffffffffffffffff',
  requiredValues: { list_id: 'l1' },
  fixture: {
    createId: (n) => n.toString(16).padStart(32, '0'),
    createReference: (id) => `l1:${id}`,
    headers: BEARER,
    toErrorBody: (status, message) => ({
      type: 'https://mailchimp.com/developer/marketing/docs/errors/',
      title: 'Invalid Resource',
      status,
      detail: 'The resource submitted could not be validated.',
      errors: [{ field: 'full_name', message }],
    }),
    findValueError: createLengthCheck('full_name'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        id,
        ...values,
        list_id: 'l1',
        merge_fields: {},
        last_changed: changedAt.toISOString().replace(/\.\d+Z/, '+00:00'),
      }),
      fixedResponses: [{ path: '/3.0/lists', body: { lists: [{ id: 'l1' }], total_items: 1 } }],
      lists: [
        {
          path: MEMBERS_PATH,
          order: 'oldestChange',
          filter: (records, { query }) => {
            const since = readTime(query, 'since_last_changed');
            const before = readTime(query, 'before_last_changed');
            return records.filter(
              (record) =>
                (!since || roundToSecond(record) > since.getTime()) &&
                (!before || roundToSecond(record) < before.getTime()),
            );
          },
          page: byOffset({ name: 'count', fallback: 10, max: 1000 }, 'offset'),
          toBody: (members, { total }) => ({ members, list_id: 'l1', total_items: total }),
        },
      ],
      fetchOne: { path: `${MEMBERS_PATH}/:id`, toBody: (record) => record },
      create: createPlainChange('POST', MEMBERS_PATH, 200),
      update: createPlainChange('PATCH', `${MEMBERS_PATH}/:id`, 200),
      remove: { method: 'DELETE', path: `${MEMBERS_PATH}/:id`, status: 204 },
    },
  },
};
