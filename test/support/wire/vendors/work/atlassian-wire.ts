import { BadRequest, byCursor, type Page } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  isObject,
  readMembers,
  toQuery,
  type WireVendor,
} from '../../wire-format.ts';

const CONDITION = /^updated (>=|<=) "(\d{4}-\d\d-\d\d \d\d:\d\d)"$/;
const ORDER = ' ORDER BY updated DESC';
/** The time zone of the account's user, which differs from UTC. */
const USER_ZONE = '+05:30';

const page: Page = (records, request, url) => {
  const query = toQuery(request.body);
  const size = { name: 'maxResults', fallback: 50, max: 5000 };
  return byCursor(size, 'nextPageToken')(records, { ...request, query }, url);
};

export const atlassian: WireVendor = {
  objectName: 'issues',
  textField: 'summary',
  missingId: '99999',
  fixture: {
    createId: (n) => String(10_000 + n),
    headers: BEARER,
    toErrorBody: (status, message) =>
      status === 400
        ? { errorMessages: [], errors: { summary: message } }
        : { errorMessages: [message], errors: {} },
    findValueError: createLengthCheck('summary'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        id,
        key: `APP-${id}`,
        fields: { ...values, updated: changedAt.toISOString().replace('Z', '+0000') },
      }),
      lists: [
        {
          method: 'POST',
          path: '/3/search/jql',
          order: 'newestChange',
          filter: (records, { body }) => {
            const { jql, fields } = isObject(body) ? body : {};
            if (!Array.isArray(fields))
              throw new BadRequest('Without fields, the response has only IDs');
            const text = String(jql);
            if (!text.endsWith(ORDER)) throw new BadRequest('The JQL must order by updated');
            const bounds: Record<string, Date> = {};
            for (const part of text.slice(0, -ORDER.length).split(' AND ')) {
              const [, operator = '', time = ''] = CONDITION.exec(part) ?? [];
              if (operator === '') throw new BadRequest(`Unbounded JQL: ${part}`);
              bounds[operator] = new Date(`${time.replace(' ', 'T')}:00${USER_ZONE}`);
            }
            const { '>=': since, '<=': until } = bounds;
            return records.filter(
              ({ changedAt }) => (!since || changedAt >= since) && (!until || changedAt <= until),
            );
          },
          page,
          toBody: (issues, { next }) => ({
            issues,
            isLast: next === null,
            ...(next !== null && { nextPageToken: next }),
          }),
        },
      ],
      fetchOne: { path: '/3/issue/:id', toBody: (record) => record },
      create: {
        method: 'POST',
        path: '/3/issue',
        status: 201,
        readValues: readMembers('fields'),
        toBody: ({ id, key }) => ({ id, key, self: '…' }),
      },
      update: {
        method: 'PUT',
        path: '/3/issue/:id',
        status: 204,
        readValues: readMembers('fields'),
        toBody: () => undefined,
      },
      remove: { method: 'DELETE', path: '/3/issue/:id', status: 204 },
      fields: {
        path: '/3/field',
        body: [
          { id: 'summary', name: 'Summary', custom: false, schema: { type: 'string' } },
          { id: 'customfield_10001', name: 'Team', custom: true, schema: { type: 'team' } },
        ],
      },
    },
  },
};
