/** Spreads the long work of one operation over turns of the event loop, so that other work runs in between. */
export interface Pace {
  /**
   * Returns undefined if a part of this many items may proceed in this turn. Otherwise returns a promise that resolves
   * in the turn in which it may proceed.
   */
  waitForTurn(items: number): Promise<void> | undefined;
  /** The turn of the operation's last part that waits. Undefined if none waits. */
  readonly lastTurn: Promise<void> | undefined;
}

interface WaitingPart {
  order: number;
  items: number;
  proceed: () => void;
}

/**
 * Paces the operations of a process. They share one allowance for each turn, so that several operations delay other
 * work no more than one does. The operation that began first proceeds first. If operations alternated, the objects of
 * all of them would stay in memory until the last one ends.
 */
export class Pacer {
  readonly #itemsPerTurn: number;
  /** Sorted by order. */
  readonly #waiting: WaitingPart[] = [];
  #operationCount = 0;
  /** The rest of this turn's allowance. It can be negative, because a part may be larger than the rest. */
  #remaining: number;
  #isScheduled = false;

  constructor(itemsPerTurn: number) {
    this.#itemsPerTurn = itemsPerTurn;
    this.#remaining = itemsPerTurn;
  }

  /** Returns the pace of one operation, which begins with its first part. */
  createPace(): Pace {
    let order: number | null = null;
    let lastTurn: Promise<void> | undefined;
    return {
      waitForTurn: (items) => {
        order ??= this.#operationCount++;
        const turn = this.#waitForTurn(order, items);
        if (!turn) return undefined;
        lastTurn = turn;
        void turn.then(() => {
          if (lastTurn === turn) lastTurn = undefined;
        });
        return turn;
      },
      get lastTurn() {
        return lastTurn;
      },
    };
  }

  #waitForTurn(order: number, items: number): Promise<void> | undefined {
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

  /** Uses a timer and not an immediate, so that the event loop handles I/O before the next turn. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => this.#refill(), 0);
  }

  #refill(): void {
    this.#isScheduled = false;
    this.#remaining = this.#itemsPerTurn;
    while (this.#remaining > 0) {
      const part = this.#waiting.shift();
      if (!part) return;
      this.#remaining -= part.items;
      part.proceed();
    }
    this.#schedule();
  }
}
