/**
 * Changes of operations as their work goes on. Each is announced to followers of the operation, when the
 * transaction that makes it is committed.
 */
import type { LogSeverity, OperationActionType } from '../../database/generated/enums.ts';
import type { Row } from '../../database/rows.ts';
import { run, sql, statements } from '../../database/statements.ts';
import type { Transaction } from '../../database/transaction.ts';
import { announceOperation } from '../../events/channel.ts';
import { newId } from '../../ids.ts';
import type { StoredOperationMetadata } from './operation.ts';

export type OperationRef = Pick<Row<'Operation'>, 'id' | 'projectId'>;

/** What an operation keeps of its installation, which may end before it. */
export type InstallationAtWork = Pick<
  Row<'Installation'>,
  'id' | 'projectId' | 'integrationId' | 'configId' | 'groupId' | 'connectionId'
>;

export interface OperationToCreate {
  installation: InstallationAtWork;
  actionType: OperationActionType;
  metadata: StoredOperationMetadata;
}

/** In progress from now on. */
export async function createOperation(
  tx: Transaction,
  { installation, actionType, metadata }: OperationToCreate,
): Promise<Row<'Operation'>> {
  const { id: installationId, projectId, integrationId, configId, groupId } = installation;
  const consumerId = statements
    .selectFrom('Connection')
    .select('consumerId')
    .where('projectId', '=', projectId)
    .where('id', '=', installation.connectionId);
  const [operation] = await run(
    tx,
    statements
      .insertInto('Operation')
      .values({
        ...{ id: newId('opr'), projectId, integrationId, installationId, configId },
        ...{ groupId, consumerId, actionType, status: 'IN_PROGRESS' },
        metadata: sql`${JSON.stringify(metadata)}::jsonb`,
      })
      .returningAll(),
  );
  if (!operation) throw new Error('An operation was not stored.');
  return operation;
}

/** Replaces the whole metadata, and says what it waits for if it does. False if it has ended, or is gone. */
export async function noteOperation(
  tx: Transaction,
  { id, projectId }: OperationRef,
  {
    now: updateTime,
    ...news
  }: { metadata: StoredOperationMetadata; result?: string | null | undefined; now: Date },
): Promise<boolean> {
  const { count } = await tx.operation.updateMany({
    where: { id, projectId, status: 'IN_PROGRESS' },
    data: { ...news, updateTime },
  });
  if (count > 0) announceOperation(tx, id);
  return count > 0;
}

export interface OperationEnd {
  status: 'SUCCESS' | 'FAILURE';
  /** For people: `[contacts] No new data found`. */
  result: string;
  metadata: StoredOperationMetadata;
  now: Date;
}

/** False if it had ended before: an operation ends once. */
export async function finishOperation(
  tx: Transaction,
  { id, projectId }: OperationRef,
  { now, ...end }: OperationEnd,
): Promise<boolean> {
  const { count } = await tx.operation.updateMany({
    where: { id, projectId, status: 'IN_PROGRESS' },
    data: { ...end, updateTime: now },
  });
  if (count > 0) announceOperation(tx, id);
  return count > 0;
}

export interface LogLine {
  severity: LogSeverity;
  message: string;
  /** Never a credential, and no more of a record than its id. */
  details?: Record<string, unknown>;
}

/** Adds lines in their order. */
export async function logOperation(
  tx: Transaction,
  { id: operationId, projectId }: OperationRef,
  ...lines: LogLine[]
): Promise<void> {
  await tx.operationLog.createMany({
    data: lines.map(({ details, ...line }) => ({
      id: newId('log'),
      projectId,
      operationId,
      ...line,
      ...(details && { details: details as object }),
    })),
  });
}
