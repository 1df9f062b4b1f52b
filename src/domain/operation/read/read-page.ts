/** One page of a read: its deliveries and the read's progress commit together, so that neither is lost. */
import {
  type PageRow,
  RECORD_PAGES,
  type RecordedPage,
  recordPageIn,
} from '../../../database/hot/record-pages.ts';
import type { Row } from '../../../database/rows.ts';
import { inTransaction } from '../../../database/transaction.ts';
import { unprocessable } from '../../../errors.ts';
import { subjectOf } from '../../../events/subject.ts';
import { newId } from '../../../ids.ts';
import type { RecordPage } from '../../../providers/moving-records.ts';
import { currentTraceparent } from '../../../spans.ts';
import { LeaseLost } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import { succeedRun } from './read-end.ts';
import { entriesOf, pageMessages, storedEntries } from './read-message.ts';
import { metadataAt, type ReadRun } from './read-run.ts';
import type { ReadSource } from './source.ts';

export interface PageToRecord {
  run: ReadRun;
  source: ReadSource;
  page: RecordPage;
  durationMs: number;
}

/**
 * The run as it is now; null if this was its last page. Throws LeaseLost, and UNPROCESSABLE if the object is no longer
 * installed or there is nowhere to deliver to, with nothing recorded.
 */
export async function recordPage(
  services: Services,
  recorded: PageToRecord,
): Promise<ReadRun | null> {
  const { database } = services;
  const { operationId: id, projectId } = recorded.run;
  const [operation] = await database.rows.find('Operation', { projectId, id });
  if (!operation) throw new LeaseLost();
  const now = services.now();
  const row = rowOf(operation, recorded, now);
  if (recorded.page.nextCursor !== null) {
    return advanced(row, await database.changes.run(RECORD_PAGES, row));
  }
  return inTransaction(database, async (tx) => {
    await succeedRun(tx, advanced(row, await recordPageIn(tx, row)), now);
    return null;
  });
}

function rowOf(operation: Row<'Operation'>, recorded: PageToRecord, now: Date): PageRow {
  const { run, page, source, durationMs } = recorded;
  const { operationId, projectId, installationId, objectName, leaseToken, planKey } = run;
  const { bodies, waiting } = messagesOf(operation, recorded);
  const count = page.records.length;
  const progress = {
    cursor: page.nextCursor,
    planKey,
    pagesRead: run.pagesRead + 1,
    recordsRead: run.recordsRead + count,
    estimatedTotal: page.estimatedTotal ?? run.estimatedTotal,
    waiting: storedEntries(waiting),
  };
  return {
    ...{ operationId, projectId, installationId, objectName, leaseToken, now, count, progress },
    metadata: page.nextCursor === null ? null : metadataAt({ ...run, ...progress }),
    line: {
      id: newId('log'),
      severity: 'DEBUG',
      message: `[${objectName}] Page ${progress.pagesRead}: ${count} records`,
      details: { records: count, messages: bodies.length, durationMs },
    },
    destination: source.plan.destination,
    messages: bodies.map((body) => ({ id: newId('dlv'), body })),
    ...subjectOf(source.connection),
    traceparent: currentTraceparent() ?? null,
  };
}

function advanced({ objectName, destination }: PageRow, page: RecordedPage | null): ReadRun {
  if (!page?.hasObject) throw unprocessable(`The installation no longer reads ${objectName}.`);
  if (!page.hasRun) throw new LeaseLost();
  if (!page.hasDestination) throw unprocessable(`The destination ${destination} does not exist.`);
  const { hasObject: _object, hasRun: _run, hasDestination: _destination, ...run } = page;
  if (run.operationId === null) throw new LeaseLost();
  return run;
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
