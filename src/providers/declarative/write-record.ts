/** One record created, updated or deleted, by its declaration. */
import {
  type ProviderAnswer,
  ProviderError,
  type ProviderRequest,
  type ProviderSession,
  type RecordOutcome,
  type RecordRemoval,
  type RecordWrite,
} from '../contract.ts';
import type { Declaration, ObjectDeclaration, Write } from './declaration.ts';
import { failure, findRefusal, hasSucceeded, messages, type Vendor } from './failure.ts';
import { findObject } from './find-object.ts';
import { findId, isObject, valueAt, withValue } from './json.ts';

export async function writeRecord(
  vendor: Vendor,
  session: ProviderSession,
  write: RecordWrite,
): Promise<RecordOutcome> {
  const object = findObject(vendor, write.objectName);
  const isUpdate = write.type === 'UPDATE';
  const way = isUpdate ? object.update : object.create;
  if (!way) throw cannot(vendor, isUpdate ? 'updates' : 'creates', write.objectName);
  const { id, ...fields } = write.record;
  const recordId = isUpdate ? findPathId(id) : null;
  if (isUpdate && recordId === null) return refused(null, ['An update needs the id of a record']);
  const request = {
    method: way.method,
    path: filled(way.path, recordId),
    headers: headersOf(vendor.declaration, write.idempotencyKey),
    ...content(vendor.declaration, bodyOf(object, way, isUpdate ? fields : write.record)),
  };
  const answer = await session.send(request);
  if (isUpdate && answer.status === 404) return refused(recordId, messages(vendor, answer));
  if (!hasSucceeded(vendor, answer)) return refusedOrThrown(vendor, answer, recordId);
  return written(object, way, { answer, recordId });
}

export async function deleteRecord(
  vendor: Vendor,
  session: ProviderSession,
  { objectName, id }: RecordRemoval,
): Promise<RecordOutcome> {
  const { remove } = findObject(vendor, objectName);
  if (!remove) throw cannot(vendor, 'deletes', objectName);
  const recordId = findPathId(id);
  if (recordId === null) return refused(null, ['No record can have that id']);
  const answer = await session.send({
    method: remove.method,
    path: filled(remove.path, recordId),
    headers: { ...vendor.declaration.headers },
    ...(remove.body && content(vendor.declaration, remove.body)),
  });
  if (hasSucceeded(vendor, answer)) return { success: true, recordId, data: null, errors: [] };
  if (answer.status === 404) return refused(recordId, messages(vendor, answer));
  return refusedOrThrown(vendor, answer, recordId);
}

function cannot({ displayName }: Vendor, verb: string, objectName: string): ProviderError {
  return new ProviderError('BAD_REQUEST', `${displayName} has no ${verb} of ${objectName}`);
}

/** An id that stays one segment of a path, whatever is in it. */
function findPathId(value: unknown): string | null {
  const id = findId(value);
  return id === null || id === '.' || id === '..' ? null : id;
}

function filled(path: string, id: string | null): string {
  return id === null ? path : path.replaceAll('{id}', encodeURIComponent(id));
}

function headersOf(
  { headers, idempotencyHeader }: Declaration,
  key: string | undefined,
): Record<string, string> {
  return { ...headers, ...(idempotencyHeader && key && { [idempotencyHeader]: key }) };
}

function content(
  { bodyFormat }: Declaration,
  body: Record<string, unknown>,
): Pick<ProviderRequest, 'body' | 'bodyFormat'> {
  return { body, bodyFormat };
}

function bodyOf(
  { nested }: ObjectDeclaration,
  { wrap, body }: Write,
  fields: Record<string, unknown>,
): Record<string, unknown> {
  let record: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const map = nested.find(({ names }) => names?.test(name));
    record = map ? withValue(record, `${map.at}/${name}`, value) : { ...record, [name]: value };
  }
  return wrap === '' ? { ...body, ...record } : withValue(body, wrap, record);
}

/** Of a create whose answer names no record, the outcome is unknown. */
function written(
  object: ObjectDeclaration,
  way: Write,
  { answer, recordId }: { answer: ProviderAnswer; recordId: string | null },
): RecordOutcome {
  const data = way.record === undefined ? undefined : valueAt(answer.body, way.record);
  const found = findId(valueAt(data, object.id)) ?? recordId;
  if (found === null) {
    throw new ProviderError('DISCONNECTED', 'The answer does not say which record was made', {
      status: answer.status,
    });
  }
  return { success: true, recordId: found, data: isObject(data) ? data : null, errors: [] };
}

export function refused(recordId: string | null, errors: string[]): RecordOutcome {
  return { success: false, recordId, data: null, errors };
}

function refusedOrThrown(
  vendor: Vendor,
  answer: ProviderAnswer,
  recordId: string | null,
): RecordOutcome {
  const refusal = findRefusal(vendor, answer);
  if (refusal === null) throw failure(vendor, answer, 'WRITE');
  return refused(recordId, refusal);
}
