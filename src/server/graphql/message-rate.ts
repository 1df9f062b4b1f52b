/** Counts the messages of one WebSocket in the rate of its caller. */
import type { Admission } from '../../domain/access/viewer/admission.ts';
import type { Viewer } from '../../domain/access/viewer/viewer.ts';
import { DomainError } from '../../kernel/errors.ts';

/** The bytes of a message that count as one request. */
const BYTES_PER_REQUEST = 4_096;
/** The maximum count before the caller is known. A client needs one message, connection_init. */
const UNKNOWN_CALLER_MAX = 16;

/** Returns the number of requests that a message of this size counts as. */
export function countRequests(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / BYTES_PER_REQUEST));
}

export class MessageRate {
  readonly #spend: Admission['spend'];
  readonly #cut: (error: DomainError) => void;
  #viewer: Viewer | null = null;
  #pendingCount = 0;
  #isSpending = false;

  /** `cut` is called when the caller's rate is used up. */
  constructor(spend: Admission['spend'], cut: (error: DomainError) => void) {
    this.#spend = spend;
    this.#cut = cut;
  }

  /** Counts later messages in the rate of this caller. Admission has counted connection_init. */
  admit(viewer: Viewer): void {
    this.#viewer = viewer;
    this.#pendingCount = 0;
  }

  /** Counts a message before it is parsed. Calls `cut` before it returns, unless rates are kept in the database. */
  count(requests: number): void {
    this.#pendingCount += requests;
    if (this.#viewer) this.#spendPending(this.#viewer);
    else if (this.#pendingCount > UNKNOWN_CALLER_MAX) {
      const detail = 'Send connection_init before other messages, and wait for connection_ack.';
      this.#cut(new DomainError('RATE_LIMITED', detail));
    }
  }

  /** Spends all that is pending in one call, because a shared rate needs a statement for each call. */
  #spendPending(viewer: Viewer): void {
    if (this.#isSpending || this.#pendingCount === 0) return;
    const count = this.#pendingCount;
    this.#pendingCount = 0;
    try {
      const spending = this.#spend(viewer, count, {});
      if (!spending) return;
      this.#isSpending = true;
      spending
        .catch((error: unknown) => this.#fail(error))
        .finally(() => {
          this.#isSpending = false;
          this.#spendPending(viewer);
        });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** During an outage of the database that keeps the rates, operations fail with their own errors. */
  #fail(error: unknown): void {
    if (error instanceof DomainError) this.#cut(error);
  }
}
