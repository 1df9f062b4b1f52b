/**
 * Sends the deliveries of a shard group. A delivery is claimed, sent and recorded. It stays in the outbox until its
 * attempt is recorded, so that another process retries it if this one ends.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SpanKind, type Tracer } from '@opentelemetry/api';
import type { Database } from '../database/open/database.ts';
import type { EventRow } from '../database/statements/hot/append-events.ts';
import { batchRows } from '../database/statements/projects/shard-groups.ts';
import { createEventRow } from '../events/record.ts';
import { newId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Meters } from '../kernel/meters.ts';
import type { Vault } from '../kernel/secrets.ts';
import { failSpan, inTrace } from '../kernel/spans.ts';
import type { Outbound } from '../outbound/client.ts';
import type { Config } from '../settings/config.ts';
import { retryUntilDone } from '../work/backoff.ts';
import { getStopWorkMs } from '../work/deadline.ts';
import { Outage } from '../work/outage.ts';
import { Alarm } from '../work/signal.ts';
import { Backlog } from './backlog.ts';
import { Claimer, type DeliveryClaim } from './claimer.ts';
import { DELIVERY_LIMITS, type DeliveryLimits } from './limits.ts';
import { type ClaimedDelivery, releaseClaims, releaseOrphans } from './outbox.ts';
import { Recorder } from './recorder.ts';
import { decideRetry, type Outcome } from './retry-decision.ts';
import { send } from './send.ts';
import { maskUrl } from './target-secrets.ts';

/** The time that a stop allows for recording an attempt that took as long as it may. */
const STOP_MARGIN_MS = 2_000;
/** The largest share of the time that claims may take. Slow claims therefore run less often. */
const CLAIM_TIME_SHARE = 1 / 3;
const CLAIM_GAP_MS_MAX = 1_000;
/** The interval between searches for deliveries whose predecessor has ended. */
const ORPHANS_INTERVAL_MS = 5_000;

export interface DeliveryDeps {
  database: Database;
  vault: Vault;
  outbound: Outbound;
  config: Pick<Config, 'DELIVERY_RETRY_SECONDS' | 'SHUTDOWN_MS'>;
  log: Log;
  meters: Meters;
  tracer: Tracer | null;
  /** The clock that determines when deliveries are due. Leases and signatures use the database's clock. */
  now: () => Date;
  /** A random number from 0 to below 1. */
  random: () => number;
  limits?: Partial<DeliveryLimits>;
}

/** The outcomes that metrics report, by the new status of the delivery. */
const METRIC_OUTCOMES = { SUCCEEDED: 'succeeded', PENDING: 'retried', FAILED: 'failed' } as const;

