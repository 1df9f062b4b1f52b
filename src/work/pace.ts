/**
 * Spreads long work over turns of the event loop, so that other work runs between its parts. All long work of a process
 * shares one allowance for each turn: several long works delay others no more than one does.
 */
export class Pace {
  readonly #itemsPerTurn: number;
  readonly #waiting: { items: number; proceed: () => void }[] = [];
  /** Zero or negative if the allowance of this turn is used up: a part may be larger than the rest of it. */
  #left: number;
  #isScheduled = false;

  constructor(itemsPerTurn: number) {
    this.#itemsPerTurn = itemsPerTurn;
    this.#left = itemsPerTurn;
  }

  /** Undefined if a part of so many items may proceed in this turn; otherwise resolves in the turn in which it may. */
  next(items: number): Promise<void> | undefined {
    this.#schedule();
    if (this.#waiting.length === 0 && this.#left > 0) {
      this.#left -= items;
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ items, proceed: resolve });
    return promise;
  }

  /** A timer and not an immediate: between two timers the loop reads and handles what has arrived. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => this.#refill(), 0);
  }

  #refill(): void {
    this.#isScheduled = false;
    this.#left = this.#itemsPerTurn;
    while (this.#left > 0) {
      const part = this.#waiting.shift();
      if (!part) return;
      this.#left -= part.items;
      part.proceed();
    }
    this.#schedule();
  }
}
