/** Sends hints, those of the same moment together, until they are taken. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Backoff, untilDone } from '../../work/backoff.ts';
import { endWithin } from '../../work/deadline.ts';
import type { RunQuery } from '../rows.ts';
import type { Hint, Tell } from './notifications.ts';

/** Between sendings: a hint that comes alone goes at once, and many together cost as little as one. */
const GAP_MS = 5;
const RETRY: Backoff = { firstMs: 100, maxMs: 5_000, jitter: 0.3 };
/** While the database is away. What is left out is found by those who look without a hint. */
const WAITING_MAX = 10_000;
/** A server that hangs must not delay the end of this process. */
const CLOSE_MS = 1_000;

const TELL = `select pg_notify("channel", "payload")::text
  from unnest($1::text[], $2::text[]) as told("channel", "payload")`;

/** To all who listen. */
export type SendHints = (hints: readonly SplitHint[]) => Promise<unknown>;

interface SplitHint {
  channel: string;
  payload: string;
}

/** To the listeners of all processes, by one statement. */
export function notifyBy(query: RunQuery): SendHints {
  return (hints) =>
    query(TELL, [hints.map(({ channel }) => channel), hints.map(({ payload }) => payload)]);
}

export class HintSender implements AsyncDisposable {
  readonly #sendHints: SendHints;
  readonly #waiting = new Set<Hint>();
  readonly #closing = new AbortController();
  #isSending = false;

  constructor(sendHints: SendHints) {
    this.#sendHints = sendHints;
  }

  tell: Tell = (hints) => {
    for (const hint of hints) if (this.#waiting.size < WAITING_MAX) this.#waiting.add(hint);
    if (this.#waiting.size > 0 && !this.#isSending) void this.#sendAll();
  };

  async #sendAll(): Promise<void> {
    const { signal } = this.#closing;
    this.#isSending = true;
    while (this.#waiting.size > 0 && !signal.aborted) {
      const hints = this.#takeAll();
      await untilDone(() => this.#send(hints), { backoff: RETRY, signal });
      await wait(GAP_MS, undefined, { signal, ref: false }).catch(() => {});
    }
    this.#isSending = false;
  }

  #takeAll(): Hint[] {
    const hints = [...this.#waiting];
    this.#waiting.clear();
    return hints;
  }

  async #send(hints: readonly Hint[]): Promise<void> {
    await this.#sendHints(hints.map(split));
  }

  /** What waits is sent once more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    if (this.#waiting.size > 0) await endWithin(this.#send(this.#takeAll()), CLOSE_MS);
  }
}

function split(hint: Hint): SplitHint {
  const at = hint.indexOf(' ');
  return { channel: hint.slice(0, at), payload: hint.slice(at + 1) };
}
