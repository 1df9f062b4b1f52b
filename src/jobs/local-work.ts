/**
 * Runs work in the process that made the change that causes it, without the queue. If the process ends, a sweep finds
 * the lost work by its rows.
 */

interface WorkToBegin {
  /** The group of the work, which limits how much of it runs at the same time. */
  group: string;
  /** Does the work. Never throws. `signal` aborts when the process stops. */
  run(signal: AbortSignal): Promise<void>;
}

export interface LocalWorkOptions {
  /** The maximum amount of work that runs at the same time. */
  runningMax: number;
  /** The maximum for one group. */
  runningOfGroupMax: number;
  /** The maximum amount of work that waits. */
  waitingMax: number;
}

export class LocalWork {
  readonly #options: LocalWorkOptions;
  readonly #stopController = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #runningOfGroup = new Map<string, number>();
  #waiting: WorkToBegin[] = [];

  constructor(options: LocalWorkOptions) {
    this.#options = options;
  }

  /** Starts the work or lets it wait. Returns false if too much work is waiting, so that another worker must do it. */
  take(work: WorkToBegin): boolean {
    if (this.#stopController.signal.aborted) return false;
    if (this.#hasCapacity(work.group)) this.#begin(work);
    else if (this.#waiting.length < this.#options.waitingMax) this.#waiting.push(work);
    else return false;
    return true;
  }

  /** Waits for running work. Other processes do the work that has not started. */
  async stop(): Promise<void> {
    this.#stopController.abort();
    this.#waiting = [];
    await Promise.all(this.#running);
  }

  #hasCapacity(group: string): boolean {
    const { runningMax, runningOfGroupMax } = this.#options;
    return (
      this.#running.size < runningMax && (this.#runningOfGroup.get(group) ?? 0) < runningOfGroupMax
    );
  }

  #begin({ group, run }: WorkToBegin): void {
    this.#runningOfGroup.set(group, (this.#runningOfGroup.get(group) ?? 0) + 1);
    const running = run(this.#stopController.signal).finally(() => {
      this.#running.delete(running);
      this.#leave(group);
    });
    this.#running.add(running);
  }

  #leave(group: string): void {
    const remaining = (this.#runningOfGroup.get(group) ?? 1) - 1;
    if (remaining > 0) this.#runningOfGroup.set(group, remaining);
    else this.#runningOfGroup.delete(group);
    const nextIndex = this.#waiting.findIndex((work) => this.#hasCapacity(work.group));
    if (nextIndex < 0) return;
    const [work] = this.#waiting.splice(nextIndex, 1);
    if (work) this.#begin(work);
  }
}
