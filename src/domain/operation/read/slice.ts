/**
 * A read runs in slices of some pages, so that other work gets its turn. After an interruption it continues
 * behind the last page that was recorded.
 */
import {
  type PageRow,
  RECORD_PAGES,
  type RecordedPage,
  recordPageIn,
} from '../../../database/hot/record-pages.ts';
import type { Row } from '../../../database/rows.ts';
import { inTransaction } from '../../../database/transaction.ts';
import { DomainError, unprocessable } from '../../../errors.ts';
import { subjectOf } from '../../../events/subject.ts';
import { newId } from '../../../ids.ts';
import type { ProviderSession } from '../../../providers/contract.ts';
import type { PageRead, RecordPage } from '../../../providers/moving-records.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { currentTraceparent } from '../../../spans.ts';
import { HOUR_MS, MINUTE_MS } from '../../../work/durations.ts';
import { LeaseLost } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import { openSession } from '../../connection/connection-session.ts';
import { isConsentPending } from '../../connection/token/pending-consent.ts';
import { AWAITS_CONSENT } from '../../connection/token/token.ts';
import { BACKLOG_WAIT_SECONDS, isBacklogged } from '../../event/delivery-backlog.ts';
import { storableText } from '../../storable-json.ts';
import { delayMs } from '../write/retry.ts';
import { failRun, succeedRun } from './read-end.ts';
import { entriesOf, pageMessages, storedEntries } from './read-message.ts';
import { isEmptyWindow, planKey, waitsFor } from './read-plan.ts';
import { claimRun, giveBack, metadataAt, type ReadRun, RUNS, type RunKey } from './read-run.ts';
import { noteWait } from './read-wait.ts';
import { getReadSource, type ReadSource, withAllFields } from './source.ts';

/** Short enough that a worker soon has time for another read, and to stop. */
const SLICE_MS = 5_000;
const SLICE_PAGES = 50;

/** Between two looks at what a read waits for. */
const WAIT_MS = MINUTE_MS;

/** Tries in a row without a page: some ten minutes of them. */
const FAILURES_MAX = 10;
/** A provider may ask for longer waits than ours, up to this. */
const RETRY_AFTER_MOST_MS = HOUR_MS;
/** If the cursor expired each time, a read would begin again without end. */
const RESTARTS_MAX = 10;

const FROM_THE_START = {
  cursor: null,
  pagesRead: 0,
  recordsRead: 0,
  estimatedTotal: null,
  waiting: null,
};
const NO_RECORDS: RecordPage = { records: [], nextCursor: null, estimatedTotal: null };

/** Does nothing if the read has ended or another worker holds it. */
export async function runSlice(
  services: Services,
  key: RunKey,
  signal: AbortSignal,
): Promise<void> {
  const claimed = await claimRun(services, key);
  if (!claimed) return;
  using _lease = RUNS.hold(services, claimed, { notRenewed: 'read.lease_not_renewed' });
  const slice = new Slice(services, claimed);
  try {
    await slice.read(signal).catch((error: unknown) => slice.interrupt(error));
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
  }
}

class Slice {
  readonly #services: Services;
  /** As it was recorded last. */
  #run: ReadRun;

  constructor(services: Services, run: ReadRun) {
    this.#services = services;
    this.#run = run;
  }

