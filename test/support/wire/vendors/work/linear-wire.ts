import { createConnectionPage, GraphqlRefusal, serveGraphql } from '../../graphql-vendor.ts';
import type { StoredRecord } from '../../vendor-store.ts';
import {
  BEARER,
  createLengthCheck,
  isObject,
  type Values,
  type WireVendor,
} from '../../wire-format.ts';

const findValueError = createLengthCheck('title');

const toVendorRecord = ({ id, changedAt, values }: StoredRecord): Values => ({
  id,
  ...values,
  updatedAt: changedAt.toISOString(),
});

/** True if the record matches the comparators of each field except `updatedAt`. */
function matchesFields(record: StoredRecord, filter: unknown): boolean {
  const { updatedAt: _, ...fields } = isObject(filter) ? filter : {};
  return Object.entries(fields).every(([name, comparators]) => {
    const { eq, in: values, ...others } = isObject(comparators) ? comparators : {};
    if (Object.keys(others).length > 0) throw new GraphqlRefusal('Unknown comparator');
    const value = name === 'id' ? record.id : record.values[name];
    return Array.isArray(values) ? values.includes(value) : value === eq;
  });
}

function matchesTimes({ changedAt }: StoredRecord, filter: unknown): boolean {
  const bounds = isObject(filter) && isObject(filter.updatedAt) ? filter.updatedAt : {};
  const { gte, lte, ...others } = bounds as { gte?: string; lte?: string };
  if (Object.keys(others).length > 0) throw new GraphqlRefusal('Unknown comparator');
  return (!gte || changedAt >= new Date(gte)) && (!lte || changedAt <= new Date(lte));
}

export const linear: WireVendor = {
  objectName: 'issues',
  textField: 'title',
  missingId: '00000000-0000-4000-8000-999999999999',
  fixture: {
    createId: (n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    headers: BEARER,
    invalidStatus: 200,
    toErrorBody: (_status, message) => ({
      errors: [{ message, extensions: { type: 'invalid input', userError: true } }],
      data: null,
    }),
    findValueError,
    override: serveGraphql('/', ({ name, variables }, store, now) => {
      const input = isObject(variables.input) ? variables.input : {};
      const record = store.find(String(variables.id));
      const problem = findValueError(input);
      if (problem) throw new GraphqlRefusal(problem);
      if (['issueUpdate', 'issueDelete'].includes(name) && !record) {
        throw new GraphqlRefusal('Entity not found: Issue');
      }
      switch (name) {
        case 'issues': {
          const records = store.records.filter(
            (candidate) =>
              matchesTimes(candidate, variables.filter) &&
              matchesFields(candidate, variables.filter),
          );
          return createConnectionPage(records.map(toVendorRecord), variables, 250);
        }
        case 'issueCreate':
          return { success: true, issue: toVendorRecord(store.create(input, now)) };
        case 'issueUpdate':
          if (record) Object.assign(record.values, input);
          return { success: true, issue: record && toVendorRecord(record) };
        case 'issueDelete':
          if (record) store.remove(record);
          return { success: true };
        default:
          throw new GraphqlRefusal(`Cannot query field ${name}`);
      }
    }),
    object: { toVendorRecord, lists: [] },
  },
};
