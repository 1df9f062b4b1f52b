import { BadRequest, byLink, byOffset, type Page, withTotalHeader } from '../../paging.ts';
import type { WireOrder } from '../../vendor-server.ts';
import {
  BEARER,
  createLengthCheck,
  readMembers,
  selectChanged,
  toIsoSeconds,
  type WireVendor,
} from '../../wire-format.ts';

const CONDITION = /^sys_updated_on(>=|<=)(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)$/;
const AFTER_ID = /^sys_id>([0-9a-f]{32})$/;
const ORDERS: Record<string, WireOrder> = {
  // Identifiers increase with each created record.
  ORDERBYsys_id: 'created',
  'ORDERBYDESCsys_updated_on^ORDERBYsys_id': 'newestChange',
};
const INCIDENTS_PATH = '/api/now/table/incident';

interface ParsedQuery {
  bounds: Record<string, Date>;
  equal: [string, string][];
  afterId: string;
  order: WireOrder;
}

/** Parses a query. A circumflex in a value is doubled. `zone` is the offset of its times. */
function parseQuery(query: URLSearchParams, zone: string): ParsedQuery {
  const parts = (query.get('sysparm_query') ?? '').split(/(?<!\^)\^(?!\^)/);
  const order = ORDERS[parts.filter((part) => part.startsWith('ORDERBY')).join('^')];
  if (!order) throw new BadRequest('The order of the query is not unique');
  const parsed: ParsedQuery = { bounds: {}, equal: [], afterId: '', order };
  for (const part of parts.filter((candidate) => !candidate.startsWith('ORDERBY'))) {
    const [, operator, time = ''] = CONDITION.exec(part) ?? [];
    const [, afterId] = AFTER_ID.exec(part) ?? [];
    const [, field, value = ''] = /^(\w+)=(.*)$/s.exec(part) ?? [];
    if (operator) parsed.bounds[operator] = new Date(`${time.replace(' ', 'T')}${zone}`);
    else if (afterId) parsed.afterId = afterId;
    else if (field !== undefined) parsed.equal.push([field, value.replaceAll('^^', '^')]);
    else throw new BadRequest(`Invalid query: ${part}`);
  }
  return parsed;
}

/** Applies access rules after the limit: users may not see records with `hidden`. The total includes these records. */
function hideRecords(page: Page): Page {
  return (...request) => {
    const slice = page(...request);
    return { ...slice, records: slice.records.filter(({ values }) => values.hidden !== true) };
  };
}

const page = hideRecords(
  withTotalHeader(
    byLink(
      byOffset({ name: 'sysparm_limit', fallback: 10_000, max: 10_000 }, 'sysparm_offset'),
      'sysparm_offset',
    ),
    'x-total-count',
  ),
);

/** ServiceNow writes times in UTC with a space. A query is a text of conditions. */
export const serviceNow = createServiceNow();

/** Creates an instance. `zone` is the offset in which it understands the times of queries. */
export function createServiceNow(zone = 'Z'): WireVendor {
  return {
    objectName: 'incident',
    textField: 'short_description',
    missingId: 'ffffffffffffffffffffffffffffffff',
    fixture: {
      createId: (n) => n.toString(16).padStart(32, '0'),
      headers: BEARER,
      toErrorBody: (_status, message) => ({
        error: { message, detail: 'The request was refused' },
        status: 'failure',
      }),
      findValueError: createLengthCheck('short_description'),
      object: {
        toVendorRecord: ({ id, changedAt, values }) => ({
          sys_id: id,
          ...values,
          sys_updated_on: toIsoSeconds(changedAt).replace('T', ' ').replace('Z', ''),
        }),
        lists: [
          {
            path: INCIDENTS_PATH,
            order: ({ query }) => parseQuery(query, zone).order,
            filter: (records, { query }) => {
              const { bounds, equal, afterId } = parseQuery(query, zone);
              return selectChanged(records, bounds['>='] ?? null, bounds['<='] ?? null).filter(
                ({ id, values }) =>
                  String(id) > afterId && equal.every(([name, value]) => values[name] === value),
              );
            },
            page,
            toBody: (result) => ({ result }),
          },
        ],
        fetchOne: { path: `${INCIDENTS_PATH}/:id`, toBody: (result) => ({ result }) },
        create: {
          method: 'POST',
          path: INCIDENTS_PATH,
          status: 201,
          readValues: readMembers(null),
          toBody: (result) => ({ result }),
        },
        update: {
          method: 'PATCH',
          path: `${INCIDENTS_PATH}/:id`,
          status: 200,
          readValues: readMembers(null),
          toBody: (result) => ({ result }),
        },
        remove: { method: 'DELETE', path: `${INCIDENTS_PATH}/:id`, status: 204 },
      },
    },
  };
}
