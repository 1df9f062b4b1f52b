/** Spreads the long work of one operation over turns of the event loop, so that other work runs in between. */
export interface Pace {
  /**
   * Returns undefined if a part of this many items may proceed in this turn of the event loop. Otherwise returns a
   * promise that resolves when it may proceed.
   */
  waitForAllowance(items: number): Promise<void> | undefined;
  /** The wait of the operation's last part. Undefined if no part waits. */
  readonly lastWait: Promise<void> | undefined;
}

interface WaitingPart {
  order: number;
  items: number;
  proceed: () => void;
}

/**
 * Paces the operations of a process. They share one allowance for each turn of the event loop, so that several
 * operations delay other work no more than one does. The operation that began first proceeds first. If operations
 * alternated, the objects of all of them would stay in memory until the last one ends.
 */
export class Pacer {
  readonly #itemsPerLoopTurn: number;
  /** Sorted by order. */
  readonly #waiting: WaitingPart[] = [];
  #operationCount = 0;
  /** The rest of the allowance. It can be negative, because a part may be larger than the rest. */
  #remaining: number;
  #isScheduled = false;

  constructor(itemsPerLoopTurn: number) {
    this.#itemsPerLoopTurn = itemsPerLoopTurn;
    this.#remaining = itemsPerLoopTurn;
  }

  /** Returns the pace of one operation, which begins with its first part. */
  createPace(): Pace {
    let order: number | null = null;
    let lastWait: Promise<void> | undefined;
    return {
      waitForAllowance: (items) => {
        order ??= this.#operationCount++;
        const wait = this.#waitForAllowance(order, items);
        if (!wait) return undefined;
        lastWait = wait;
        void wait.then(() => {
          if (lastWait === wait) lastWait = undefined;
        });
        return wait;
      },
      get lastWait() {
        return lastWait;
      },
    };
  }

  #waitForAllowance(order: number, items: number): Promise<void> | undefined {
    this.#schedule();
    if (this.#waiting.length === 0 && this.#remaining > 0) {
      this.#remaining -= items;
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const index = this.#waiting.findLastIndex((part) => part.order <= order) + 1;
    this.#waiting.splice(index, 0, { order, items, proceed: resolve });
    return promise;
  }

  /** Uses a timer and not an immediate, so that the event loop handles I/O before the next allowance. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => this.#refill(), 0);
  }

  #refill(): void {
    this.#isScheduled = false;
    this.#remaining = this.#itemsPerLoopTurn;
    while (this.#remaining > 0) {
      const part = this.#waiting.shift();
      if (!part) return;
      this.#remaining -= part.items;
      part.proceed();
    }
    this.#schedule();
  }
}
