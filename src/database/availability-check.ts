/**
 * Whether the database responds, without waiting for it: a timer checks it, and callers get the result of the last
 * check.
 */

const POLL_MS = 1_000;
/** Checks every time if a caller has requested the result within this number of intervals, otherwise only sometimes. */
const ACTIVE_POLLS = 60;
const IDLE_POLLS = 10;
/** Longer than callers wait for a statement to begin. */
const SILENCE_MAX_MS = 5_000;

export interface AvailabilityCheckOptions {
  lookMs?: number;
  silenceMaxMs?: number;
}

/** Must be created when the database has just responded. */
export class AvailabilityCheck implements Disposable {
  readonly #look: () => Promise<unknown>;
  readonly #silenceMaxMs: number;
  readonly #timer: NodeJS.Timeout;
  #lookingSinceMs: number | null = null;
  #failure: unknown = null;
  #unaskedLooks = ACTIVE_POLLS;

  constructor(look: () => Promise<unknown>, options: AvailabilityCheckOptions = {}) {
    const { lookMs = POLL_MS, silenceMaxMs = SILENCE_MAX_MS } = options;
    this.#look = look;
    this.#silenceMaxMs = silenceMaxMs;
    this.#timer = setInterval(() => {
      this.#unaskedLooks += 1;
      const inProjects = this.#unaskedLooks < ACTIVE_POLLS;
      if (inProjects || this.#unaskedLooks % IDLE_POLLS === 0) void this.#lookOnce();
    }, lookMs).unref();
  }

  /** Throws if the last check failed or has had no response for too long. */
  check(): void {
    this.#unaskedLooks = 0;
    if (this.#failure !== null) throw this.#failure;
    const silentMs = performance.now() - (this.#lookingSinceMs ?? performance.now());
    if (silentMs > this.#silenceMaxMs) {
      throw new Error(`The database has not answered for ${Math.round(silentMs)} ms.`);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#failure ??= new Error('The database is closed.');
  }

  async #lookOnce(): Promise<void> {
    if (this.#lookingSinceMs !== null) return;
    this.#lookingSinceMs = performance.now();
    this.#failure = await this.#look().then(
      () => null,
      (error: unknown) => error ?? new Error('The database does not answer.'),
    );
    this.#lookingSinceMs = null;
  }
}
