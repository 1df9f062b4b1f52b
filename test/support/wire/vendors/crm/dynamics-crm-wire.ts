import { BadRequest, byCursor, byNextUrl } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  readMembers,
  selectChanged,
  toIsoSeconds,
  type WireVendor,
} from '../../wire-format.ts';

const COMPARISON = /^(\w+) eq '((?:[^']|'')*)'$/;
const CONDITION = /^modifiedon (ge|le) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/;

/** Dynamics speaks OData: the size of a page is a preference in a header, and a filter is one text. */
export const dynamicsCrm: WireVendor = {
  objectName: 'contacts',
  textField: 'lastname',
  missingId: '00000000-0000-0000-0000-999999999999',
  fixture: {
    createId: (n) => `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`,
    headers: BEARER,
    toErrorBody: (_status, message) => ({ error: { code: '0x80040265', message } }),
    findValueError: createLengthCheck('lastname'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        '@odata.etag': 'W/"1"',
        contactid: id,
        ...values,
        modifiedon: toIsoSeconds(changedAt),
      }),
      lists: [
        {
          path: '/v9.2/contacts',
          order: 'oldestChange',
          filter: (records, { query }) => {
            const bounds: Record<string, Date> = {};
            const equal: [string, string][] = [];
            for (const part of query.get('$filter')?.split(' and ') ?? []) {
              const [, field, value = ''] = COMPARISON.exec(part) ?? [];
              if (field !== undefined) {
                equal.push([field, value.replaceAll("''", "'")]);
                continue;
              }
              const [, operator = '', time = ''] = CONDITION.exec(part) ?? [];
              if (operator === '') throw new BadRequest(`Syntax error in ${part}`);
              bounds[operator] = new Date(time);
            }
            return selectChanged(records, bounds.ge ?? null, bounds.le ?? null).filter(
              ({ values }) => equal.every(([field, value]) => values[field] === value),
            );
          },
          page: (records, request, url) => {
            const size = /odata\.maxpagesize=(\d+)/.exec(request.headers.prefer ?? '')?.[1];
            const query = new URLSearchParams(request.query);
            if (size) query.set('size', size);
            const page = byCursor({ name: 'size', fallback: 5000, max: 5000 }, '$skiptoken');
            const slice = byNextUrl(page, '$skiptoken')(records, { ...request, query }, url);
            return { ...slice, next: slice.next?.replace(/&size=\d+/, '') ?? null };
          },
          toBody: (value, { next }) => ({
            '@odata.context': '…',
            value,
            ...(next !== null && { '@odata.nextLink': next }),
          }),
        },
      ],
      fetchOne: { path: '/v9.2/contacts(:id)', toBody: (record) => record },
      create: {
        method: 'POST',
        path: '/v9.2/contacts',
        status: 201,
        readValues: readMembers(null),
        findRequestError: ({ headers }) =>
          headers.prefer === 'return=representation' ? null : 'would return 204',
        toBody: (record) => record,
      },
      update: {
        method: 'PATCH',
        path: '/v9.2/contacts(:id)',
        status: 200,
        readValues: readMembers(null),
        findRequestError: ({ headers }) => (headers['if-match'] === '*' ? null : 'would create it'),
        toBody: (record) => record,
      },
      remove: { method: 'DELETE', path: '/v9.2/contacts(:id)', status: 204 },
      fields: {
        path: "/v9.2/EntityDefinitions(LogicalName='contact')/Attributes",
        body: {
          value: [
            {
              LogicalName: 'lastname',
              AttributeTypeName: { Value: 'StringType' },
              DisplayName: { UserLocalizedLabel: { Label: 'Last Name' } },
              IsCustomAttribute: false,
              IsValidForUpdate: true,
            },
          ],
        },
      },
    },
  },
};
