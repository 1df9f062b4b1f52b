import { BadRequest, byCursor } from '../../paging.ts';
import type { StoredRecord } from '../../vendor-store.ts';
import { BEARER, createLengthCheck, readMembers, type WireVendor } from '../../wire-format.ts';

const TASKS_PATH = '/v0/appBase/tblTasks';
/**
 * Formulas that this server supports: conditions on fields and on the time of the last change, all of which
 * must hold.
 */
const FORMULA = /^AND\((.+)\)$/;
const CONDITION =
  /(?:\{([^}]+)\}='((?:[^'\\]|\\.)*)'|(IS_AFTER|IS_BEFORE)\(IF\(LAST_MODIFIED_TIME\(\),LAST_MODIFIED_TIME\(\),CREATED_TIME\(\)\),'([^']+)'\))/g;

function filterRecords(records: StoredRecord[], formula: string | null): StoredRecord[] {
  if (formula === null) return records;
  const inner = FORMULA.exec(formula)?.[1] ?? '';
  const conditions = [...inner.matchAll(CONDITION)];
  if (conditions.map(([text]) => text).join(',') !== inner) {
    throw new BadRequest('The formula for filtering records is invalid');
  }
  return records.filter(({ changedAt, values }) =>
    conditions.every(([, field, value = '', name, time = '']) => {
      if (field !== undefined) return values[field] === value.replaceAll(/\\(.)/g, '$1');
      return name === 'IS_AFTER' ? changedAt > new Date(time) : changedAt < new Date(time);
    }),
  );
}

/** Tables belong to a base. The values of a record are in `fields`. */
export const airtable: WireVendor = {
  objectName: 'tblTasks',
  textField: 'Name',
  missingId: 'recNone',
  metadata: { base: 'appBase' },
  fixture: {
    createId: (n) => `rec${String(n).padStart(14, '0')}`,
    headers: BEARER,
    invalidStatus: 422,
    toErrorBody: (status, message) =>
      status === 404
        ? { error: 'NOT_FOUND' }
        : { error: { type: 'INVALID_VALUE_FOR_COLUMN', message } },
    findValueError: createLengthCheck('Name'),
    object: {
      toVendorRecord: ({ id, values }) => ({
        id,
        createdTime: '2026-01-01T00:00:00.000Z',
        fields: values,
      }),
      lists: [
        {
          path: TASKS_PATH,
          order: 'created',
          filter: (records, { query }) => filterRecords(records, query.get('filterByFormula')),
          page: byCursor({ name: 'pageSize', fallback: 100, max: 100 }, 'offset'),
          toBody: (records, { next }) => ({ records, ...(next !== null && { offset: next }) }),
        },
      ],
      fetchOne: { path: `${TASKS_PATH}/:id`, toBody: (record) => record },
      create: {
        method: 'POST',
        path: TASKS_PATH,
        status: 200,
        readValues: readMembers('fields'),
        toBody: (record) => record,
      },
      update: {
        method: 'PATCH',
        path: `${TASKS_PATH}/:id`,
        status: 200,
        readValues: readMembers('fields'),
        toBody: (record) => record,
      },
      remove: { method: 'DELETE', path: `${TASKS_PATH}/:id`, status: 200, body: { deleted: true } },
    },
  },
};
