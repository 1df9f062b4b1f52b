import { createConnectionPage, GraphqlRefusal, serveGraphql } from '../../graphql-vendor.ts';
import type { StoredRecord } from '../../vendor-store.ts';
import {
  createLengthCheck,
  isObject,
  selectChanged,
  TOKEN,
  toIsoSeconds,
  type Values,
  type WireVendor,
} from '../../wire-format.ts';

const findValueError = createLengthCheck('firstName');
const CONDITION = /^updated_at:(>=|<=)'(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)'$/;

const toVendorRecord = ({ id, changedAt, values }: StoredRecord): Values => ({
  id,
  ...values,
  updatedAt: toIsoSeconds(changedAt),
});

function searchRecords(records: StoredRecord[], query: unknown): StoredRecord[] {
  const bounds: Record<string, Date> = {};
  for (const part of query == null ? [] : String(query).split(' AND ')) {
    const [, operator = '', time = ''] = CONDITION.exec(part) ?? [];
    if (operator === '') throw new GraphqlRefusal(`Invalid search: ${part}`);
    bounds[operator] = new Date(time);
  }
  const found = selectChanged(records, bounds['>='] ?? null, bounds['<='] ?? null);
  return found.toSorted((a, b) => a.changedAt.getTime() - b.changedAt.getTime());
}

/** The vendor refuses pages beyond this number of records. */
const RECORDS_MAX = 25_000;

/** Validation errors are in `userErrors`, in a response with status 200. */
const createUserErrors = (message: string) => ({
  customer: null,
  userErrors: [{ field: ['firstName'], message }],
});

export const shopify: WireVendor = {
  objectName: 'customers',
  textField: 'firstName',
  missingId: 'gid://shopify/Customer/999',
  fixture: {
    createId: (n) => `gid://shopify/Customer/${n}`,
    headers: { 'X-Shopify-Access-Token': TOKEN },
    invalidStatus: 200,
    toErrorBody: (_status, message) => ({ errors: [{ message }] }),
    findValueError,
    override: serveGraphql('/admin/api/2025-10/graphql.json', ({ name, variables }, store, now) => {
      const { id, ...input } = isObject(variables.input) ? variables.input : {};
      const record = store.find(String(id));
      const problem = findValueError(input);
      if (name === 'customers') {
        const [, offset = '0'] = /^c_(\d+)$/.exec(String(variables.after)) ?? [];
        if (Number(offset) >= RECORDS_MAX) throw new GraphqlRefusal('Too many records');
        return createConnectionPage(
          searchRecords(store.records, variables.query).map(toVendorRecord),
          variables,
          250,
        );
      }
      if (name === 'nodes') {
        const ids = Array.isArray(variables.ids) ? variables.ids : [];
        return ids
          .map((recordId) => store.find(String(recordId)))
          .map((stored) => (stored ? toVendorRecord(stored) : null));
      }
      if (problem) return createUserErrors(problem);
      if (name === 'customerCreate') {
        return { customer: toVendorRecord(store.create(input, now)), userErrors: [] };
      }
      if (!record) return createUserErrors("Customer can't be found");
      if (name === 'customerDelete') {
        store.remove(record);
        return { deletedCustomerId: record.id, userErrors: [] };
      }
      if (name !== 'customerUpdate') throw new GraphqlRefusal(`Field '${name}' doesn't exist`);
      Object.assign(record.values, input);
      return { customer: toVendorRecord(record), userErrors: [] };
    }),
    object: { toVendorRecord, lists: [] },
  },
};
