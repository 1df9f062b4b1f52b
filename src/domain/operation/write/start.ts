/** Accepts a write: its operation, its records and its job are stored together, or nothing is. */
import type { Row } from '../../../database/rows.ts';
import { inTransaction, type Transaction } from '../../../database/transaction.ts';
import { HOUR_MS } from '../../../work/durations.ts';
import type { Services } from '../../call.ts';
import { createOperation, logOperation } from '../operation-work.ts';
import { collectRecord } from './auto-batch.ts';
import { insertKey, type KeyedInput } from './idempotency-key.ts';
import { writeMetadata } from './outcome.ts';
import { type Claim, insertClaimed, insertTask } from './task.ts';
import { RETRY_HOURS, type WriteInput } from './write-input.ts';
import type { WritePlan } from './write-plan.ts';

export interface StartedWrite {
  operation: Row<'Operation'>;
  /** Of a synchronous write, which its caller's process runs itself. */
  claim: Claim | null;
}

export interface WriteToStart {
  input: WriteInput;
  plan: WritePlan;
  keyed: KeyedInput | null;
}

/** Throws a unique violation if another call has taken the idempotency key meanwhile. */
export function startWrite(
  services: Services,
  { input, plan, keyed }: WriteToStart,
): Promise<StartedWrite> {
  return inTransaction(services.database, async (tx) => {
    const { installation, objectName } = plan;
    const metadata = writeMetadata({ objectName });
    const operation = await createOperation(tx, { installation, actionType: 'WRITE', metadata });
    if (keyed) {
      await insertKey(tx, keyed, { operationId: operation.id, now: services.now() });
    }
    await logOperation(tx, operation, firstLine(input, plan));
    const claim = await storeRecords(services, tx, { input, plan, operation });
    return { operation, claim };
  });
}

async function storeRecords(
  services: Services,
  tx: Transaction,
  {
    input,
    plan,
    operation,
  }: Pick<WriteToStart, 'input' | 'plan'> & Pick<StartedWrite, 'operation'>,
): Promise<Claim | null> {
  const { type, headers, autoBatchPolicy: policy, batchPolicy, retryPolicy } = input;
  const { objectName } = plan;
  const entries = plan.records.map(({ record, associations }) => ({
    record: record as object,
    ...(associations && { associations: associations as object }),
  }));
  const [entry] = entries;
  if (policy && entry) {
    await collectRecord(services, tx, { operation, objectName, type, headers, policy, entry });
    return null;
  }
  const now = services.now();
  const task = {
    operation,
    objectName,
    type,
    headers,
    allOrNone: batchPolicy?.allOrNone ?? false,
    deadlineTime: new Date(now.getTime() + (retryPolicy?.deadlineHours ?? RETRY_HOURS) * HOUR_MS),
    now,
    entries,
  };
  if (input.mode !== 'ASYNCHRONOUS') return insertClaimed(tx, services.database.processes.id, task);
  await insertTask(tx, task);
  const { id: taskId, installationId: group } = operation;
  await services.queue.enqueue(tx, 'run-write', { taskId }, { singletonKey: taskId, group });
  return null;
}

const VERBS = { CREATE: 'create', UPDATE: 'update', DELETE: 'delete' } as const;

function firstLine({ type }: WriteInput, { records, leftOut, objectName }: WritePlan) {
  const what = records.length === 1 ? 'record' : 'records';
  return {
    severity: 'DEBUG' as const,
    message: `[${objectName}] ${records.length} ${what} to ${VERBS[type]}`,
    ...(leftOut.length > 0 && { details: { leftOut } }),
  };
}
