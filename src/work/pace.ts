/**
 * Spreads long work over turns of the event loop, so that other work runs in between. All long work of a process shares
 * one allowance for each turn. Several long tasks therefore delay other work no more than one does.
 */
export class Pace {
  readonly #itemsPerTurn: number;
  readonly #waiting: { items: number; proceed: () => void }[] = [];
  /** The rest of this turn's allowance. It can be negative, because a part may be larger than the rest. */
  #remaining: number;
  #isScheduled = false;

  constructor(itemsPerTurn: number) {
    this.#itemsPerTurn = itemsPerTurn;
    this.#remaining = itemsPerTurn;
  }

  /**
   * Returns undefined if a part of this many items may proceed in this turn. Otherwise returns a promise that resolves
   * in the turn in which it may proceed.
   */
  waitForTurn(items: number): Promise<void> | undefined {
    this.#schedule();
    if (this.#waiting.length === 0 && this.#remaining > 0) {
      this.#remaining -= items;
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ items, proceed: resolve });
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
