/** Idempotency keys of writes. A repeated call with the same key returns the outcome of the first one. */
import { createHash } from 'node:crypto';
import type { Row } from '../../../database/rows.ts';
import { conflict } from '../../../errors.ts';
import { DAY_MS } from '../../../work/durations.ts';
import type { Call, Services } from '../../call.ts';
import type { WriteInput } from './write-input.ts';

const KEY_LIFETIME_MS = DAY_MS;

export interface WriteKey {
  projectId: string;
  key: string;
  inputHash: string;
}

/** Returns null if the caller sent no key. Each end user has separate keys, and can't detect another end user's keys. */
export function createWriteKey(
  { viewer }: Pick<Call, 'viewer'>,
  projectId: string,
  input: WriteInput,
): WriteKey | null {
  const { idempotencyKey, projectIdOrName: _, ...write } = input;
  if (!idempotencyKey) return null;
  const key = viewer.kind === 'END_USER' ? `${viewer.id} ${idempotencyKey}` : idempotencyKey;
  return { projectId, key, inputHash: hashInput(write) };
}

/** Finds the operation of an earlier call with the key. Throws CONFLICT if that call had a different input. */
export async function findOperationByKey(
  { database, now }: Pick<Services, 'database' | 'now'>,
  { projectId, key, inputHash }: WriteKey,
): Promise<Row<'Operation'> | null> {
  const { prisma } = database;
  const where = { projectId_key: { projectId, key } };
  const storedKey = await prisma.idempotencyKey.findUnique({ where });
  if (!storedKey || storedKey.expireTime <= now()) return null;
  if (storedKey.inputHash !== inputHash) {
    throw conflict('The idempotency key was used with another input. Use a new key.');
  }
  return prisma.operation.findUnique({
    where: { projectId_id: { projectId, id: storedKey.operationId } },
  });
}

/** Returns the columns that store the key with an accepted write. */
export function toKeyColumns({ key, inputHash }: WriteKey, now: Date) {
  return { key, inputHash, expireTime: new Date(now.getTime() + KEY_LIFETIME_MS) };
}

/** Returns equal hashes for equal values, regardless of the order of members. Null members count as absent. */
function hashInput(input: object): string {
  const members = Object.fromEntries(Object.entries(input).filter(([, value]) => value != null));
  const text = JSON.stringify(members, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(text).digest('hex');
}
