/** Converts a page of a read to the rows that record it: messages, the progress, and the hashes of delivered entries. */
import type { PageToRecord } from '../../../../database/statements/hot/record-pages.ts';
import type { Row } from '../../../../database/statements/tables.ts';
import { pickSubject } from '../../../../events/subject.ts';
import { newId } from '../../../../kernel/ids.ts';
import { findCurrentTraceparent } from '../../../../kernel/spans.ts';
import type { RecordPage } from '../../../../providers/moving-records.ts';
import { checkCursor, RepeatedCursors } from '../../../../providers/page-guard.ts';
import type { DeliveredEntries, SerializedEntry } from './delivered-entries.ts';
import {
  createPageMessages,
  parseEntries,
  serializeEntries,
  serializeEntry,
} from './read-message.ts';
import { createReadMetadata, type ReadRun } from './read-run.ts';
import type { ReadSource } from './read-source.ts';

export interface ReadPage {
  run: ReadRun;
  operation: Pick<Row<'Operation'>, 'createTime'>;
  source: ReadSource;
  page: RecordPage;
  durationMs: number;
  /** The entries that earlier reads delivered. Absent if the read delivers all records. */
  delivered?: DeliveredEntries | undefined;
  /**
   * True if the hashes of delivered entries are stored with this page. They are stored anyway with the last page, and with
   * a page that makes a stored hash obsolete.
   */
  storesHashes?: boolean;
}

/** Returns the rows, and adds the entries that are delivered once they are recorded. Throws RepeatedCursors. */
export function createPageToRecord(readPage: ReadPage, now: Date): PageToRecord {
  const { run, page, source, durationMs } = readPage;
  const { operationId, projectId, installationId, objectName, leaseToken, readType } = run;
  const messages = createMessages(readPage, now);
  const { bodies, waitingEntries, count, isHashObsolete } = messages;
  const progress = createProgress(run, { page, count, waitingEntries });
  return {
    operationId,
    projectId,
    installationId,
    objectName,
    leaseToken,
    readType,
    now,
    count,
    progress,
    metadata: page.nextCursor === null ? null : createReadMetadata({ ...run, ...progress }),
    line: {
      id: newId('log'),
      severity: 'DEBUG' as const,
      message: `[${objectName}] Page ${progress.pagesRead}: ${count} records`,
      details: { records: count, messages: bodies.length, durationMs },
    },
    deliveredHashes: serializeDelivered(readPage, isHashObsolete),
    triggeredPages: readPage.delivered?.triggeredPages ?? null,
    destination: source.readPlan.destination,
    messages: bodies.map((body) => ({ id: newId('dlv'), body })),
    ...pickSubject(source.connection),
    traceparent: findCurrentTraceparent(),
  };
}

/** Returns the hashes to store with the page. Null leaves the stored ones unchanged. */
function serializeDelivered(
  { run: { readType }, source: { timing }, page, delivered, storesHashes }: ReadPage,
  isHashObsolete: boolean,
): string | null {
  // A triggered read may deliver a version that the hashes do not know, so that a later change back to an older version
  // would be skipped.
  if (readType === 'TRIGGERED' && timing.lookBackMs > 0) return '';
  const isStored = storesHashes || isHashObsolete || page.nextCursor === null;
  return delivered && isStored ? delivered.serialize() : null;
}

/** Throws RepeatedCursors. */
function createProgress(
  { cursor, earlierCursorHash, planKey, pagesRead, recordsRead, estimatedTotal }: ReadRun,
  {
    page: { nextCursor, estimatedTotal: newEstimate },
    count,
    waitingEntries,
  }: { page: RecordPage; count: number; waitingEntries: SerializedEntry[] },
): PageToRecord['progress'] {
  const pages = pagesRead + 1;
  if (nextCursor !== null && nextCursor === cursor) throw new RepeatedCursors();
  return {
    cursor: nextCursor,
    earlierCursorHash:
      nextCursor === null
        ? null
        : checkCursor(nextCursor, { mark: earlierCursorHash, pagesRead: pages }),
    planKey,
    pagesRead: pages,
    recordsRead: recordsRead + count,
    estimatedTotal: newEstimate ?? estimatedTotal,
    pendingRecords: serializeEntries(waitingEntries),
  };
}

/** Creates the messages of the records that were not delivered before. */
function createMessages(
  { run, operation, source, page: { records, nextCursor }, delivered }: ReadPage,
  now: Date,
) {
  const { head, readPlan } = source;
  const operationFields = {
    operationId: run.operationId,
    operationTime: operation.createTime.toISOString(),
    readType: run.readType.toLowerCase() as Lowercase<ReadRun['readType']>,
  };
  const entries = records.map((record) => serializeEntry(record, readPlan));
  const newEntries = delivered ? entries.filter((entry) => !delivered.has(entry)) : entries;
  const messages = createPageMessages(
    { ...head, ...operationFields },
    {
      entries: [...parseEntries(run.pendingRecords), ...newEntries],
      isLast: nextCursor === null,
    },
    readPlan,
  );
  const { bodies, sentEntries, waitingEntries } = messages;
  // Entries that wait for a full message are not delivered yet: if the read fails, the next one reads them again.
  const isHashObsolete =
    delivered?.add(sentEntries, { now, expireTime: requireSince(run) }) ?? false;
  return { bodies, waitingEntries, count: newEntries.length, isHashObsolete };
}

function requireSince({ since }: ReadRun): Date {
  if (!since) throw new Error('Bug: scheduled read without a start');
  return since;
}
