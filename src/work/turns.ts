/**
 * Decides which work starts next when a process has more than it can run at the same time. Work within the limits
 * starts immediately; the rest waits in a fair queue. Heavy work has its own queue, with a limit for each caller, so
 * that light work never waits behind it.
 */
import { FairQueue, type QueuedWork } from './fair-queue.ts';

interface TurnLimits {
  /** The total weight of light work that runs at the same time. */
  runningMax: number;
  /** Work of this weight or more is heavy. */
  heavyWeight: number;
  /** The maximum amount of heavy work that runs at the same time. */
  heavyMax: number;
  /** The maximum for one caller. */
  callerHeavyMax: number;
  /** The longest wait for a turn. */
  waitMs: number;
}

/** Work to start. The object must be the same from `begin` to `end`. */
export interface Turn extends QueuedWork {
  /** Set by Turns while the work waits. */
  decide?: ((mayBegin: boolean) => void) | undefined;
}

export class Turns {
  readonly #light: TurnQueue;
  readonly #heavy: TurnQueue;
  readonly #heavyWeight: number;

  constructor({ runningMax, heavyWeight, heavyMax, callerHeavyMax, waitMs }: TurnLimits) {
    this.#heavyWeight = heavyWeight;
    this.#light = new TurnQueue({ max: runningMax, measure: ({ weight }) => weight, waitMs });
    this.#heavy = new TurnQueue({
      max: heavyMax,
      measure: () => 1,
      callerMax: callerHeavyMax,
      waitMs,
    });
  }

  /** The number of turns that wait. */
  get waiting(): number {
    return this.#light.waiting + this.#heavy.waiting;
  }

  /** Returns the use of both limits. */
  readUse(): Record<'running' | 'heavy', { held: number; max: number; callerHeld: number }> {
    return { running: this.#light.readUse(), heavy: this.#heavy.readUse() };
  }

  /**
   * Returns undefined if the work starts immediately. If not, the promise resolves to true at its turn, or to false if
   * it has waited too long.
   */
  begin(turn: Turn): Promise<boolean> | undefined {
    return this.#getQueue(turn).begin(turn);
  }

  /** Ends work that has started, or cancels work that waits. */
  end(turn: Turn): void {
    this.#getQueue(turn).end(turn);
  }

  /** Counts work that continues after a pause. It never waits, because it may hold resources that others wait for. */
  resume(turn: Turn): void {
    this.#getQueue(turn).count(turn, 1);
  }

  isHeavy(weight: number): boolean {
    return weight >= this.#heavyWeight;
  }

  #getQueue({ weight }: Turn): TurnQueue {
    return this.isHeavy(weight) ? this.#heavy : this.#light;
  }
}

interface QueueLimits {
  max: number;
  callerMax?: number;
  /** Returns how much of the maximum a turn takes. */
  measure: (turn: Turn) => number;
  waitMs: number;
}

class TurnQueue {
  readonly #limits: QueueLimits;
  readonly #queue = new FairQueue<Turn>();
  /** Running work by caller. Used only with a limit for each caller. */
  readonly #runningByCaller = new Map<string, number>();
  #running = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  readUse() {
    const callerHeld = Math.max(0, ...this.#runningByCaller.values());
    return { held: this.#running, max: this.#limits.max, callerHeld };
  }

  begin(turn: Turn): Promise<boolean> | undefined {
    // Work that waits because of its caller's limit does not delay other callers.
    const isNext = this.#queue.size === 0 || this.#limits.callerMax !== undefined;
    if (isNext && this.#hasRoom && this.#mayBegin(turn)) {
      this.#queue.countStarted(turn);
      this.count(turn, 1);
      return undefined;
    }
    return this.#wait(turn);
  }

  end(turn: Turn): void {
    if (turn.decide) {
      this.#queue.remove(turn);
      turn.decide(false);
      return;
    }
    this.count(turn, -1);
    while (this.#hasRoom) {
      const next = this.#queue.shift(
        this.#limits.callerMax === undefined ? undefined : this.#mayBegin,
      );
      if (!next) return;
      this.count(next, 1);
      next.decide?.(true);
    }
  }

  count(turn: Turn, delta: 1 | -1): void {
    const { measure, callerMax } = this.#limits;
    this.#running += delta * measure(turn);
    if (callerMax === undefined) return;
    const running = (this.#runningByCaller.get(turn.caller) ?? 0) + delta;
    if (running > 0) this.#runningByCaller.set(turn.caller, running);
    else this.#runningByCaller.delete(turn.caller);
  }

  get #hasRoom(): boolean {
    return this.#running < this.#limits.max;
  }

  readonly #mayBegin = ({ caller }: Turn): boolean => {
    const { callerMax } = this.#limits;
    return callerMax === undefined || (this.#runningByCaller.get(caller) ?? 0) < callerMax;
  };

  #wait(turn: Turn): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => this.end(turn), this.#limits.waitMs);
    turn.decide = (mayBegin) => {
      clearTimeout(timer);
      turn.decide = undefined;
      resolve(mayBegin);
    };
    this.#queue.push(turn);
    return promise;
  }
}