export class DeliveryWorker {
  readonly #deps: DeliveryDeps;
  readonly #limits: DeliveryLimits;
  readonly #backlog: Backlog;
  readonly #claimer: Claimer;
  readonly #recorder: Recorder;
  readonly #dueAlarm = new Alarm();
  readonly #dropAlarm = new Alarm();
  readonly #stopController = new AbortController();
  /** Aborts the attempts and statements that a stop no longer waits for. */
  readonly #abortController = new AbortController();
  readonly #claimOutage: Outage;
  readonly #releaseOutage: Outage;
  #isSaturated = false;
  #nextDueMs = Number.POSITIVE_INFINITY;
  #orphansDueMs = 0;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    this.#limits = { ...DELIVERY_LIMITS, ...deps.limits };
    this.#backlog = new Backlog(this.#limits);
    this.#claimOutage = new Outage(deps.log, 'deliveries.claim_failed');
    this.#releaseOutage = new Outage(deps.log, 'deliveries.release_failed');
    this.#claimer = new Claimer({ ...deps, limits: this.#limits });
    this.#recorder = new Recorder({
      ...deps,
      limits: this.#limits,
      signal: this.#abortController.signal,
      onDone: (deliveries) => this.#drop(deliveries),
      onReleased: () => this.wake(),
      onDisabled: (destinationId) => this.#release(this.#backlog.takeWaiting(destinationId)),
    });
  }

  /** Starts a claim, because deliveries may be due. */
  wake(): void {
    this.#dueAlarm.ring();
  }

  /** Claims and sends deliveries until `stop` is called. */
  async run(): Promise<void> {
    const { signal } = this.#stopController;
    let previousClaimMs = 0;
    while (!signal.aborted) {
      const startMs = performance.now();
      const claim = await this.#retryUntilDone(
        async () => (signal.aborted ? undefined : this.#claim()),
        this.#claimOutage,
      );
      const claimMs = performance.now() - startMs;
      // The shorter of two durations counts, so that one slow claim, such as a stall of the database, delays no further
      // claims.
      const gapMs = Math.min(claimMs, previousClaimMs) * (1 / CLAIM_TIME_SHARE - 1);
      previousClaimMs = claimMs;
      if (claim?.hasNextTurn || (claim && claim.deliveries.length * 2 > this.#limits.claimRows))
        continue;
      const pauseMs = Math.min(Math.max(gapMs, this.#limits.gapMs), CLAIM_GAP_MS_MAX);
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      if (claim?.isComplete) await this.#dueAlarm.wait(this.#getMsUntilDue());
    }
  }

  /** Sends all deliveries that are due now. Returns when they are recorded. */
  async drain(): Promise<void> {
    for (;;) {
      const { deliveries, isComplete } = await this.#claim();
      await this.#waitUntilEmpty();
      if (isComplete && deliveries.length === 0) return;
    }
  }

  /**
   * Releases deliveries that were not started, and waits for running attempts up to the time of one attempt. An attempt
   * that still runs then is repeated after its lease ends. Pass the promise of `run`.
   */
  async stop(running: Promise<void> = Promise.resolve()): Promise<void> {
    this.#stopController.abort();
    this.#dueAlarm.ring();
    const waitMs = Math.min(
      this.#limits.attemptMs + STOP_MARGIN_MS,
      getStopWorkMs(this.#deps.config),
    );
    const timer = setTimeout(() => this.#abortController.abort(), waitMs);
    await running;
    this.#release(this.#backlog.takeWaiting());
    await this.#waitUntilEmpty();
    clearTimeout(timer);
  }

  async #claim(): Promise<DeliveryClaim> {
    // A claim could return deliveries that were sent but whose attempts the recorder has not recorded yet.
    if (this.#recorder.isBehind) {
      this.#isSaturated = true;
      return { deliveries: [], isComplete: true, hasNextTurn: false, isSaturated: true };
    }
    this.#nextDueMs = Number.POSITIVE_INFINITY;
    await this.#releaseOrphans();
    const claim = await this.#claimer.claim(this.#backlog);
    this.#isSaturated = claim.isSaturated;
    this.#backlog.add(claim.deliveries);
    this.#sendNext();
    return claim;
  }

  async #releaseOrphans(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs < this.#orphansDueMs) return;
    this.#orphansDueMs = nowMs + ORPHANS_INTERVAL_MS;
    await releaseOrphans(this.#deps.database);
  }

  #sendNext(): void {
    if (this.#stopController.signal.aborted) return;
    const nowMs = performance.now();
    while (this.#recorder.unrecorded < this.#limits.unrecorded) {
      const delivery = this.#backlog.takeNext(nowMs);
      if (!delivery) break;
      void this.#attempt(delivery);
    }
    this.#release(this.#backlog.takeStale());
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const startTime = this.#deps.now();
    const startedMs = performance.now();
    this.#deps.meters.activeChanged('deliveries', 1);
    const outcome = await this.#trySend(delivery);
    this.#deps.meters.activeChanged('deliveries', -1);
    const durationMs = Math.round(performance.now() - startedMs);
    this.#backlog.endAttempt(delivery, { isSuccess: outcome?.error === null, durationMs });
    if (outcome) this.#record(delivery, outcome, { startTime, durationMs });
    else this.#drop([delivery]);
    this.#sendNext();
  }

  /** Sends a message. Returns undefined if the attempt was aborted. */
  async #trySend(delivery: ClaimedDelivery): Promise<Outcome | undefined> {
    const { signal } = this.#abortController;
    try {
      return await this.#send(delivery, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#deps.log.error({ err: error, deliveryId: delivery.row.id }, 'delivery.attempt_failed');
      return { responseStatus: null, error: 'The message could not be sent.' };
    }
  }

  /** Sends a message in a span of the trace in which it was enqueued. */
  #send(delivery: ClaimedDelivery, signal: AbortSignal): Promise<Outcome> {
    const { id, projectId, destinationId, attemptCount, traceparent } = delivery.row;
    const attributes = {
      'gateway.delivery_id': id,
      'gateway.project_id': projectId,
      'gateway.destination_id': destinationId,
      'gateway.delivery.attempt': attemptCount + 1,
    };
    const kind = SpanKind.PRODUCER;
    const spanOptions = { name: 'deliver', kind, parent: traceparent, attributes };
    return inTrace(this.#deps, spanOptions, async (span) => {
      const options = { attemptMs: this.#limits.attemptMs, signal };
      const outcome = await send(delivery, this.#deps.outbound, options);
      if (outcome.error !== null) failSpan(span, String(outcome.responseStatus ?? 'UNANSWERED'));
      return outcome;
    });
  }

  #record(
    delivery: ClaimedDelivery,
    outcome: Outcome,
    time: { startTime: Date; durationMs: number },
  ): void {
    const { config, meters, now, random } = this.#deps;
    const { id: deliveryId, projectId, destinationId, leaseToken, attemptCount } = delivery.row;
    const rules = { retrySeconds: config.DELIVERY_RETRY_SECONDS, now: now(), random };
    const decision = decideRetry(outcome, attemptCount, rules);
    const { responseStatus, error, responseBody = null } = outcome;
    const seconds = time.durationMs / 1_000;
    meters.deliveryAttempted({ outcome: METRIC_OUTCOMES[decision.status], seconds, projectId });
    const attemptId = newId('att');
    const ids = { attemptId, projectId, deliveryId, destinationId, leaseToken };
    const response = { responseStatus, responseBody, error };
    const event =
      decision.status === 'FAILED' ? createFailureEvent(delivery, decision.failureReason) : null;
    this.#recorder.add({ delivery, record: { ...ids, ...time, ...response, event, ...decision } });
    const dueMs = decision.nextAttemptTime?.getTime() ?? Number.POSITIVE_INFINITY;
    this.#nextDueMs = Math.min(this.#nextDueMs, dueMs);
  }

  #release(deliveries: ClaimedDelivery[]): void {
    if (deliveries.length === 0) return;
    const { database } = this.#deps;
    const claimedRows = deliveries.map(({ row }) => row);
    const releases = batchRows(database, claimedRows, ({ projectId }) => projectId).map((batch) =>
      this.#retryUntilDone(() => releaseClaims(database.run, batch), this.#releaseOutage),
    );
    void Promise.all(releases).then(() => this.#drop(deliveries));
  }

  #drop(deliveries: ClaimedDelivery[]): void {
    this.#backlog.drop(deliveries);
    this.#dropAlarm.ring();
    this.#sendNext();
    if (this.#isSaturated) this.#dueAlarm.ring();
  }

  async #waitUntilEmpty(): Promise<void> {
    while (this.#backlog.heldRows > 0) await this.#dropAlarm.wait(this.#limits.pollMs);
  }

  #getMsUntilDue(): number {
    const dueMs = this.#nextDueMs - this.#deps.now().getTime();
    return Math.min(Math.max(dueMs, 0), this.#limits.pollMs);
  }

  async #retryUntilDone<T>(work: () => Promise<T>, outage: Outage): Promise<T | undefined> {
    const result = await retryUntilDone(work, {
      backoff: this.#limits.backoff,
      onFailure: (error) => outage.recordFailure(error),
      signal: this.#abortController.signal,
    });
    outage.end();
    return result;
  }
}

/** Delivers messages until it is disposed of. */
interface DeliverySender extends AsyncDisposable {
  /** Starts a claim. Call it after a commit that creates deliveries. */
  wake(): void;
}

/** Starts sending. Disposal waits for running attempts and releases all other deliveries. */
export function startDeliveries(deps: DeliveryDeps): DeliverySender {
  const worker = new DeliveryWorker(deps);
  const running = worker.run();
  return {
    wake: () => worker.wake(),
    [Symbol.asyncDispose]: () => worker.stop(running),
  };
}

/**
 * Creates the event that a delivery failed permanently. The statement that records the last attempt replaces the
 * destination's name and adds the operation's id.
 */
export function createFailureEvent({ row }: ClaimedDelivery, failureReason: string): EventRow {
  const { id: deliveryId, projectId, destinationId, url, attemptCount } = row;
  return createEventRow({
    projectId,
    eventType: 'DELIVERY_FAILED',
    data: {
      projectId,
      deliveryId,
      destinationId,
      destinationName: destinationId,
      url: maskUrl(url),
      attempts: attemptCount + 1,
      error: failureReason,
    },
    destinationId,
    subject: null,
  });
}
