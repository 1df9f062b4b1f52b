/** A page of an object's records, by its declaration. */
import { z } from 'zod';
import {
  type PageRead,
  type ProviderAnswer,
  ProviderError,
  type ProviderRecord,
  type ProviderSession,
  type RecordPage,
} from '../contract.ts';
import type { List, ObjectDeclaration } from './declaration.ts';
import { failure, hasSucceeded, type Vendor } from './failure.ts';
import { findObject } from './find-object.ts';
import { findId, isObject, valueAt } from './json.ts';
import { pageRequest } from './page-request.ts';
import { nextPosition, readPosition } from './position.ts';
import { readTime } from './times.ts';

/**
 * Reads what the window holds, whatever the vendor can filter by: what it can't leave out is left out here
 * by the records' own time of change.
 */
export async function readPage(
  vendor: Vendor,
  session: ProviderSession,
  read: PageRead,
): Promise<RecordPage> {
  const object = findObject(vendor, read.objectName);
  const by = (read.since || read.until) && object.changed ? 'changed' : 'all';
  const list = (by === 'changed' && object.changed) || object.all;
  const position = readPosition(read.cursor, by);
  const answer = await session.send(pageRequest(vendor.declaration, list, { read, position }));
  if (!hasSucceeded(vendor, answer)) throw failure(vendor, answer, 'READ');
  const records = recordsIn(answer, list).map((raw) => toRecord(object, raw, read.fields));
  const page = {
    answer,
    baseUrl: session.baseUrl,
    ids: records.map(({ id }) => id),
    size: list.size ? Math.min(read.pageSize, list.size.max) : null,
    position,
  };
  const isPast = list.newestFirst && isBefore(object, records.at(-1), read.since);
  const next = isPast ? null : nextPosition(list, page, by);
  const total = list.total === undefined ? null : valueAt(answer.body, list.total);
  return {
    records: records.filter((record) => isInWindow(object, record, read)),
    nextCursor: next && JSON.stringify(next),
    estimatedTotal: typeof total === 'number' ? total : null,
  };
}

const records = z.array(z.record(z.string(), z.unknown()));

/** Throws RETRYABLE for an answer of another form: an error page of a proxy passes. */
function recordsIn(answer: ProviderAnswer, { records: at, record }: List) {
  const found = valueAt(answer.body, at) ?? (isObject(answer.body) && at !== '' ? [] : undefined);
  const parsed = records.safeParse(
    Array.isArray(found) ? found.map((item) => valueAt(item, record)) : found,
  );
  if (parsed.success) return parsed.data;
  throw new ProviderError('RETRYABLE', 'The answer has no list of records', {
    status: answer.status,
  });
}

function toRecord(
  { id, nested }: ObjectDeclaration,
  raw: Record<string, unknown>,
  fields: string[],
): ProviderRecord {
  const recordId = findId(valueAt(raw, id));
  if (recordId === null) throw new ProviderError('RETRYABLE', 'A record of the list has no id');
  const maps = nested.map(({ at }) => valueAt(raw, at)).filter(isObject);
  const value = (field: string): unknown =>
    field === 'id' ? recordId : [raw, ...maps].find((map) => Object.hasOwn(map, field))?.[field];
  return {
    id: recordId,
    fields: Object.fromEntries(fields.map((field) => [field, value(field) ?? null])),
    raw,
  };
}

function isInWindow(
  object: ObjectDeclaration,
  record: ProviderRecord,
  { since, until }: Pick<PageRead, 'since' | 'until'>,
): boolean {
  const changedAt = changeOf(object, record);
  if (changedAt === null) return true;
  return (!since || changedAt >= since) && (!until || changedAt <= until);
}

function isBefore(
  object: ObjectDeclaration,
  record: ProviderRecord | undefined,
  since: Date | undefined,
): boolean {
  const changedAt = record && changeOf(object, record);
  return Boolean(since && changedAt && changedAt < since);
}

/** Null if the record does not say. */
function changeOf({ changedAt }: ObjectDeclaration, { raw }: ProviderRecord): Date | null {
  return changedAt ? readTime(valueAt(raw, changedAt.at), changedAt.format) : null;
}
