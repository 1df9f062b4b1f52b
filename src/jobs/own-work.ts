/**
 * Work that this process begins by itself, right after the change that it follows from: it needs no trip through the
 * queue. Whatever is lost with the process is in its rows, where the sweeps find it.
 */

export interface WorkToBegin {
  /** The group whose work it is: one group never takes all places. */
  group: string;
  /** Never throws. `signal` aborts when the process stops. */
  run(signal: AbortSignal): Promise<void>;
}

export interface OwnWorkOptions {
  /** Pieces of work that run at once. */
  runningMax: number;
  /** Of these, those of one group. */
  runningOfGroupMax: number;
  /** Pieces that wait for a place. */
  waitingMax: number;
}

export class OwnWork {
  readonly #options: OwnWorkOptions;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #runningOfGroup = new Map<string, number>();
  #waiting: WorkToBegin[] = [];

  constructor(options: OwnWorkOptions) {
    this.#options = options;
  }

  /** False if there is no room: then another worker has to do it. */
  take(work: WorkToBegin): boolean {
    if (this.#stopping.signal.aborted) return false;
    if (this.#hasPlace(work.group)) this.#begin(work);
    else if (this.#waiting.length < this.#options.waitingMax) this.#waiting.push(work);
    else return false;
    return true;
  }

  /** Waits for what runs; what has not begun is left to other processes. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#waiting = [];
    await Promise.all(this.#running);
  }

  #hasPlace(group: string): boolean {
    const { runningMax, runningOfGroupMax } = this.#options;
    return (
      this.#running.size < runningMax && (this.#runningOfGroup.get(group) ?? 0) < runningOfGroupMax
    );
  }

  #begin({ group, run }: WorkToBegin): void {
    this.#runningOfGroup.set(group, (this.#runningOfGroup.get(group) ?? 0) + 1);
    const running = run(this.#stopping.signal).finally(() => {
      this.#running.delete(running);
      this.#leave(group);
    });
    this.#running.add(running);
  }

  #leave(group: string): void {
    const left = (this.#runningOfGroup.get(group) ?? 1) - 1;
    if (left > 0) this.#runningOfGroup.set(group, left);
    else this.#runningOfGroup.delete(group);
    const next = this.#waiting.findIndex((work) => this.#hasPlace(work.group));
    if (next < 0) return;
    const [work] = this.#waiting.splice(next, 1);
    if (work) this.#begin(work);
  }
}
