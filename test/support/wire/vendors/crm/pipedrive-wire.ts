import { byCursor } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  isObject,
  readMembers,
  readTime,
  roundToSecond,
  toIsoSeconds,
  type WireVendor,
} from '../../wire-format.ts';

export const pipedrive: WireVendor = {
  objectName: 'deals',
  textField: 'title',
  missingId: '999',
  fixture: {
    createId: (n) => n,
    headers: BEARER,
    toErrorBody: (status, message) => ({
      success: false,
      error: message,
      error_info: 'Please check developers.pipedrive.com for more information.',
      code: `ERR_${status}`,
    }),
    findValueError: createLengthCheck('title'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        id,
        ...values,
        update_time: toIsoSeconds(changedAt),
        custom_fields: isObject(values.custom_fields) ? values.custom_fields : {},
      }),
      lists: [
        {
          path: '/api/v2/deals',
          order: 'oldestChange',
          filter: (records, { query }) => {
            const [since, until] = [
              readTime(query, 'updated_since'),
              readTime(query, 'updated_until'),
            ];
            return records.filter(
              (record) =>
                (!since || roundToSecond(record) >= since.getTime()) &&
                (!until || roundToSecond(record) < until.getTime()),
            );
          },
          page: byCursor({ name: 'limit', fallback: 100, max: 500 }, 'cursor'),
          toBody: (data, { next }) => ({
            success: true,
            data,
            additional_data: { next_cursor: next },
          }),
        },
      ],
      fetchMany: {
        path: '/api/v2/deals',
        readIds: ({ query }) => query.get('ids')?.split(',') ?? null,
        toBody: (data) => ({ success: true, data }),
      },
      create: {
        method: 'POST',
        path: '/api/v2/deals',
        status: 200,
        readValues: readMembers(null),
        toBody: (data) => ({ success: true, data }),
      },
      update: {
        method: 'PATCH',
        path: '/api/v2/deals/:id',
        status: 200,
        readValues: readMembers(null),
        toBody: (data) => ({ success: true, data }),
      },
      remove: { method: 'DELETE', path: '/api/v2/deals/:id', status: 200, body: { success: true } },
      fields: {
        path: '/api/v2/dealFields',
        body: {
          success: true,
          data: [
            {
              field_code: 'title',
              field_name: 'Title',
              field_type: 'varchar',
              is_custom_field: false,
            },
            {
              field_code: 'status',
              field_name: 'Status',
              field_type: 'enum',
              is_custom_field: false,
              options: [{ id: 'open', label: 'Open' }],
            },
          ],
          additional_data: { next_cursor: null },
        },
      },
    },
  },
};
