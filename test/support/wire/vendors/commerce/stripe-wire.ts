import { byLastId } from '../../paging.ts';
import { BEARER, membersOf, tooLong, type WireVendor } from '../../terms.ts';

export const stripe: WireVendor = {
  objectName: 'customers',
  textField: 'name',
  missingId: 'cus_none',
  tellsNoChanges: true,
  fixture: {
    idOf: (n) => `cus_${n.toString(36).padStart(8, '0')}`,
    headers: BEARER,
    contentType: 'application/x-www-form-urlencoded',
    invalidStatus: 400,
    refusal: (_status, message) => ({ error: { type: 'invalid_request_error', message } }),
    problemWith: tooLong('name'),
    object: {
      show: ({ id, values }) => ({ id, object: 'customer', ...values }),
      lists: [
        {
          path: '/v1/customers',
          order: 'made',
          page: byLastId({ name: 'limit', fallback: 10, max: 100 }, 'starting_after'),
          answer: (shown, { next }) => ({
            object: 'list',
            url: '/v1/customers',
            has_more: next !== null,
            data: shown,
          }),
        },
      ],
      one: { path: '/v1/customers/:id', answer: (record) => record },
      create: {
        method: 'POST',
        path: '/v1/customers',
        status: 200,
        valuesIn: membersOf(null),
        answer: (record) => record,
      },
      update: {
        method: 'POST',
        path: '/v1/customers/:id',
        status: 200,
        valuesIn: membersOf(null),
        answer: (record) => record,
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
