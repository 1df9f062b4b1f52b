/**
 * Collects the attempts of a process and records many of them with one statement. Reports destinations that have failed
 * for an hour, and disables destinations that have failed for days.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/open/database.ts';
import { batchRows, type RowBatch } from '../database/statements/projects/shard-groups.ts';
import { inTransaction } from '../database/transactions/transaction.ts';
import { recordEvent } from '../events/record.ts';
import type { Log } from '../kernel/log.ts';
import { retryUntilDone } from '../work/backoff.ts';
import { DAY_MS, HOUR_MS } from '../work/durations.ts';
import { Outage } from '../work/outage.ts';
import type { DeliveryLimits } from './limits.ts';
import {
  type ClaimedDelivery,
  type ClaimedRow,
  type DestinationKey,
  releaseOrphans,
  releaseSuccessors,
} from './outbox.ts';
import {
  type AttemptRecord,
  type DisableThreshold,
  type FailingDestinations,
  recordAttempts,
} from './record-attempts.ts';
import { GONE } from './retry-decision.ts';
import { maskUrl } from './target-secrets.ts';

interface Attempt {
  delivery: ClaimedDelivery;
  record: AttemptRecord;
}

interface RecorderDeps {
  database: Database;
  log: Log;
  now: () => Date;
  limits: DeliveryLimits;
  /** Aborts the retries of results that could not be recorded. */
  signal: AbortSignal;
  /** Called when this process no longer holds the deliveries: they are recorded, or their recording was aborted. */
  onDone(deliveries: ClaimedDelivery[]): void;
  /** Called when deliveries are due that waited for recorded deliveries. */
  onReleased(): void;
  onDisabled(destinationId: string): void;
}

export class Recorder {
  readonly #deps: RecorderDeps;
  readonly #waiting: Attempt[] = [];
  readonly #outage: Outage;
  #isRunning = false;
  #unrecorded = 0;
  #isBehind = false;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.#outage = new Outage(deps.log, 'deliveries.record_failed');
  }

  get unrecorded(): number {
    return this.#unrecorded;
  }

  /** True after a database error, until all results that arrived since then are recorded. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Records a result within milliseconds, together with others. Retries until it succeeds. */
  add(attempt: Attempt): void {
    this.#unrecorded += 1;
    this.#waiting.push(attempt);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    const { limits, database } = this.#deps;
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      if (this.#waiting.length < limits.inFlight) await sleep(limits.recordGapMs);
      const attempts = this.#waiting.splice(0, limits.claimRows);
      for (const batch of batchRows(database, attempts, getProjectId))
        await this.#recordBatch(batch);
    }
    this.#isRunning = false;
    this.#isBehind = false;
    this.#outage.end();
  }

  async #recordBatch(batch: RowBatch<Attempt>): Promise<void> {
    const { rows: attempts } = batch;
    const result = await this.#retryUntilDone(() => this.#record(batch));
    await this.#retryUntilDone(() => this.#releaseNext(batch, result?.refused ?? 0));
    await this.#retryUntilDone(() => this.#disableGone(attempts));
    await this.#retryUntilDone(() => this.#reportFailing(result?.toReport ?? []));
    await this.#retryUntilDone(() => this.#disableFailing(result?.toDisable ?? []));
    this.#unrecorded -= attempts.length;
    this.#deps.onDone(attempts.map(({ delivery }) => delivery));
  }

  /** Returns the number of refused results, and the destinations that have been failing for a long time. */
  async #record({
    projectIds,
    rows: attempts,
  }: RowBatch<Attempt>): Promise<FailingDestinations & { refused: number }> {
    const { database, log } = this.#deps;
    const now = this.#deps.now();
    const records = { projectIds, rows: attempts.map(({ record }) => record) };
    const thresholds = {
      now,
      disableThreshold: getDisableThreshold(now),
      reportSince: getReportCutoff(now),
    };
    const { recorded, ...failing } = await recordAttempts(database, records, thresholds);
    const refused = attempts.length - recorded;
    if (refused > 0) log.warn({ refused }, 'deliveries.results_refused');
    return { ...failing, refused };
  }

  async #releaseNext(
    { projectIds, rows: attempts }: RowBatch<Attempt>,
    refused: number,
  ): Promise<void> {
    const endedAttempts = attempts.filter(
      ({ delivery, record }) => delivery.row.isOrdered && record.status !== 'PENDING',
    );
    if (endedAttempts.length === 0) return;
    const { database } = this.#deps;
    // A newer claim may hold a refused delivery, so the delivery has not ended and its successors must wait.
    if (refused > 0) await releaseOrphans(database);
    else
      await releaseSuccessors(database.run, {
        projectIds,
        rows: endedAttempts.map(({ delivery }) => delivery.row),
      });
    this.#deps.onReleased();
  }

  async #disableGone(attempts: readonly Attempt[]): Promise<void> {
    const goneReceivers = attempts.filter(({ record }) => record.responseStatus === GONE);
    const rowsByDestination = new Map(
      goneReceivers.map(({ delivery: { row } }) => [row.destinationId, row]),
    );
    for (const { projectId, destinationId, url, urlSealed } of rowsByDestination.values()) {
      const target = { projectId, destinationId, url, urlSealed };
      const isDisabled = await disableGone(this.#deps.database, {
        ...target,
        now: this.#deps.now(),
      });
      if (isDisabled) this.#reportDisabled(destinationId, 'the receiver is gone');
    }
  }

  async #reportFailing(keys: DestinationKey[]): Promise<void> {
    const { database, log, now } = this.#deps;
    for (const key of keys) {
      const isReported = await reportFailing(database, { ...key, now: now() });
      if (isReported) log.warn({ destinationId: key.destinationId }, 'destination.failing');
    }
  }

  async #disableFailing(keys: DestinationKey[]): Promise<void> {
    for (const key of keys) {
      const isDisabled = await disableFailing(this.#deps.database, {
        ...key,
        now: this.#deps.now(),
      });
      if (isDisabled) this.#reportDisabled(key.destinationId, 'failing for too long');
    }
  }

  #reportDisabled(destinationId: string, reason: string): void {
    this.#deps.log.warn({ destinationId, reason }, 'destination.disabled');
    this.#deps.onDisabled(destinationId);
  }

  #retryUntilDone<T>(work: () => Promise<T>): Promise<T | undefined> {
    const { limits, signal } = this.#deps;
    const onFailure = (error: unknown) => {
      this.#isBehind = true;
      this.#outage.recordFailure(error);
    };
    return retryUntilDone(work, { backoff: limits.backoff, onFailure, signal });
  }
}

