/**
 * Reads the next pages of a read for about five seconds (a time slice), so that other reads run too. After an
 * interruption, the next time slice continues after the last recorded page.
 */

import { LeaseLost } from '../../../../database/leases/lease.ts';
import {
  type PageToRecord,
  RECORD_PAGES,
  type RecordedPage,
  recordPageInTransaction,
} from '../../../../database/statements/hot/record-pages.ts';
import { listColumns, type Row } from '../../../../database/statements/tables.ts';
import { inTransaction } from '../../../../database/transactions/transaction.ts';
import { leasedWork } from '../../../../jobs/leased-work.ts';
import { createMaskedError, DomainError, unprocessable } from '../../../../kernel/errors.ts';
import type { Text } from '../../../../kernel/text.ts';
import type { ProviderSession } from '../../../../providers/contract.ts';
import type { PageRead, RecordPage } from '../../../../providers/moving-records.ts';
import { RepeatedCursors } from '../../../../providers/page-guard.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import { computeBackoffMs } from '../../../../work/backoff.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../work/durations.ts';
import type { ProviderServices, RowServices } from '../../../access/call.ts';
import { toStorableJson, toStorableString } from '../../../base/storable-json.ts';
import { openProviderSession } from '../../../connections/connection/connection-session.ts';
import { isConsentPending } from '../../../connections/connection/token/pending-consent.ts';
import { AWAITS_CONSENT } from '../../../connections/connection/token/token.ts';
import { OperationRequests } from '../../../connections/diagnosis/operation-requests.ts';
import { BACKLOG_WAIT_SECONDS, isBacklogged } from '../../../events/delivery-backlog.ts';
import { computeDelayMs } from '../write/retry.ts';
import { DeliveredEntries } from './delivered-entries.ts';
import { createPageToRecord, type ReadPage } from './page-to-record.ts';
import { failRun, succeedRun } from './read-end.ts';
import { createPlanKey, describeUnmappedNames, isEmptyWindow } from './read-plan.ts';
import {
  isAbandoned,
  READ_KIND,
  READ_LEASES,
  type ReadRun,
  recordWait,
  releaseRun,
} from './read-run.ts';
import { getReadSource, NO_RECORDS, type ReadSource, withAllFields } from './read-source.ts';

/** The duration of a time slice. It is short, so that the worker can start another read or stop within seconds. */
const TIME_SLICE_MS = 5_000;
const TIME_SLICE_PAGES_MAX = 50;
/**
 * Hashes of delivered entries are large, so a time slice stores them with its last page, and before it only with some of
 * the pages and with pages that deliver a changed record again.
 */
const PAGES_PER_HASHES = 25;

/** How often a waiting read checks whether it can continue. */
const WAIT_MS = MINUTE_MS;

/** A read fails after this number of consecutive failures. With the backoff, this takes about ten minutes. */
const FAILURES_MAX = 10;
/** How a read is retried after an unexpected error. */
const DEFECT_BACKOFF = { firstMs: 1_000, maxMs: MINUTE_MS };
/** The consecutive failures after which an unexpected error fails the read. With the backoff, this takes a day. */
const DEFECTS_MAX = DAY_MS / MINUTE_MS + 6;
const DEFECTS_PER_LINE = 10;
/** The longest wait that a provider may request. */
const RETRY_AFTER_MS_MAX = HOUR_MS;
/** A read fails after this number of restarts without getting further. */
const RESTARTS_MAX = 10;

const FIRST_PAGE_STATE = {
  cursor: null,
  earlierCursorHash: null,
  pagesRead: 0,
  recordsRead: 0,
  estimatedTotal: null,
  pendingRecords: null,
};

/** Reads that are due, and triggered reads that this process has just started. */
export const reads = leasedWork({
  kind: READ_KIND,
  leases: READ_LEASES,
  columns: listColumns('ReadRun'),
  perProcess: 16,
  shareColumn: 'projectId',
  perShare: 8,
  run: continueRead,
});

/** Runs one time slice of a claimed read. Throws LeaseLost if another worker has taken over the read. */
export async function continueRead(
  services: ProviderServices,
  run: ReadRun,
  signal: AbortSignal,
): Promise<void> {
  const { operationId, pagesRead, failures, restarts } = run;
  using requests = new OperationRequests(services, {
    operationId,
    isContinued: pagesRead + failures + restarts > 0,
  });
  const read = new ClaimedRead(requests.services, run);
  await read.readPages(signal).catch((error: unknown) => read.interrupt(error));
}

class ClaimedRead {
  readonly #services: ProviderServices;
  /** The run in its last recorded state. */
  #run: ReadRun;
  /** Undefined if the read delivers all records. */
  #delivered: DeliveredEntries | undefined;
  /** The page that this time slice stored last. Null if an error occurred since then. */
  #lastPage: RecordPage | null = null;

  constructor(services: ProviderServices, run: ReadRun) {
    this.#services = services;
    this.#run = run;
  }

