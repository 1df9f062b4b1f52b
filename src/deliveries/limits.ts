import type { Backoff } from '../work/backoff.ts';

/** The bounds of one process that sends deliveries. Tests narrow them. */
export interface DeliveryLimits {
  /** One attempt, from connecting to the status of the answer. */
  attemptMs: number;
  /**
   * How long a claim holds. An attempt begins only while all of its time fits into its lease, so that
   * nobody else takes the delivery while it is being sent.
   */
  leaseMs: number;
  /** Deliveries taken by one statement. */
  claimRows: number;
  /** Deliveries in memory: waiting here, being sent, and not yet recorded. */
  heldRows: number;
  /** Bodies in memory; the last one taken may go beyond it. */
  heldBytes: number;
  inFlight: number;
  inFlightPerDestination: number;
  /** For all destinations together that fail at present: the others always find room. */
  inFlightFailing: number;
  /**
   * Sent and not yet recorded. Over it nothing more is sent: if the process is killed, these are sent twice.
   */
  unrecorded: number;
  /** Held for a destination that answers at once, so that its next messages need no claim. */
  heldPerQuickDestination: number;
  /** An attempt that took no longer makes its destination a quick one. */
  quickMs: number;
  /** The interval of looking for due deliveries without a hint. */
  pollMs: number;
  /** The pause after a claim that took all due deliveries, so that the next ones are claimed together. */
  gapMs: number;
  /** Results are recorded together: the first one waits this long for others, unless there are `inFlight` of them. */
  recordGapMs: number;
  /** Between tries while the database is gone. */
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