  async read(signal: AbortSignal): Promise<void> {
    const endMs = performance.now() + SLICE_MS;
    const { projectId, installationId, objectName } = this.#run;
    if (await isBacklogged(this.#services, projectId)) {
      return giveBack(this.#services, this.#run, { waitMs: BACKLOG_WAIT_SECONDS * 1_000 });
    }
    const installation = { id: installationId, projectId };
    const found = await getReadSource(this.#services, installation, objectName);
    if (found.plan.unmapped.length > 0) return this.#wait(waitsFor(found.plan));
    if (await isConsentPending(this.#services, found.connection)) {
      return this.#wait(AWAITS_CONSENT);
    }
    const source = { ...found, plan: await withAllFields(this.#services, found) };
    const session = openSession(this.#services, source.connection, source.provider);
    const filters = filtersOf(this.#run, source);
    this.#beginAgainUnless(planKey(source.connection.id, source.plan, filters));
    for (let pages = 1; await this.#readPage(source, session); pages += 1) {
      const isOver = pages >= SLICE_PAGES || performance.now() >= endMs || signal.aborted;
      if (!isOver && !this.#run.paused) continue;
      return giveBack(this.#services, this.#run, {});
    }
  }

  /** Until people have changed something: what it waits for is looked at again and again. */
  async #wait(reason: string): Promise<void> {
    const { database, now } = this.#services;
    await inTransaction(database, (tx) => noteWait(tx, this.#run, { reason, now: now() }));
    return giveBack(this.#services, this.#run, { waitMs: WAIT_MS });
  }

  /** Pages of another account or with other fields begin again from the first. */
  #beginAgainUnless(key: string): void {
    const isOther = this.#run.planKey !== null && this.#run.planKey !== key;
    this.#run = { ...this.#run, ...(isOther && FROM_THE_START), planKey: key };
  }

  /** Whether there are more. */
  async #readPage(source: ReadSource, session: ProviderSession): Promise<boolean> {
    const run = this.#run;
    const startedMs = performance.now();
    const page = isEmptyWindow(run)
      ? NO_RECORDS
      : await source.readPage(session, requestFor(run, source));
    const durationMs = Math.round(performance.now() - startedMs);
    const next = await recordPage(this.#services, { run, source, page, durationMs });
    const { projectId } = run;
    this.#services.meters.recordsMoved({ kind: 'read', count: page.records.length, projectId });
    if (!next) this.#ended('SUCCESS');
    this.#run = next ?? run;
    return next !== null;
  }

  /** What becomes of the read after an error: it continues later, begins again, or ends. */
  async interrupt(error: unknown): Promise<void> {
    if (error instanceof LeaseLost) throw error;
    if (error instanceof DomainError) return this.#fail(error.message);
    if (!(error instanceof ProviderError)) {
      const { operationId } = this.#run;
      this.#services.log.error({ err: error, operationId }, 'read.slice_failed');
      return this.#retry('An internal error.', null);
    }
    if (error.kind === 'CURSOR_GONE') return this.#beginAgain(error.message);
    if (!error.passesLater) return this.#fail(error.message);
    return this.#retry(error.message, error.retryAfterMs);
  }

  async #retry(reason: string, retryAfterMs: number | null): Promise<void> {
    const failures = this.#run.failures + 1;
    if (failures >= FAILURES_MAX) return this.#fail(reason);
    const providerWaitMs = retryAfterMs && Math.min(retryAfterMs, RETRY_AFTER_MOST_MS);
    const waitMs = delayMs(failures, providerWaitMs, this.#services.random);
    const message = `[${this.#run.objectName}] Try ${failures} failed: ${storableText(reason)}`;
    const lines = [{ severity: 'WARNING' as const, message, details: { waitMs } }];
    return giveBack(this.#services, this.#run, { waitMs, change: { failures }, lines });
  }

  async #beginAgain(reason: string): Promise<void> {
    const restarts = this.#run.restarts + 1;
    if (restarts > RESTARTS_MAX) return this.#fail(reason);
    const message = `[${this.#run.objectName}] Begins again: ${storableText(reason)}`;
    const lines = [{ severity: 'WARNING' as const, message }];
    return giveBack(this.#services, this.#run, { change: { ...FROM_THE_START, restarts }, lines });
  }

  #ended(outcome: 'SUCCESS' | 'FAILURE'): void {
    const { projectId } = this.#run;
    this.#services.meters.operationEnded({ kind: 'read', outcome, projectId });
  }

  async #fail(reason: string): Promise<void> {
    const { database, now } = this.#services;
    const told = { reason: storableText(reason), now: now() };
    await inTransaction(database, (tx) => failRun(tx, this.#run, told));
    this.#ended('FAILURE');
  }
}

function filtersOf({ readType }: Pick<ReadRun, 'readType'>, { plan }: ReadSource) {
  return readType === 'BACKFILL' ? plan.backfillFilters : plan.filters;
}

function requestFor(run: ReadRun, source: ReadSource): PageRead {
  const { since, until, cursor } = run;
  const { objectName, fields, pageSize } = source.plan;
  return {
    objectName,
    fields,
    pageSize,
    filters: filtersOf(run, source).map(({ fieldName, value }) => ({ fieldName, value })),
    ...(since && { since }),
    ...(until && { until }),
    ...(cursor !== null && { cursor }),
  };
}

/** One page of a read: its deliveries and the read's progress commit together, so that neither is lost. */

interface PageToRecord {
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
