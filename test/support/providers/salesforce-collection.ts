/** sObject Collections of the Salesforce test server: many records in one request. */
import { z } from 'zod';
import type { ServedResponse } from './provider-server.ts';
import { SalesforceRefusal, type SalesforceStore, type WriteOptions } from './salesforce-store.ts';

const body = z.strictObject({
  allOrNone: z.boolean(),
  records: z
    .array(z.looseObject({ attributes: z.strictObject({ type: z.string() }) }))
    .min(1)
    .max(200),
});

type Result = { id?: string; success: boolean; errors: unknown[] };
/** Carries the result of each record out of a transaction that is rolled back. */
class RolledBack extends Error {
  readonly results: Result[];

  constructor(results: Result[]) {
    super();
    this.results = results;
  }
}

export function writeCollection(
  store: SalesforceStore,
  request: { method: 'POST' | 'PATCH'; body: unknown },
  options: WriteOptions,
): ServedResponse {
  const { allOrNone, records } = body.parse(request.body);
  const write = ({ attributes, ...record }: (typeof records)[number]): Result =>
    tryToWrite(() => {
      if (request.method === 'POST') return store.create(attributes.type, record, options);
      const { id, ...values } = record;
      if (!id) {
        const message = 'Id not specified in an update call';
        throw new SalesforceRefusal(400, 'MISSING_ARGUMENT', message, ['Id']);
      }
      store.update(attributes.type, String(id), values);
      return String(id);
    });
  try {
    const results = store.transaction(() => {
      const allResults = records.map(write);
      if (allOrNone && allResults.some(({ success }) => !success)) throw new RolledBack(allResults);
      return allResults;
    });
    return { status: 200, body: results };
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error;
    return { status: 200, body: error.results.map(markRolledBack) };
  }
}

function tryToWrite(write: () => string): Result {
  try {
    return { id: write(), success: true, errors: [] };
  } catch (error) {
    if (!(error instanceof SalesforceRefusal)) throw error;
    const { errorCode: statusCode, message, fields } = error;
    return { success: false, errors: [{ statusCode, message, fields }] };
  }
}

function markRolledBack(result: Result): Result {
  if (!result.success) return result;
  const message = 'Record rolled back because not all records were valid';
  const error = { statusCode: 'ALL_OR_NONE_OPERATION_ROLLED_BACK', message, fields: [] };
  return { success: false, errors: [error] };
}