  async readPages(signal: AbortSignal): Promise<void> {
    const endMs = performance.now() + TIME_SLICE_MS;
    const { projectId, installationId, objectName } = this.#run;
    if (await isBacklogged(this.#services, projectId)) {
      return releaseRun(this.#services, this.#run, { waitMs: BACKLOG_WAIT_SECONDS * 1_000 });
    }
    const operation = await this.#getOperation();
    const installation = { id: installationId, projectId };
    const source = await getReadSource(this.#services, installation, objectName);
    if (isAbandoned(this.#run)) throw createRemovedError(objectName);
    if (source.readPlan.unmappedNames.length > 0)
      return this.#wait(describeUnmappedNames(source.readPlan));
    if (await isConsentPending(this.#services, source.connection)) {
      return this.#wait(AWAITS_CONSENT);
    }
    const fullSource = { ...source, readPlan: await withAllFields(this.#services, source) };
    const session = openProviderSession(this.#services, source.connection, source.provider);
    const filters = getFilters(this.#run, fullSource);
    this.#restartIfChanged(createPlanKey(source.connection.id, fullSource.readPlan, filters));
    if (this.#run.readType === 'SCHEDULED' && source.timing.lookBackMs > 0) {
      this.#delivered = await DeliveredEntries.load(this.#services, this.#run);
    }
    for (let pages = 1; ; pages += 1) {
      const { page, durationMs } = await this.#readPage(fullSource, session);
      const isLong = pages >= TIME_SLICE_PAGES_MAX || performance.now() >= endMs;
      // A vendor that keeps the position of the read expects the next request before a pause.
      const isOver = (isLong && !page.isScroll) || signal.aborted;
      const storesHashes = isOver || pages % PAGES_PER_HASHES === 0;
      const readPage = { run: this.#run, operation, source: fullSource, page, durationMs };
      if (!(await this.#recordPage({ ...readPage, storesHashes }))) return;
      if (isOver || this.#run.paused) return releaseRun(this.#services, this.#run, {});
    }
  }

  async #getOperation(): Promise<Row<'Operation'>> {
    const { operationId: id, projectId } = this.#run;
    const [operation] = await this.#services.database.reads.find('Operation', { projectId, id });
    if (!operation) throw new LeaseLost();
    return operation;
  }

  /** Releases the read until the next time slice checks whether it can continue. */
  async #wait(reason: string): Promise<void> {
    const { database, now } = this.#services;
    await inTransaction(database, (tx) => recordWait(tx, this.#run, { reason, now: now() }));
    return releaseRun(this.#services, this.#run, { waitMs: WAIT_MS });
  }

  /** Restarts at the first page if the cursor belongs to another account or other fields. */
  #restartIfChanged(planKey: string): void {
    const hasChanged = this.#run.planKey !== null && this.#run.planKey !== planKey;
    this.#run = { ...this.#run, ...(hasChanged && FIRST_PAGE_STATE), planKey };
  }

  async #readPage(source: ReadSource, session: ProviderSession) {
    const run = this.#run;
    const startMs = performance.now();
    const page = isEmptyWindow(run)
      ? NO_RECORDS
      : await source.readPage(session, createRequest(run, source, this.#lastPage !== null));
    this.#lastPage = null;
    return { page, durationMs: Math.round(performance.now() - startMs) };
  }

  /** Returns true if more pages follow. */
  async #recordPage(readPage: Omit<ReadPage, 'delivered'>): Promise<boolean> {
    const { run, page } = readPage;
    const { nextRun, count } = await this.#recordNewRecords(readPage);
    this.#lastPage = page;
    const { projectId } = run;
    this.#services.meters.recordsProcessed({ kind: 'read', count, projectId });
    if (!nextRun) this.#countEnd('succeeded');
    this.#run = nextRun ?? run;
    return nextRun !== null;
  }

  async #recordNewRecords(readPage: Omit<ReadPage, 'delivered'>): Promise<RecordedRead> {
    try {
      return await recordPage(this.#services, { ...readPage, delivered: this.#delivered });
    } catch (error) {
      if (!(error instanceof OutdatedEntries)) throw error;
      this.#delivered = await DeliveredEntries.load(this.#services, readPage.run);
      return this.#recordNewRecords(readPage);
    }
  }

  /** Decides after an error whether the read continues later, restarts, or fails. */
  async interrupt(error: unknown): Promise<void> {
    if (error instanceof LeaseLost) throw error;
    if (error instanceof DomainError) return this.#fail(error.detail);
    if (!(error instanceof ProviderError)) return this.#retryAfterDefect(error);
    if (error instanceof RepeatedCursors) return this.#fail(error.message);
    if (error.kind === 'CURSOR_GONE') return this.#restart(error.message);
    if (!error.isTemporary) return this.#fail(error.message);
    return this.#retry(error.message, error.retryAfterMs);
  }

  async #retry(reason: string, retryAfterMs: number | null): Promise<void> {
    const failures = this.#run.failures + 1;
    if (failures >= FAILURES_MAX) return this.#fail(reason);
    const providerWaitMs = retryAfterMs && Math.min(retryAfterMs, RETRY_AFTER_MS_MAX);
    const waitMs = computeDelayMs(failures, providerWaitMs, this.#services.random);
    const message = `[${this.#run.objectName}] Try ${failures} failed: ${toStorableString(reason)}`;
    const lines = [{ severity: 'WARNING' as const, message, details: { waitMs } }];
    return releaseRun(this.#services, this.#run, { waitMs, change: { failures }, lines });
  }

  /** Retries for a day, in which an operator may mend the defect. */
  async #retryAfterDefect(error: unknown): Promise<void> {
    const { operationId } = this.#run;
    const { log } = this.#services;
    const failures = this.#run.failures + 1;
    if (failures >= DEFECTS_MAX) {
      const { instance } = createMaskedError(log, error, { operationId }).problem;
      return this.#fail(`An internal error. Report ${instance} to the operator.`);
    }
    if (failures === 1 || failures % DEFECTS_PER_LINE === 0)
      log.error({ err: error, operationId, failures }, 'read.attempt_failed');
    const waitMs = computeBackoffMs(DEFECT_BACKOFF, failures);
    return releaseRun(this.#services, this.#run, { waitMs, change: { failures } });
  }

  async #restart(reason: string): Promise<void> {
    const { pagesRead, recordsRead, furthestPage } = this.#run;
    const isFurther = pagesRead > furthestPage;
    const restarts = isFurther ? 1 : this.#run.restarts + 1;
    if (restarts > RESTARTS_MAX) return this.#fail(reason);
    const message = `[${this.#run.objectName}] Restarts: ${toStorableString(reason)}`;
    const lines = [{ severity: 'WARNING' as const, message }];
    const change = {
      ...FIRST_PAGE_STATE,
      // A read that looks back skips what it delivered before the restart, so these records still count.
      recordsRead: this.#delivered ? recordsRead : 0,
      restarts,
      furthestPage: Math.max(pagesRead, furthestPage),
    };
    return releaseRun(this.#services, this.#run, { change, lines });
  }

  #countEnd(outcome: 'succeeded' | 'failed'): void {
    const { projectId } = this.#run;
    this.#services.meters.operationEnded({ kind: 'read', outcome, projectId });
  }

  async #fail(reason: Text): Promise<void> {
    const { database, now } = this.#services;
    const failure = { reason: toStorableJson(reason), now: now() };
    await inTransaction(database, (tx) => failRun(tx, this.#run, failure));
    this.#countEnd('failed');
  }
}

function getFilters({ readType }: Pick<ReadRun, 'readType'>, { readPlan }: ReadSource) {
  return readType === 'BACKFILL' ? readPlan.backfillFilters : readPlan.filters;
}

function createRequest(run: ReadRun, source: ReadSource, followsPage: boolean): PageRead {
  const { since, until, cursor } = run;
  const { objectName, fields, pageSize } = source.readPlan;
  return {
    objectName,
    fields,
    pageSize,
    followsPage,
    filters: getFilters(run, source).map(({ fieldName, value }) => ({ fieldName, value })),
    ...(since && { since }),
    ...(until && { until }),
    ...(cursor !== null && { cursor }),
  };
}

interface RecordedRead {
  /** The updated run. Null if this was its last page. */
  nextRun: ReadRun | null;
  /** The number of records that were not delivered before. */
  count: number;
}

/** A triggered read of the object has recorded a page since the delivered entries were loaded. */
class OutdatedEntries extends Error {}

/**
 * Records a page. Throws LeaseLost. Throws UNPROCESSABLE and records nothing if the object is no longer installed or the
 * destination does not exist. Throws RepeatedCursors or OutdatedEntries and records nothing if the cursors repeat, or the
 * delivered entries are outdated.
 */
export async function recordPage(services: RowServices, readPage: ReadPage): Promise<RecordedRead> {
  const { database } = services;
  const now = services.now();
  const row = createPageToRecord(readPage, now);
  const { count } = row;
  if (readPage.page.nextCursor !== null) {
    const nextRun = requireUpdatedRun(row, await database.runShared(RECORD_PAGES, row));
    return { nextRun, count };
  }
  return inTransaction(database, async (tx) => {
    await succeedRun(tx, requireUpdatedRun(row, await recordPageInTransaction(tx, row)), now);
    return { nextRun: null, count };
  });
}

/** Returns the updated run. Throws an error if the page was not recorded. */
function requireUpdatedRun(
  { objectName, destination }: PageToRecord,
  page: RecordedPage | null,
): ReadRun {
  if (!page?.hasObject) throw createRemovedError(objectName);
  if (!page.hasTriggeredPages) throw new OutdatedEntries();
  if (!page.hasRun) throw new LeaseLost();
  if (!page.hasDestination) throw unprocessable(`The destination ${destination} does not exist.`);
  const { hasObject, hasTriggeredPages, hasRun, hasDestination, ...run } = page;
  if (run.operationId === null) throw new LeaseLost();
  return run;
}

function createRemovedError(objectName: string): DomainError {
  return unprocessable(`The installation no longer reads ${objectName}.`);
}
