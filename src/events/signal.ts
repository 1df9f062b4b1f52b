/** Wakes all who wait for it. What is raised while nobody waits is lost: look first, then wait. */
export class Signal {
  #next = Promise.withResolvers<void>();

  /** Until it is raised the next time. */
  wait(): Promise<void> {
    return this.#next.promise;
  }

  raise(): void {
    const raised = this.#next;
    this.#next = Promise.withResolvers();
    raised.resolve();
  }
}
