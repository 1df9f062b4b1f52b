import { byLastId } from '../../paging.ts';
import { BEARER, createLengthCheck, readMembers, type WireVendor } from '../../wire-format.ts';

export const stripe: WireVendor = {
  objectName: 'customers',
  textField: 'name',
  missingId: 'cus_none',
  lacksChangeTimes: true,
  fixture: {
    createId: (n) => `cus_${n.toString(36).padStart(8, '0')}`,
    headers: BEARER,
    contentType: 'application/x-www-form-urlencoded',
    toErrorBody: (_status, message) => ({ error: { type: 'invalid_request_error', message } }),
    findValueError: createLengthCheck('name'),
    object: {
      toVendorRecord: ({ id, values }) => ({ id, object: 'customer', ...values }),
      lists: [
        {
          path: '/v1/customers',
          order: 'created',
          page: byLastId({ name: 'limit', fallback: 10, max: 100 }, 'starting_after'),
          toBody: (data, { next }) => ({
            object: 'list',
            url: '/v1/customers',
            has_more: next !== null,
            data,
          }),
        },
      ],
      fetchOne: { path: '/v1/customers/:id', toBody: (record) => record },
      create: {
        method: 'POST',
        path: '/v1/customers',
        status: 200,
        readValues: readMembers(null),
        toBody: (record) => record,
      },
      update: {
        method: 'POST',
        path: '/v1/customers/:id',
        status: 200,
        readValues: readMembers(null),
        toBody: (record) => record,
      },
      remove: {
        method: 'DELETE',
        path: '/v1/customers/:id',
        status: 200,
        body: { object: 'customer', deleted: true },
      },
    },
  },
};
