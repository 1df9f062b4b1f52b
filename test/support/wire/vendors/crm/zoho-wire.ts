import type { ServedRequest } from '../../../providers/provider-server.ts';
import { BadRequest, byCursor, type Page } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  isObject,
  roundToSecond,
  type Values,
  type WireVendor,
} from '../../wire-format.ts';

const ZONED_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/;

/** A body is a list. The response has an outcome for each record, whatever its status. */
function readRecords(body: unknown): Values[] {
  const data = isObject(body) ? body.data : undefined;
  if (!Array.isArray(data) || data.length < 1 || data.length > 100) {
    throw new BadRequest('data must be a list of 1 to 100 records');
  }
  return data;
}

const createOutcome = (record: Values) => ({
  code: 'SUCCESS',
  message: 'record added',
  status: 'success',
  details: { id: record.id },
});

/** Fields that the vendor returns only for a single record, such as subforms. */
const isSubform = (value: unknown): boolean => Array.isArray(value) && value.some(isObject);

const FIELDS_MAX = 50;

/** Returns the selected fields of each record, and null for empty ones. Ignores further fields. */
function selectFields(records: Values[], { query }: ServedRequest): Values[] {
  const names = query.get('fields')?.split(',').slice(0, FIELDS_MAX) ?? [];
  if (names.length === 0) throw new BadRequest('REQUIRED_PARAM_MISSING: fields');
  return records.map((record) => ({
    id: record.id,
    ...Object.fromEntries(
      names.filter((name) => !isSubform(record[name])).map((name) => [name, record[name] ?? null]),
    ),
  }));
}

const byToken = byCursor({ name: 'per_page', fallback: 200, max: 200 }, 'page_token');
const BOUND_PARAMETERS = ['fields', 'per_page', 'sort_by', 'sort_order'];

/** Pages by tokens that are valid only for the parameters of the first page, and for `recordsMax` records. */
function createPage(recordsMax: number): Page {
  return (records, request, url) => {
    const [token = '', binding] = request.query.get('page_token')?.split('.') ?? [];
    const bound = [
      ...BOUND_PARAMETERS.map((name) => request.query.get(name)),
      request.headers['if-modified-since'],
    ].join('/');
    const currentBinding = Buffer.from(bound).toString('base64url');
    if (binding !== undefined && binding !== currentBinding) {
      throw new BadRequest('TOKEN_BOUND_DATA_MISMATCH');
    }
    if (Number(token.slice(2)) >= recordsMax) throw new BadRequest('PAGINATION_LIMIT_EXCEEDED');
    const query = new URLSearchParams(request.query);
    if (token) query.set('page_token', token);
    const slice = byToken(records, { ...request, query }, url);
    return { ...slice, next: slice.next && `${slice.next}.${currentBinding}` };
  };
}

export const zoho = createZoho(100_000);

/** Tokens return at most `recordsMax` records. */
export function createZoho(recordsMax: number): WireVendor {
  return {
    objectName: 'Leads',
    textField: 'Last_Name',
    missingId: '5725767000000999999',
    fixture: {
      createId: (n) => `5725767000000${String(n).padStart(6, '0')}`,
      headers: BEARER,
      // A response that refuses a record has a status of success.
      invalidStatus: 202,
      toErrorBody: (status, message) => {
        const error = { code: 'INVALID_DATA', message, details: {}, status: 'error' };
        return status === 202 ? { data: [error] } : error;
      },
      findValueError: createLengthCheck('Last_Name'),
      object: {
        toVendorRecord: ({ id, changedAt, values }) => ({
          id,
          ...values,
          Modified_Time: changedAt.toISOString().replace(/\.\d+Z/, '+00:00'),
        }),
        lists: [
          {
            path: '/crm/v8/Leads',
            order: 'oldestChange',
            filter: (records, { headers }) => {
              const since = headers['if-modified-since'];
              if (since === undefined) return records;
              if (!ZONED_TIME.test(since)) throw new BadRequest(`${since} is not a UTC time`);
              return records.filter((record) => roundToSecond(record) > Date.parse(since));
            },
            page: createPage(recordsMax),
            toBody: (data, { next }, request) =>
              data.length === 0
                ? undefined
                : {
                    data: selectFields(data, request),
                    info: { more_records: next !== null, next_page_token: next },
                  },
          },
        ],
        count: { path: '/crm/v8/Leads/actions/count', toBody: (count) => ({ count }) },
        fetchMany: {
          path: '/crm/v8/Leads',
          readIds: ({ query }) => query.get('ids')?.split(',') ?? null,
          toBody: (data, request) =>
            data.length === 0 ? undefined : { data: selectFields(data, request) },
        },
        update: {
          method: 'PUT',
          path: '/crm/v8/Leads/:id',
          status: 200,
          readValues: (body) => readRecords(body)[0] ?? {},
          toBody: (record) => ({ data: [createOutcome(record)] }),
        },
        batches: (['POST', 'PUT'] as const).map((method) => ({
          method,
          path: '/crm/v8/Leads',
          status: 207,
          readRecords: (body) =>
            readRecords(body).map(({ id, ...values }) => ({
              id: method === 'PUT' ? String(id) : null,
              values,
            })),
          toBody: (outcomes) => ({
            data: outcomes.map((outcome) =>
              'refused' in outcome
                ? { code: 'INVALID_DATA', message: outcome.refused, details: {}, status: 'error' }
                : createOutcome(outcome),
            ),
          }),
        })),
        remove: {
          method: 'DELETE',
          path: '/crm/v8/Leads/:id',
          status: 200,
          body: { data: [{ code: 'SUCCESS', details: {}, status: 'success' }] },
        },
        fields: {
          path: '/crm/v8/settings/fields',
          query: { module: 'Leads' },
          body: {
            fields: [
              {
                api_name: 'Last_Name',
                field_label: 'Last Name',
                data_type: 'text',
                system_mandatory: true,
                read_only: false,
                custom_field: false,
              },
              {
                api_name: 'Lead_Source',
                field_label: 'Lead Source',
                data_type: 'picklist',
                system_mandatory: false,
                read_only: false,
                custom_field: false,
                pick_list_values: [{ display_value: 'Web', actual_value: 'Web' }],
              },
            ],
          },
        },
      },
    },
  };
}
