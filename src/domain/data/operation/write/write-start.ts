/**
 * Accepts a write: stores its operation and its records together or not at all. A repeated call with the same
 * idempotency key returns the outcome of the first one.
 */
import { hash } from 'node:crypto';
import { newLeaseToken } from '../../../../database/leases/lease.ts';
import {
  acceptWrites,
  collectWrites,
  type WriteToAccept,
} from '../../../../database/statements/hot/accept-writes.ts';
import type { Row } from '../../../../database/statements/tables.ts';
import { conflict } from '../../../../kernel/errors.ts';
import { newId } from '../../../../kernel/ids.ts';
import { findCurrentTraceparent } from '../../../../kernel/spans.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../work/durations.ts';
import type { Call, RowServices, Services } from '../../../access/call.ts';
import { type LogLine, toLogRow } from '../operation-work.ts';
import { createWriteMetadata } from './outcome.ts';
import { RETRY_HOURS_DEFAULT, WRITE_LIMITS, type WriteInput } from './write-input.ts';
import type { WritePlan } from './write-plan.ts';
import { listOmittedFields, WRITE_LEASES, type WriteEntry, type WriteTask } from './write-task.ts';

/** Creates a task for each write, which is due immediately or leased from the start. */
const ACCEPT_WRITES = acceptWrites(WRITE_LEASES.leaseEndSql, { isConditional: false });
/** Accepts writes that have an idempotency key or a proposal. */
const ACCEPT_CONDITIONAL_WRITES = acceptWrites(WRITE_LEASES.leaseEndSql, {
  isConditional: true,
});

/**
 * Adds each write to the open task of its installation, object and type. The task runs when it is full, or when one of
 * its records has waited for its maximum delay. A claim closes it.
 */
const COLLECT_WRITES = collectWrites(WRITE_LIMITS.batch);

export interface WriteToStart {
  input: WriteInput;
  writePlan: WritePlan;
  key: WriteKey | null;
  /** The proposal that the write commits. Absent for other writes. */
  proposal?: WriteToAccept['proposal'];
}

interface StartedWrite {
  operation: Row<'Operation'>;
  /** The task, held for this process if `isHeld`. Null if another call took the idempotency key. */
  task: WriteTask | null;
  /** The records of this call. A task that collects records also has records of other calls. */
  entries: WriteEntry[];
}

/** Thrown if a write can no longer commit its proposal. */
export class ProposalTaken extends Error {
  override readonly name = 'ProposalTaken';
}

/**
 * Stores the write, or finds the operation of the call that took its idempotency key. With `isHeld`, this process has
 * the lease of the task from the start, and must run its first attempt. Throws ProposalTaken if its proposal is not
 * approved, or was committed by another call.
 */
export async function acceptWrite(
  services: RowServices,
  write: WriteToStart,
  { isHeld }: { isHeld: boolean },
): Promise<StartedWrite> {
  const { writePlan, key } = write;
  const leaseToken = isHeld ? newLeaseToken(services.database.processes.id) : null;
  const row = toRow(services, write, leaseToken);
  const acceptedWrite = await services.database.runShared(selectChange(write), row);
  if (acceptedWrite) {
    const entries = writePlan.entries.map((entry) => ({
      ...entry,
      operationId: row.id,
      outcome: null,
    }));
    return {
      operation: acceptedWrite,
      task: { ...acceptedWrite, id: acceptedWrite.taskId },
      entries,
    };
  }
  const operation = key && (await findOperationByKey(services, key));
  if (operation) return { operation, task: null, entries: [] };
  if (write.proposal) throw new ProposalTaken();
  throw new Error('Bug: a write was neither accepted nor found by its idempotency key.');
}

function selectChange({ input, key, proposal }: WriteToStart) {
  if (input.autoBatchPolicy) return COLLECT_WRITES;
  return key || proposal ? ACCEPT_CONDITIONAL_WRITES : ACCEPT_WRITES;
}

function toRow(
  services: Pick<Services, 'now'>,
  { input, writePlan, key, proposal }: WriteToStart,
  leaseToken: string | null,
): WriteToAccept {
  const now = services.now();
  const { target, objectName, entries } = writePlan;
  const { id: installationId, projectId, integrationId, configId, groupId } = target.installation;
  return {
    id: newId('opr'),
    projectId,
    integrationId,
    installationId,
    configId,
    groupId,
    consumerId: target.consumer.id,
    metadata: createWriteMetadata({ objectName, omittedFields: listOmittedFields(entries) }),
    objectName,
    type: input.type,
    mode: input.mode,
    allOrNone: input.batchPolicy?.allOrNone ?? false,
    headers: input.headers,
    batchKey: input.autoBatchPolicy ? createOpenTaskKey(input, writePlan) : null,
    ...computeTimes(input, now),
    leaseToken,
    traceparent: findCurrentTraceparent(),
    proposal: proposal ?? null,
    now,
    firstLine: toLogRow(createFirstLine(input, writePlan)),
    entries,
    idempotencyKey: key && toKeyColumns(key, now),
  };
}

function computeTimes({ autoBatchPolicy, retryPolicy }: WriteInput, now: Date) {
  const delayMs = (autoBatchPolicy?.maxDelayMinutes ?? 0) * MINUTE_MS;
  const retryHours =
    autoBatchPolicy?.retryDeadlineHours ?? retryPolicy?.deadlineHours ?? RETRY_HOURS_DEFAULT;
  const dueTime = new Date(now.getTime() + delayMs);
  const deadlineTime = new Date(dueTime.getTime() + retryHours * HOUR_MS);
  return { dueTime, deadlineTime };
}

/** Creates the key of the open task. Records with different headers can't share a task, because they can't share a request. */
function createOpenTaskKey(
  { type, headers }: WriteInput,
  { target, objectName }: WritePlan,
): string {
  const parts = [target.installation.id, type, objectName];
  if (!headers) return JSON.stringify(parts);
  return JSON.stringify([...parts, hash('sha256', JSON.stringify(headers), 'base64url')]);
}

/** The first line of the operation's log. It names fields, but never their values. */
function createFirstLine({ type }: WriteInput, writePlan: WritePlan): LogLine {
  const { entries, defaults, objectName } = writePlan;
  const omittedFields = listOmittedFields(entries);
  const noun = entries.length === 1 ? 'record' : 'records';
  const details = {
    ...(omittedFields.length > 0 && { omittedFields }),
    ...(defaults.length > 0 && { defaults }),
  };
  return {
    severity: 'DEBUG',
    message: `[${objectName}] ${entries.length} ${noun} to ${type.toLowerCase()}`,
    ...(Object.keys(details).length > 0 && { details }),
  };
}

const KEY_LIFETIME_MS = DAY_MS;

interface WriteKey {
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
  { database, now }: RowServices,
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
function toKeyColumns({ key, inputHash }: WriteKey, now: Date) {
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
  return hash('sha256', text, 'hex');
}
