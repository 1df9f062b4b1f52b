/**
 * Positions in the log of the primary, and when it was there: by them this process knows how old a standby's rows are,
 * and whether they have what a caller has written. No clocks are compared, the times are all of this process.
 */
import { READ_AGE_MAX_MS } from '../../config.ts';

/** Longer than a hint of a change takes. */
const SLACK_MS = 5_000;
/** Of two samples with less between them, one is enough. */
const SAMPLE_GAP_MS = 20;

interface Sample {
  /** All that was committed by then is below the position. */
  ms: number;
  position: bigint;
}

export class ReadPositions {
  readonly #samples: Sample[] = [];
  /** Where each caller has last written, the latest last. */
  readonly #writes = new Map<string, Sample>();
  /** Where anybody may have written. */
  #floor: bigint | null = null;
  #mayHaveMissed = true;

  /** The primary was asked at that time, and answered with that position. */
  sampled(sample: Sample): void {
    if (this.#mayHaveMissed) {
      this.#floor = sample.position;
      this.#mayHaveMissed = false;
    }
    const [before, last] = this.#samples.slice(-2);
    if (before && last && last.ms - before.ms < SAMPLE_GAP_MS) this.#samples.pop();
    this.#samples.push(sample);
    while ((this.#samples[0]?.ms ?? sample.ms) < sample.ms - READ_AGE_MAX_MS) this.#samples.shift();
  }

  wrote(caller: string, written: Sample): void {
    this.#writes.delete(caller);
    this.#writes.set(caller, written);
    for (const [other, { ms }] of this.#writes) {
      if (ms > written.ms - READ_AGE_MAX_MS - SLACK_MS) break;
      this.#writes.delete(other);
    }
  }

  /** Changes that nobody told of may have happened: they are below the next sample. */
  missed(): void {
    this.#mayHaveMissed = true;
  }

  /** How old the rows are that were replayed up to a position; null if they may lack what the caller has written. */
  ageOf(replayed: bigint, caller: string, nowMs: number): number | null {
    if (this.#mayHaveMissed || replayed < (this.#floor ?? replayed)) return null;
    if (replayed < (this.#writes.get(caller)?.position ?? replayed)) return null;
    const newest = this.#samples.findLast(({ position }) => position <= replayed);
    return newest ? nowMs - newest.ms : null;
  }
}