function getProjectId({ record: { projectId } }: Attempt): string {
  return projectId;
}

/** A destination is reported after this time, in which a receiver that is restarted or replaced recovers. */
const REPORT_AFTER_MS = HOUR_MS;
/** A destination is disabled after this time and this many failed attempts without a success. */
const DISABLE_AFTER_MS = 5 * DAY_MS;
const DISABLE_AFTER_ATTEMPTS = 20;

/** Returns the time since which a destination must have failed to be reported. */
function getReportCutoff(now: Date): Date {
  return new Date(now.getTime() - REPORT_AFTER_MS);
}

/**
 * Records the event that a destination is failing, once until it recovers. Returns whether this call recorded it.
 */
async function reportFailing(
  database: Database,
  { projectId, destinationId: id, now }: DestinationKey & { now: Date },
): Promise<boolean> {
  return inTransaction(database, async (tx) => {
    const [destination] = await tx.destination.updateManyAndReturn({
      where: {
        projectId,
        id,
        isFailureReported: false,
        failingSince: { lte: getReportCutoff(now) },
      },
      data: { isFailureReported: true },
      select: { name: true, url: true, failingSince: true, failedAttempts: true },
    });
    if (!destination?.failingSince) return false;
    const { name: destinationName, url, failingSince, failedAttempts } = destination;
    await recordEvent(tx, {
      projectId,
      eventType: 'DESTINATION_WEBHOOK_FAILING',
      data: {
        projectId,
        destinationId: id,
        destinationName,
        url: maskUrl(url ?? ''),
        failingSince: failingSince.toISOString(),
        failedAttempts,
      },
      destinationId: id,
      subject: null,
    });
    return true;
  });
}

function getDisableThreshold(now: Date): DisableThreshold {
  return {
    failingSince: new Date(now.getTime() - DISABLE_AFTER_MS),
    failedAttempts: DISABLE_AFTER_ATTEMPTS,
  };
}

type GoneReceiver = Pick<ClaimedRow, 'projectId' | 'destinationId' | 'url' | 'urlSealed'> & {
  now: Date;
};

/** Disables a destination whose receiver responded with 410, unless its URL has changed. */
function disableGone(
  database: Database,
  { projectId, destinationId: id, url, urlSealed, now }: GoneReceiver,
): Promise<boolean> {
  return disable(
    database,
    { projectId, id, url, urlSealed },
    { reason: 'The receiver responded with 410 Gone.', now },
  );
}

/** Disables a destination that still exceeds the thresholds. */
function disableFailing(
  database: Database,
  { projectId, destinationId: id, now }: DestinationKey & { now: Date },
): Promise<boolean> {
  const { failingSince, failedAttempts } = getDisableThreshold(now);
  return disable(
    database,
    {
      projectId,
      id,
      failingSince: { lte: failingSince },
      failedAttempts: { gte: failedAttempts },
    },
    { reason: 'Every attempt has failed for 5 days.', now },
  );
}

type DestinationCondition = Parameters<
  Database['prisma']['destination']['updateManyAndReturn']
>[0]['where'];

/**
 * Disables a destination and records the event. Its deliveries stay pending until it is enabled. Returns whether this
 * call disabled it.
 */
async function disable(
  database: Database,
  condition: DestinationCondition,
  { reason, now }: { reason: string; now: Date },
): Promise<boolean> {
  return inTransaction(database, async (tx) => {
    const [destination] = await tx.destination.updateManyAndReturn({
      where: { ...condition, status: 'ENABLED' },
      data: { status: 'DISABLED', disabledReason: reason, updateTime: now },
      select: { id: true, projectId: true, name: true, url: true },
    });
    if (!destination) return false;
    // Only webhooks fail, and a webhook has a URL.
    const { id: destinationId, projectId, name: destinationName, url } = destination;
    await recordEvent(tx, {
      projectId,
      eventType: 'DESTINATION_WEBHOOK_DISABLED',
      data: { projectId, destinationId, destinationName, url: maskUrl(url ?? '') },
      destinationId,
      subject: null,
    });
    return true;
  });
}
