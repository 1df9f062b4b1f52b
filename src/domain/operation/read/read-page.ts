/** One page of a read: its deliveries and the read's progress commit together, so that neither is lost. */
import type { Row } from '../../../database/rows.ts';
import { runChange, sql, statements } from '../../../database/statements.ts';
import { inTransaction, type Transaction } from '../../../database/transaction.ts';
import { unprocessable } from '../../../errors.ts';
import { oweMessages } from '../../../events/owe.ts';
import { subjectOf } from '../../../events/subject.ts';
import type { RecordPage } from '../../../providers/moving-records.ts';
import type { Services } from '../../call.ts';
import { holdDestination } from '../../event/destination-uses.ts';
import { logOperation, noteOperation } from '../operation-work.ts';
import { succeedRun } from './read-end.ts';
import { entriesOf, pageMessages, storedEntries } from './read-message.ts';
import { advanceRun, metadataAt, type ReadRun } from './read-run.ts';
import type { ReadSource } from './source.ts';

export interface PageToRecord {
  run: ReadRun;
  source: ReadSource;
  page: RecordPage;
  durationMs: number;
}

/**
 * The run as it is now; null if this was its last page. Throws LeaseLost, and UNPROCESSABLE if there
 * is nowhere to deliver to, with nothing recorded.
 */
export function recordPage(services: Services, recorded: PageToRecord): Promise<ReadRun | null> {
  const { page, run: before } = recorded;
  const now = services.now();
  return inTransaction(services.database, async (tx) => {
    const { operationId: id } = before;
    const operation = await tx.operation.findUniqueOrThrow({ where: { id } });
    const { bodies, waiting } = messagesOf(operation, recorded);
    // Objects are locked before their runs, as pausing does.
    await countRecords(tx, before, { count: page.records.length, now });
    const run = await advanceRun(tx, before, {
      cursor: page.nextCursor,
      planKey: before.planKey,
      pagesRead: before.pagesRead + 1,
      recordsRead: before.recordsRead + page.records.length,
      estimatedTotal: page.estimatedTotal ?? before.estimatedTotal,
      waiting: storedEntries(waiting),
      failures: 0,
    });
    await owePage(tx, operation, { source: recorded.source, bodies });
    await logPage(tx, run, { ...recorded, messages: bodies.length });
    if (page.nextCursor === null) {
      await succeedRun(tx, run, now);
      return null;
    }
    // What a paused run waits for is told already.
    const result = run.paused ? undefined : null;
    await noteOperation(tx, operation, { metadata: metadataAt(run), result, now });
    return run;
  });
}

function messagesOf(
  { id: operationId, createTime }: Row<'Operation'>,
  { run, source: { head, plan }, page: { records, nextCursor } }: PageToRecord,
) {
  const about = {
    operationId,
    operationTime: createTime.toISOString(),
    readType: run.readType.toLowerCase() as Lowercase<ReadRun['readType']>,
  };
  const told = { waiting: entriesOf(run.waiting), records, isLast: nextCursor === null };
  return pageMessages({ ...head, ...about }, told, plan);
}

async function owePage(
  tx: Transaction,
  { id: operationId, projectId }: Row<'Operation'>,
  { source: { plan, connection }, bodies }: Pick<PageToRecord, 'source'> & { bodies: string[] },
): Promise<void> {
  const destination = await holdDestination(tx, projectId, plan.destination);
  const messages = bodies.map((body) => ({ body }));
  await oweMessages(tx, destination, { messages, operationId, subject: subjectOf(connection) });
}

function logPage(
  tx: Transaction,
  { operationId: id, projectId, objectName, pagesRead }: ReadRun,
  { page, durationMs, messages }: PageToRecord & { messages: number },
): Promise<void> {
  const records = page.records.length;
  return logOperation(
    tx,
    { id, projectId },
    {
      severity: 'DEBUG',
      message: `[${objectName}] Page ${pagesRead}: ${records} records`,
      details: { records, messages, durationMs },
    },
  );
}

/** Throws UNPROCESSABLE if the object is no longer installed. */
async function countRecords(
  tx: Transaction,
  { installationId, objectName }: ReadRun,
  { count, now }: { count: number; now: Date },
): Promise<void> {
  // The count stops at its column's maximum.
  const changed = await runChange(
    tx,
    statements
      .updateTable('InstalledObject')
      .set({
        lastReadTime: now,
        recordsRead: sql<number>`least("recordsRead"::bigint + ${count}::int, 2147483647)`,
      })
      .where('installationId', '=', installationId)
      .where('objectName', '=', objectName),
  );
  if (changed === 0) throw unprocessable(`The installation no longer reads ${objectName}.`);
}
