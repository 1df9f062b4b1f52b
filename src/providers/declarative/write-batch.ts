/** Many records in one request, by a declaration. The vendor says of each what became of it. */
import type { ProviderAnswer, ProviderSession } from '../contract.ts';
import type { BatchWrite, RecordOutcome } from '../moving-records.ts';
import { ProviderError } from '../provider-error.ts';
import type { ObjectDeclaration } from './declaration/declaration.ts';
import type { Batch } from './declaration/object-declaration.ts';
import { failure, findRefusal, hasSucceeded, textsIn, type Vendor } from './failure.ts';
import { findObject } from './find-object.ts';
import { findId, isObject, valueAt, withValue } from './json.ts';
import { withNested } from './nested-fields.ts';
import { fillPath, fillTexts } from './template.ts';
import { cannot, refused } from './write-record.ts';

export async function writeBatch(
  vendor: Vendor,
  session: ProviderSession,
  { type, objectName, records, allOrNone, idempotencyKey: key }: BatchWrite,
): Promise<RecordOutcome[]> {
  const object = findObject(vendor, objectName);
  const route = type === 'CREATE' ? object.createMany : object.updateMany;
  if (!route) throw cannot(vendor, `batches of ${type.toLowerCase()}s`, objectName);
  const ids = records.map(({ record }) => (type === 'CREATE' ? null : findId(record.id)));
  if (allOrNone && records.length > 1 && !route.partial) {
    return ids.map((id) => refused(id, [`${vendor.displayName} can't refuse a batch as a whole`]));
  }
  const { headers, bodyFormat, idempotencyHeader } = vendor.declaration;
  const list = records.map(({ record }) => withNested(object.nested, record));
  const answer = await session.send({
    method: route.method,
    path: fillPath(route.path, { object: objectName }, session),
    query: { ...route.query, ...(!allOrNone && route.partial) },
    headers: {
      ...fillTexts(headers, session),
      ...(idempotencyHeader && key && { [idempotencyHeader]: key }),
    },
    body: withValue(route.body, route.records, list),
    bodyFormat,
  });
  const found = valueAt(answer.body, route.outcomes);
  // Vendors that refuse some answer 207 or even 400, and yet say of each record what became of it.
  const isTold = hasSucceeded(vendor, answer) || findRefusal(vendor, answer) !== null;
  if (isTold && Array.isArray(found) && found.length === records.length) {
    return found.map((outcome, n) => outcomeOf(object, route, { outcome, id: ids[n] ?? null }));
  }
  return refusedOrThrown(vendor, answer, ids);
}

function outcomeOf(
  object: ObjectDeclaration,
  { success, recordId, record, errors }: Batch,
  { outcome, id }: { outcome: unknown; id: string | null },
): RecordOutcome {
  const found = id ?? findId(valueAt(outcome, recordId));
  if (valueAt(outcome, success.at) === success.value && found !== null) {
    const data = record === undefined ? undefined : valueAt(outcome, record);
    return { success: true, recordId: found, data: isObject(data) ? data : null, errors: [] };
  }
  const words = errors.flatMap((at) => textsIn(valueAt(outcome, at)));
  return refused(id, words.length > 0 ? words : [`No reason given for ${object.displayName}`]);
}

function refusedOrThrown(
  vendor: Vendor,
  answer: ProviderAnswer,
  ids: (string | null)[],
): RecordOutcome[] {
  if (hasSucceeded(vendor, answer)) {
    const { status } = answer;
    throw new ProviderError('DISCONNECTED', 'The answer does not say what was written', { status });
  }
  const refusal = findRefusal(vendor, answer);
  if (refusal === null) throw failure(vendor, answer, 'WRITE');
  return ids.map((id) => refused(id, refusal));
}
