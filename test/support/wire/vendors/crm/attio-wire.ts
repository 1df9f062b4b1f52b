import { byOffset } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  isObject,
  readNestedMembers,
  toQuery,
  type WireVendor,
} from '../../wire-format.ts';

/** Attio lists records by a POST. Each value of a record is a list of versions with a type. */
export const attio: WireVendor = {
  objectName: 'companies',
  textField: 'name',
  missingId: '00000000-0000-4000-8000-999999999999',
  lacksChangeTimes: true,
  fixture: {
    createId: (n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    headers: BEARER,
    toErrorBody: (status_code, message) => ({
      status_code,
      type: 'invalid_request_error',
      code: 'value_not_found',
      message,
    }),
    findValueError: createLengthCheck('name'),
    object: {
      toVendorRecord: ({ id, values }) => ({
        id: { workspace_id: 'w', object_id: 'o', record_id: id },
        created_at: '2026-01-01T00:00:00.000000000Z',
        values: Object.fromEntries(
          Object.entries(values).map(([slug, value]) => [
            slug,
            [
              {
                active_from: '2026-01-01T00:00:00.000000000Z',
                active_until: null,
                value,
                attribute_type: 'text',
              },
            ],
          ]),
        ),
      }),
      lists: [
        {
          method: 'POST',
          path: '/v2/objects/companies/records/query',
          order: 'created',
          filter: (records, { body }) => {
            const filter = isObject(body) && isObject(body.filter) ? body.filter : {};
            return records.filter(({ values }) =>
              Object.entries(filter).every(([slug, value]) => values[slug] === value),
            );
          },
          page: (records, request, url) => {
            const query = toQuery(request.body);
            const size = { name: 'limit', fallback: 500, max: 500 };
            return byOffset(size, 'offset')(records, { ...request, query }, url);
          },
          toBody: (data) => ({ data }),
        },
      ],
      fetchOne: { path: '/v2/objects/companies/records/:id', toBody: (data) => ({ data }) },
      create: {
        method: 'POST',
        path: '/v2/objects/companies/records',
        status: 200,
        readValues: readNestedMembers('data', 'values'),
        toBody: (data) => ({ data }),
      },
      update: {
        method: 'PATCH',
        path: '/v2/objects/companies/records/:id',
        status: 200,
        readValues: readNestedMembers('data', 'values'),
        toBody: (data) => ({ data }),
      },
      remove: {
        method: 'DELETE',
        path: '/v2/objects/companies/records/:id',
        status: 200,
        body: {},
      },
      fields: {
        path: '/v2/objects/companies/attributes',
        toPageBody: (query) => (query.has('offset') ? { data: [] } : undefined),
        body: {
          data: [
            {
              id: { attribute_id: 'a1' },
              api_slug: 'name',
              title: 'Name',
              type: 'text',
              is_required: false,
              is_writable: true,
            },
            {
              id: { attribute_id: 'a2' },
              api_slug: 'team',
              title: 'Team',
              type: 'record-reference',
              is_required: false,
              is_writable: true,
            },
          ],
        },
      },
    },
  },
};
