/** Signals that end a wait. */

/** Wakes all who wait for it. What is raised while nobody waits is lost: look first, then wait. */
export class Signal {
  #next = Promise.withResolvers<void>();

  /** Resolves when it is raised the next time. */
  wait(): Promise<void> {
    return this.#next.promise;
  }

  raise(): void {
    const raised = this.#next;
    this.#next = Promise.withResolvers();
    raised.resolve();
  }
}

/** Wakes one who waits for it. What is rung while nobody waits is not lost: the next wait ends at once. */
export class Alarm {
  #isRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  /** Resolves when it rings, or after the time. */
  async wait(maxMs: number): Promise<void> {
    if (!this.#isRung) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, maxMs);
      await promise;
      clearTimeout(timer);
      this.#wake = undefined;
    }
    this.#isRung = false;
  }
}
