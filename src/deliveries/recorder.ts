/** Records attempts: many with one statement, while the next ones come in. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import { untilDone } from '../work/backoff.ts';
import { Outage } from '../work/outage.ts';
import type { Job } from './claim.ts';
import { GONE } from './decide.ts';
import { disableGone, disableHopeless, hopelessness } from './disable.ts';
import type { DeliveryLimits } from './limits.ts';
import {
  type AttemptRecord,
  type DestinationKey,
  type Failing,
  recordAttempts,
  releaseNext,
} from './outbox.ts';
import { failingSinceOf, tellFailing } from './tell-failing.ts';

export interface Attempt {
  job: Job;
  record: AttemptRecord;
}

export interface RecorderDeps {
  database: Database;
  log: Log;
  now: () => Date;
  limits: DeliveryLimits;
  /** Ends the recording of what could not be recorded so far. */
  signal: AbortSignal;
  /** These are recorded, or recording them was given up: this process does not hold them any more. */
  onDone(jobs: Job[]): void;
  /** What waited for these is due. */
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

  /** The database failed to record something, and some of what came since then is still to be recorded. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Records the result soon, and retries until it succeeds. */
  add(attempt: Attempt): void {
    this.#unrecorded += 1;
    this.#waiting.push(attempt);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    const { limits, onDone } = this.#deps;
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      if (this.#waiting.length < limits.inFlight) await sleep(limits.recordGapMs);
      const batch = this.#waiting.splice(0, limits.claimRows);
      const failing = await this.#untilDone(() => this.#record(batch));
      await this.#untilDone(() => this.#releaseNext(batch));
      await this.#untilDone(() => this.#disableGone(batch));
      await this.#untilDone(() => this.#tellFailing(failing?.untold ?? []));
      await this.#untilDone(() => this.#disableHopeless(failing?.hopeless ?? []));
      this.#unrecorded -= batch.length;
      onDone(batch.map(({ job }) => job));
    }
    this.#isRunning = false;
    this.#isBehind = false;
    this.#outage.ended();
  }

  /** Returns the destinations that have failed for long. */
  async #record(batch: Attempt[]): Promise<Failing> {
    const { database, log, now: clock } = this.#deps;
    const now = clock();
    const records = batch.map(({ record }) => record);
    const time = { now, hopeless: hopelessness(now), tellSince: failingSinceOf(now) };
    const { recorded, ...failing } = await recordAttempts(database, records, time);
    const refused = batch.length - recorded;
    if (refused > 0) log.warn({ refused }, 'deliveries.results_refused');
    return failing;
  }

  async #releaseNext(batch: Attempt[]): Promise<void> {
    const ended = batch.filter(
      ({ job, record }) => job.row.isOrdered && record.status !== 'PENDING',
    );
    if (ended.length === 0) return;
    await releaseNext(
      this.#deps.database.rows.query,
      ended.map(({ job }) => job.row),
    );
    this.#deps.onReleased();
  }

  async #disableGone(batch: Attempt[]): Promise<void> {
    const gone = batch.filter(({ record }) => record.responseStatus === GONE);
    const rows = new Map(gone.map(({ job: { row } }) => [row.destinationId, row]));
    for (const { projectId, destinationId, url } of rows.values()) {
      const key = { projectId, destinationId };
      const done = await disableGone(this.#deps.database, { ...key, url, now: this.#deps.now() });
      if (done) this.#disabled(destinationId, 'the receiver is gone');
    }
  }

  async #tellFailing(keys: DestinationKey[]): Promise<void> {
    const { database, log, now } = this.#deps;
    for (const key of keys) {
      const isTold = await tellFailing(database, { ...key, now: now() });
      if (isTold) log.warn({ destinationId: key.destinationId }, 'destination.failing');
    }
  }

  async #disableHopeless(keys: DestinationKey[]): Promise<void> {
    for (const key of keys) {
      const done = await disableHopeless(this.#deps.database, { ...key, now: this.#deps.now() });
      if (done) this.#disabled(key.destinationId, 'failing for too long');
    }
  }

  #disabled(destinationId: string, why: string): void {
    this.#deps.log.warn({ destinationId, why }, 'destination.disabled');
    this.#deps.onDisabled(destinationId);
  }

  #untilDone<T>(work: () => Promise<T>): Promise<T | undefined> {
    const { limits, signal } = this.#deps;
    const onFailure = (error: unknown) => {
      this.#isBehind = true;
      this.#outage.failed(error);
    };
    return untilDone(work, { backoff: limits.backoff, onFailure, signal });
  }
}
