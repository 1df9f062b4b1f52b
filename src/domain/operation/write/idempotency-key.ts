/** Keys under which a caller's write is done once: a repeated call is answered with the first one's outcome. */
import { createHash } from 'node:crypto';
import type { Row } from '../../../database/rows.ts';
import { conflict } from '../../../errors.ts';
import { DAY_MS } from '../../../work/durations.ts';
import type { Call, Services } from '../../call.ts';
import type { WriteInput } from './write-input.ts';

const LIFE_MS = DAY_MS;

export interface KeyedInput {
  projectId: string;
  key: string;
  inputHash: string;
}

/** Null if the caller gave no key. End users have keys of their own: one says nothing of what others have used. */
export function keyedInput(
  { viewer }: Pick<Call, 'viewer'>,
  projectId: string,
  input: WriteInput,
): KeyedInput | null {
  const { idempotencyKey, projectIdOrName: _, ...rest } = input;
  if (!idempotencyKey) return null;
  const key = viewer.kind === 'END_USER' ? `${viewer.id} ${idempotencyKey}` : idempotencyKey;
  return { projectId, key, inputHash: hashOf(rest) };
}

/** The operation of the earlier call with that key, or null. Throws CONFLICT if its input was another. */
export async function findKeyedOperation(
  { database, now }: Pick<Services, 'database' | 'now'>,
  { projectId, key, inputHash }: KeyedInput,
): Promise<Row<'Operation'> | null> {
  const { prisma } = database;
  const where = { projectId_key: { projectId, key } };
  const known = await prisma.idempotencyKey.findUnique({ where });
  if (!known || known.expireTime <= now()) return null;
  if (known.inputHash !== inputHash) {
    throw conflict('The idempotency key was used with another input.');
  }
  return prisma.operation.findUnique({
    where: { projectId_id: { projectId, id: known.operationId } },
  });
}

/** The key as a write is accepted with it. */
export function storedKey({ key, inputHash }: KeyedInput, now: Date) {
  return { key, inputHash, expireTime: new Date(now.getTime() + LIFE_MS) };
}

/** The same for the same values, in whatever order members were given; null members say nothing. */
function hashOf(input: object): string {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value != null));
  const text = JSON.stringify(given, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(text).digest('hex');
}
