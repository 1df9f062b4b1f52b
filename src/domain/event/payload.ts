/** What deliveries send and receivers answer, for callers who may see it. */
import type { Row } from '../../database/rows.ts';
import { DomainError } from '../../errors.ts';
import { load } from '../batched.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import type { Batch } from '../scope.ts';
import type { DeliveryAttempt } from './delivery.ts';

type Delivery = Row<'Delivery'>;

/** Of the bodies that one query reads at once: a process holds several such queries. */
const BODIES_BYTES_MAX = 16 * 1024 * 1024;

/** The sizes of what deliveries send, in bytes. */
export const bodyBytesOf: Batch<Delivery, number> = async ({ database }, deliveries) => {
  const ids = deliveries.map(({ id }) => id);
  const sizes = await database.rows.query<{ id: string; bytes: number }>(BODY_BYTES, [ids]);
  const byId = new Map(sizes.map(({ id, bytes }) => [id, bytes]));
  return ids.map((id) => byId.get(id) ?? 0);
};

const BODY_BYTES =
  'select "id", octet_length("body") as "bytes" from "Delivery" where "id" = any($1)';
const BODIES = 'select "id", "body" from "Delivery" where "id" = any($1)';

/** What a delivery sends. Throws QUERY_LIMIT_EXCEEDED for those that are too much together. */
export const deliveryBody = read('payloads:read', async (call: Call, delivery: Delivery) => {
  const body = await load(call, bodiesOf, delivery);
  if (body !== undefined) return body;
  const detail = `The bodies of a query are ${BODIES_BYTES_MAX} bytes at most: request fewer deliveries at once.`;
  throw new DomainError('QUERY_LIMIT_EXCEEDED', detail);
});

/** Undefined from where on they are too much; null for one that retention has removed meanwhile. */
const bodiesOf: Batch<Delivery, object | null | undefined> = async (call, deliveries) => {
  const sizes = await bodyBytesOf(call, deliveries);
  let bytes = 0;
  const wanted = deliveries.filter((_delivery, index) => {
    bytes += sizes[index] ?? 0;
    return bytes <= BODIES_BYTES_MAX;
  });
  const ids = wanted.map(({ id }) => id);
  const found = await call.database.rows.query<{ id: string; body: string }>(BODIES, [ids]);
  const bodies = new Map(found.map(({ id, body }) => [id, JSON.parse(body) as object]));
  const within = new Set(ids);
  return deliveries.map(({ id }) => (within.has(id) ? (bodies.get(id) ?? null) : undefined));
};

/** The beginning of what a receiver answered. */
export const responseBodyOf = read(
  'payloads:read',
  (_call: Call, { responseBody }: DeliveryAttempt) => responseBody,
);
