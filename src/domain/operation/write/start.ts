/** Accepts a write: stores its operation and its records together or not at all. */
import type { WriteToAccept } from '../../../database/hot/accept-writes.ts';
import type { Row } from '../../../database/rows.ts';
import { newId } from '../../../ids.ts';
import type { Association } from '../../../providers/moving-records.ts';
import { HOUR_MS } from '../../../work/durations.ts';
import { newLeaseToken } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import { asStoredJson } from '../../storable-json.ts';
import type { LogLine } from '../operation-work.ts';
import { type KeyedInput, storedKey } from './idempotency-key.ts';
import { writeMetadata } from './outcome.ts';
import { ACCEPT_WRITES, type Claim, type WriteEntry } from './task.ts';
import { RETRY_HOURS, type WriteInput } from './write-input.ts';
import type { WritePlan } from './write-plan.ts';

export interface StartedWrite {
  operation: Row<'Operation'>;
  /** Set for a synchronous write, which runs in the process of its caller. */
  claim: Claim | null;
  entries: WriteEntry[];
}

export interface WriteToStart {
  input: WriteInput;
  plan: WritePlan;
  keyed: KeyedInput | null;
}

/** Stores the write and its operation. Null if another call took the idempotency key. */
export async function startWrite(
  services: Services,
  write: WriteToStart,
): Promise<StartedWrite | null> {
  const row = rowOf(services, write);
  const accepted = await services.database.changes.run(ACCEPT_WRITES, row);
  if (!accepted) return null;
  const operation = operationOf(row, accepted.createTime);
  const entries = entriesOf(row);
  const task = { ...taskOf(row), createTime: accepted.createTime };
  const { account, module } = write.plan;
  const target = { account, module };
  const claim = row.leaseToken === null ? null : { task, wasUncertain: false, entries, target };
  return { operation, claim, entries };
}

function rowOf(services: Services, write: WriteToStart): AcceptedRow {
  const { batchPolicy, retryPolicy } = write.input;
  const row = acceptedRow(services, write);
  const { now } = row;
  return {
    ...row,
    allOrNone: batchPolicy?.allOrNone ?? false,
    deadlineTime: new Date(now.getTime() + (retryPolicy?.deadlineHours ?? RETRY_HOURS) * HOUR_MS),
    leaseToken: row.mode === 'SYNCHRONOUS' ? newLeaseToken(services.database.processes.id) : null,
  };
}

type AcceptedRow = WriteToAccept<
  Pick<WriteEntry, 'record'> & { associations?: Association[]; ifEmpty?: string[] }
>;

/** The row of an accepted write: due immediately, without a lease. */
export function acceptedRow(
  { now: clock }: Services,
  { input, plan, keyed }: WriteToStart,
): AcceptedRow {
  const now = clock();
  const { id: installationId, projectId, integrationId, configId, groupId } = plan.installation;
  return {
    id: newId('opr'),
    projectId,
    integrationId,
    installationId,
    configId,
    groupId,
    consumerId: plan.account?.consumerId ?? null,
    metadata: writeMetadata({ objectName: plan.objectName }),
    objectName: plan.objectName,
    type: input.type,
    mode: input.mode === 'ASYNCHRONOUS' ? 'ASYNCHRONOUS' : 'SYNCHRONOUS',
    allOrNone: false,
    headers: input.headers,
    openGroup: null,
    dueTime: now,
    deadlineTime: now,
    leaseToken: null,
    now,
    firstLine: { id: newId('log'), ...firstLine(input, plan) },
    entries: plan.records.map(({ record, associations, ifEmpty }) => ({
      record: asStoredJson(record),
      ...(ifEmpty.length > 0 && { ifEmpty }),
      ...(associations && { associations: asStoredJson(associations) }),
    })),
    idempotencyKey: keyed && storedKey(keyed, now),
  };
}

/** The operation as a read would return it now. */
export function operationOf(row: WriteToAccept, createTime: Date): Row<'Operation'> {
  const { id, projectId, integrationId, installationId, configId, groupId, consumerId } = row;
  return {
    id,
    projectId,
    integrationId,
    installationId,
    configId,
    groupId,
    consumerId,
    actionType: 'WRITE',
    status: 'IN_PROGRESS',
    result: null,
    metadata: row.metadata,
    createTime,
    updateTime: null,
  };
}

function taskOf(row: WriteToAccept): Omit<Claim['task'], 'createTime'> {
  const { id, projectId, installationId, objectName, type, mode, now } = row;
  return {
    id,
    projectId,
    installationId,
    objectName,
    type,
    mode,
    allOrNone: row.allOrNone,
    headers: row.headers,
    openGroup: row.openGroup,
    recordCount: row.entries.length,
    dueTime: row.dueTime,
    leaseToken: row.leaseToken,
    isUncertain: true,
    uncertainSince: now,
    attempts: 1,
    lastAttempt: now,
    deadlineTime: row.deadlineTime,
    endTime: null,
  };
}

function entriesOf({ id: operationId, entries }: AcceptedRow): WriteEntry[] {
  return entries.map(({ record, associations = null, ifEmpty = null }, position) => ({
    position,
    operationId,
    record,
    associations,
    ifEmpty,
    outcome: null,
  }));
}

const VERBS = { CREATE: 'create', UPDATE: 'update', DELETE: 'delete' } as const;

/** The first line of the operation's log. It names fields, but never their values. */
function firstLine({ type }: WriteInput, plan: WritePlan): LogLine {
  const { records, leftOut, defaults, objectName } = plan;
  const what = records.length === 1 ? 'record' : 'records';
  const details = {
    ...(leftOut.length > 0 && { leftOut }),
    ...(defaults.length > 0 && { defaults }),
  };
  return {
    severity: 'DEBUG',
    message: `[${objectName}] ${records.length} ${what} to ${VERBS[type]}`,
    ...(Object.keys(details).length > 0 && { details }),
  };
}
