/** Checks regularly whether the database responds, so that callers get the result of the last check without waiting. */

const POLL_MS = 1_000;
/** After a caller's check, this many polls ping the database. Later, only one poll in IDLE_POLLS does. */
const ACTIVE_POLLS = 60;
const IDLE_POLLS = 10;
/** The longest wait for the response to a ping. It exceeds the time that callers wait for a statement to begin. */
const SILENCE_MS_MAX = 5_000;

interface AvailabilityCheckOptions {
  pollMs?: number;
  silenceMaxMs?: number;
}

/** Assumes that the database responded just before the check was created. */
export class AvailabilityCheck implements Disposable {
  readonly #ping: () => Promise<unknown>;
  readonly #silenceMaxMs: number;
  readonly #timer: NodeJS.Timeout;
  #pingSinceMs: number | null = null;
  #failure: unknown = null;
  #unusedPolls = ACTIVE_POLLS;

  constructor(ping: () => Promise<unknown>, options: AvailabilityCheckOptions = {}) {
    const { pollMs = POLL_MS, silenceMaxMs = SILENCE_MS_MAX } = options;
    this.#ping = ping;
    this.#silenceMaxMs = silenceMaxMs;
    this.#timer = setInterval(() => {
      this.#unusedPolls += 1;
      const isActive = this.#unusedPolls < ACTIVE_POLLS;
      if (isActive || this.#unusedPolls % IDLE_POLLS === 0) void this.#pingOnce();
    }, pollMs).unref();
  }

  /** Throws if the last check failed or has had no response for too long. */
  check(): void {
    this.#unusedPolls = 0;
    if (this.#failure !== null) throw this.#failure;
    const silentMs = performance.now() - (this.#pingSinceMs ?? performance.now());
    if (silentMs > this.#silenceMaxMs) {
      throw new Error(`The database has not responded for ${Math.round(silentMs)} ms.`);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#failure ??= new Error('The database is closed.');
  }

  async #pingOnce(): Promise<void> {
    if (this.#pingSinceMs !== null) return;
    this.#pingSinceMs = performance.now();
    this.#failure = await this.#ping().then(
      () => null,
      (error: unknown) => error ?? new Error('The database does not respond.'),
    );
    this.#pingSinceMs = null;
  }
}
