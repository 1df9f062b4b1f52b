import type { Backoff } from '../work/backoff.ts';

/** The limits of one process that sends deliveries. Tests reduce them. */
export interface DeliveryLimits {
  /** The longest duration of one attempt, from connecting to the status of the response. */
  attemptMs: number;
  /**
   * The duration of a claim's lease. An attempt starts only if its longest duration fits into the lease, so that no
   * other process claims the delivery while it is being sent.
   */
  leaseMs: number;
  /** The maximum number of deliveries that one statement claims. */
  claimRows: number;
  /** The maximum number of deliveries in memory: waiting, being sent, and not yet recorded. */
  heldRows: number;
  /** The maximum size of the bodies in memory. The last claimed body may exceed it. */
  heldBytes: number;
  inFlight: number;
  inFlightPerDestination: number;
  /**
   * The maximum number of attempts in flight to all failing destinations together. The rest is for other destinations.
   */
  inFlightFailing: number;
  /**
   * The maximum number of deliveries that are sent and not yet recorded. Sending pauses at this limit, because these
   * deliveries are sent twice if the process is killed.
   */
  unrecorded: number;
  /** The maximum number of deliveries held for a quick destination, so that its next messages need no claim. */
  heldPerQuickDestination: number;
  /** The longest duration of an attempt after which its destination counts as quick. */
  quickMs: number;
  /** The interval of claims without a notification. */
  pollMs: number;
  /** The pause after a claim that took all due deliveries, so that the next ones are claimed together. */
  gapMs: number;
  /**
   * How long the first result waits for others that are recorded with it. It does not wait if `inFlight` results have
   * arrived.
   */
  recordGapMs: number;
  /** The waits between attempts while the database is unavailable. */
  backoff: Backoff;
}

export const DELIVERY_LIMITS: DeliveryLimits = {
  attemptMs: 15_000,
  leaseMs: 20_000,
  claimRows: 200,
  heldRows: 600,
  heldBytes: 16 * 1024 * 1024,
  inFlight: 64,
  inFlightPerDestination: 8,
  inFlightFailing: 32,
  unrecorded: 256,
  heldPerQuickDestination: 200,
  quickMs: 100,
  pollMs: 1_000,
  gapMs: 10,
  recordGapMs: 5,
  backoff: { firstMs: 50, maxMs: 5_000 },
};
