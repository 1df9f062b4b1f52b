import { byCursor, type Page } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  createPlainChange,
  type WireVendor,
} from '../../wire-format.ts';

/** The last page has an empty token. */
const page: Page = byCursor({ name: 'page_size', fallback: 30, max: 300 }, 'next_page_token');

/** Meetings belong to a user. The response to an update has no body. */
export const zoom: WireVendor = {
  objectName: 'meetings',
  textField: 'topic',
  missingId: '999',
  requiredValues: { user_id: 'u_1' },
  lacksChangeTimes: true,
  fixture: {
    createId: (n) => 85_746_065_000 + n,
    headers: BEARER,
    toErrorBody: (_status, message) => ({
      code: 300,
      message,
      errors: [{ field: 'topic', message }],
    }),
    findValueError: createLengthCheck('topic'),
    object: {
      toVendorRecord: ({ id, values: { user_id: _, ...values } }) => ({
        uuid: `u${id}==`,
        id,
        ...values,
      }),
      fixedResponses: [
        {
          path: '/v2/users',
          body: { users: [{ id: 'u_1', email: 'a@b.c' }], next_page_token: '' },
        },
      ],
      lists: [
        {
          path: '/v2/users/u_1/meetings',
          order: 'created',
          page,
          toBody: (meetings, { next, total }) => ({
            meetings,
            next_page_token: next ?? '',
            total_records: total,
          }),
        },
      ],
      fetchOne: { path: '/v2/meetings/:id', toBody: (record) => record },
      create: createPlainChange('POST', '/v2/users/u_1/meetings', 201),
      update: {
        ...createPlainChange('PATCH', '/v2/meetings/:id', 204),
        toBody: () => undefined,
      },
      remove: { method: 'DELETE', path: '/v2/meetings/:id', status: 204 },
    },
  },
};
