import { BadRequest, byOffset, withTotalHeader } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  readMembers,
  selectChanged,
  toIsoSeconds,
  type WireVendor,
} from '../../wire-format.ts';

const CONDITION = /^sys_updated_on(>=|<=)(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)$/;
const ORDER = 'ORDERBYsys_updated_on';
const INCIDENTS_PATH = '/api/now/table/incident';

/** ServiceNow writes times in UTC with a space. A query is a text of conditions. */
export const serviceNow: WireVendor = {
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
          order: 'oldestChange',
          filter: (records, { query }) => {
            // A circumflex in a value is doubled.
            const parts = (query.get('sysparm_query') ?? '').split(/(?<!\^)\^(?!\^)/);
            const equal: [string, string][] = [];
            if (!parts.includes(ORDER))
              throw new BadRequest('The query must order by sys_updated_on');
            const bounds: Record<string, Date> = {};
            for (const part of parts.filter((candidate) => candidate !== ORDER)) {
              const [, operator = '', time = ''] = CONDITION.exec(part) ?? [];
              const [, field, value = ''] =
                operator === '' ? (/^(\w+)=(.*)$/s.exec(part) ?? []) : [];
              if (field !== undefined) {
                equal.push([field, value.replaceAll('^^', '^')]);
                continue;
              }
              if (operator === '') throw new BadRequest(`Invalid query: ${part}`);
              bounds[operator] = new Date(`${time.replace(' ', 'T')}Z`);
            }
            return selectChanged(records, bounds['>='] ?? null, bounds['<='] ?? null).filter(
              ({ values }) => equal.every(([name, value]) => values[name] === value),
            );
          },
          page: withTotalHeader(
            byOffset({ name: 'sysparm_limit', fallback: 10_000, max: 10_000 }, 'sysparm_offset'),
            'x-total-count',
          ),
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
