/** Records the pages of a read. The messages of a page commit together with the read's progress. */
import {
  type PageToRecord,
  RECORD_PAGES,
  type RecordedPage,
  recordPageInTransaction,
} from '../../../database/hot/record-pages.ts';
import type { Row } from '../../../database/rows.ts';
import { inTransaction } from '../../../database/transaction.ts';
import { unprocessable } from '../../../errors.ts';
import { pickSubject } from '../../../events/subject.ts';
import { newId } from '../../../ids.ts';
import type { RecordPage } from '../../../providers/moving-records.ts';
import { findCurrentTraceparent } from '../../../spans.ts';
import { LeaseLost } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import { succeedRun } from './read-end.ts';
import { createPageMessages, parseEntries, serializeEntries } from './read-message.ts';
import { createReadMetadata, type ReadRun } from './read-run.ts';
import type { ReadSource } from './source.ts';

interface ReadPage {
  run: ReadRun;
  source: ReadSource;
  page: RecordPage;
  durationMs: number;
}

/**
 * Records a page and returns the updated run, or null if this was its last page. Throws LeaseLost. Throws UNPROCESSABLE
 * and records nothing if the object is no longer installed or the destination does not exist.
 */
export async function recordPage(
  services: Pick<Services, 'database' | 'now'>,
  readPage: ReadPage,
): Promise<ReadRun | null> {
  const { database } = services;
  const { operationId: id, projectId } = readPage.run;
  const [operation] = await database.rows.find('Operation', { projectId, id });
  if (!operation) throw new LeaseLost();
  const now = services.now();
  const row = createPageToRecord(operation, readPage, now);
  if (readPage.page.nextCursor !== null) {
    return requireUpdatedRun(row, await database.changes.run(RECORD_PAGES, row));
  }
  return inTransaction(database, async (tx) => {
    await succeedRun(tx, requireUpdatedRun(row, await recordPageInTransaction(tx, row)), now);
    return null;
  });
}

function createPageToRecord(
  operation: Row<'Operation'>,
  readPage: ReadPage,
  now: Date,
): PageToRecord {
  const { run, page, source, durationMs } = readPage;
  const { operationId, projectId, installationId, objectName, leaseToken, planKey } = run;
  const { bodies, waitingEntries } = createMessages(operation, readPage);
  const count = page.records.length;
  const progress = {
    cursor: page.nextCursor,
    planKey,
    pagesRead: run.pagesRead + 1,
    recordsRead: run.recordsRead + count,
    estimatedTotal: page.estimatedTotal ?? run.estimatedTotal,
    waiting: serializeEntries(waitingEntries),
  };
  return {
    operationId,
    projectId,
    installationId,
    objectName,
    leaseToken,
    now,
    count,
    progress,
    metadata: page.nextCursor === null ? null : createReadMetadata({ ...run, ...progress }),
    line: {
      id: newId('log'),
      severity: 'DEBUG',
      message: `[${objectName}] Page ${progress.pagesRead}: ${count} records`,
      details: { records: count, messages: bodies.length, durationMs },
    },
    destination: source.plan.destination,
    messages: bodies.map((body) => ({ id: newId('dlv'), body })),
    ...pickSubject(source.connection),
    traceparent: findCurrentTraceparent(),
  };
}

/** Returns the updated run. Throws an error if the page was not recorded. */
function requireUpdatedRun(
  { objectName, destination }: PageToRecord,
  page: RecordedPage | null,
): ReadRun {
  if (!page?.hasObject) throw unprocessable(`The installation no longer reads ${objectName}.`);
  if (!page.hasRun) throw new LeaseLost();
  if (!page.hasDestination) throw unprocessable(`The destination ${destination} does not exist.`);
  const { hasObject: _object, hasRun: _run, hasDestination: _destination, ...run } = page;
  if (run.operationId === null) throw new LeaseLost();
  return run;
}

function createMessages(
  { id: operationId, createTime }: Row<'Operation'>,
  { run, source: { head, plan }, page: { records, nextCursor } }: ReadPage,
) {
  const operationFields = {
    operationId,
    operationTime: createTime.toISOString(),
    readType: run.readType.toLowerCase() as Lowercase<ReadRun['readType']>,
  };
  const pageToReport = {
    waitingEntries: parseEntries(run.waiting),
    records,
    isLast: nextCursor === null,
  };
  return createPageMessages({ ...head, ...operationFields }, pageToReport, plan);
}
