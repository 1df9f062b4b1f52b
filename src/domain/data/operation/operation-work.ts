/** Creates and changes operations. Followers are notified of a change when its transaction commits. */
import type { LogSeverity, OperationActionType } from '../../../database/generated/enums.ts';
import { run, sql, statements } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { notifyOperation } from '../../../events/channel.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Text } from '../../../kernel/text.ts';
import { toTextColumn } from '../../base/stored-text.ts';
import type { StoredOperationMetadata } from './operation.ts';

type OperationKey = Pick<Row<'Operation'>, 'id' | 'projectId'>;

/** The columns of an installation that its operations copy. The installation may be deleted before they end. */
export type InstallationAtWork = Pick<
  Row<'Installation'>,
  'id' | 'projectId' | 'integrationId' | 'configId' | 'groupId' | 'connectionId'
>;

interface OperationToCreate {
  installation: InstallationAtWork;
  actionType: OperationActionType;
  metadata: StoredOperationMetadata;
}

/** Creates an operation that is in progress. */
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
        id: newId('opr'),
        projectId,
        integrationId,
        installationId,
        configId,
        groupId,
        consumerId,
        actionType,
        status: 'IN_PROGRESS',
        metadata: sql`${JSON.stringify(metadata)}::jsonb`,
      })
      .returningAll(),
  );
  if (!operation) throw new Error('Bug: the insert of an operation returned no row.');
  return operation;
}

interface OperationChange {
  metadata: StoredOperationMetadata;
  now: Date;
}

interface OperationEnd extends OperationChange {
  status: 'SUCCESS' | 'FAILURE';
  /** A human-readable sentence, like `[contacts] No new data found`. */
  result: Text;
}

/**
 * Replaces the metadata of a running operation, and ends it if the change has a status. Returns false if the operation
 * has already ended or no longer exists.
 */
export async function updateOperation(
  tx: Transaction,
  { id, projectId }: OperationKey,
  { now, ...change }: OperationChange | OperationEnd,
): Promise<boolean> {
  const end = 'result' in change ? { ...change, result: toTextColumn(change.result) } : change;
  const { count } = await tx.operation.updateMany({
    where: { id, projectId, status: 'IN_PROGRESS' },
    data: { ...end, updateTime: now },
  });
  if (count > 0) notifyOperation(tx, id);
  return count > 0;
}

export interface LogLine {
  severity: LogSeverity;
  message: Text;
  /** Details of the event. They must not contain credentials, or data of a record except its id. */
  details?: Record<string, unknown>;
}

/** Adds lines to the log of an operation, in their order. */
export async function logOperation(
  tx: Transaction,
  { id: operationId, projectId }: OperationKey,
  ...lines: LogLine[]
): Promise<void> {
  await tx.operationLog.createMany({
    data: lines.map((line) => ({ projectId, operationId, ...toLogRow(line) })),
  });
}

/** Returns the columns of a new line. */
export function toLogRow({ severity, message, details }: LogLine) {
  return {
    id: newId('log'),
    severity,
    message: toTextColumn(message),
    ...(details && { details: details as object }),
  };
}
