import { DAY_MS, MINUTE_MS } from '../../../../src/work/durations.ts';

/** The app's clock. Tests move it forward. */
export class MovedClock {
  #time = Date.now();
  readonly #pending: { time: number; run: () => void }[] = [];

  now = (): Date => new Date(this.#time);

  advance(ms: number): void {
    const end = this.#time + ms;
    for (;;) {
      this.#pending.sort((a, b) => a.time - b.time);
      const [next] = this.#pending;
      if (!next || next.time > end) break;
      this.#pending.shift();
      this.#time = Math.max(this.#time, next.time);
      next.run();
    }
    this.#time = end;
  }

  /** Runs `run` when the clock reaches the time. */
  at(time: number, run: () => void): void {
    this.#pending.push({ time, run });
  }

  /** Moves to the next day, and forgets pending work. */
  startDay(minute: number): void {
    this.#pending.length = 0;
    this.#time = (Math.floor(this.#time / DAY_MS) + 1) * DAY_MS + minute * MINUTE_MS;
  }
}
