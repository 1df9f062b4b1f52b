/** Wakes every waiter. A signal without a waiter is lost, so check the condition before you wait. */
export class Signal {
  #next = Promise.withResolvers<void>();

  /** Resolves at the next call of `raise`. */
  wait(): Promise<void> {
    return this.#next.promise;
  }

  raise(): void {
    const current = this.#next;
    this.#next = Promise.withResolvers();
    current.resolve();
  }
}

/** Wakes one waiter. A ring without a waiter is kept: the next wait ends immediately. */
export class Alarm {
  #isRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  /** Resolves when the alarm rings, or after this time. The wait does not keep the process alive. */
  async wait(maxMs: number): Promise<void> {
    if (!this.#isRung) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, maxMs).unref();
      await promise;
      clearTimeout(timer);
      this.#wake = undefined;
    }
    this.#isRung = false;
  }
}
