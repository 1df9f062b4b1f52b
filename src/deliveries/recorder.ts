/** Records attempts: many with one statement, while the next ones come in. */
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import type { Job } from './claim.ts';
import { GONE } from './decide.ts';
import { disableGone, disableHopeless, hopelessness } from './disable.ts';
import type { DeliveryLimits } from './limits.ts';
import { type AttemptRecord, recordAttempts } from './outbox.ts';
import { untilDone } from './pace.ts';

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
  /** Recorded, or given up: no longer this process's own. */
  onDone(jobs: Job[]): void;
  onDisabled(destinationId: string): void;
}

export class Recorder {
  readonly #deps: RecorderDeps;
  readonly #waiting: Attempt[] = [];
  #isRunning = false;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
  }

  /** Recorded soon, and as often tried as it takes. */
  add(attempt: Attempt): void {
    this.#waiting.push(attempt);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    const { limits, log, signal, onDone } = this.#deps;
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, limits.claimRows);
      await untilDone(() => this.#record(batch), {
        log,
        what: 'attempts not recorded yet',
        backoffMaxMs: limits.backoffMaxMs,
        signal,
      });
      onDone(batch.map(({ job }) => job));
    }
    this.#isRunning = false;
  }

  async #record(batch: Attempt[]): Promise<void> {
    const { database, log, now: clock } = this.#deps;
    const now = clock();
    const records = batch.map(({ record }) => record);
    const { recorded, hopeless } = await recordAttempts(database.rows.query, records, {
      now,
      hopeless: hopelessness(now),
    });
    const refused = batch.length - recorded;
    if (refused > 0) log.warn({ refused }, 'late results refused: their leases were over');
    for (const { job } of batch.filter(({ record }) => record.responseStatus === GONE)) {
      const { destinationId: id, url } = job.row;
      if (await disableGone(database, { id, url, now })) this.#disabled(id, 'gone');
    }
    for (const id of hopeless) {
      if (await disableHopeless(database, { id, now })) this.#disabled(id, 'failing for too long');
    }
  }

  #disabled(destinationId: string, why: string): void {
    this.#deps.log.warn({ destinationId, why }, 'destination disabled');
    this.#deps.onDisabled(destinationId);
  }
}
