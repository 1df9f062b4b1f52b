type Stop = () => PromiseLike<unknown>;

/** Stops the parts of a server, and tracks the parts that are stopping. */
export class Shutdown {
  readonly #waitingFor = new Set<string>();

  /** Adds the resource to the stack, which disposes of it in reverse order. */
  use<T extends AsyncDisposable>(stack: AsyncDisposableStack, name: string, resource: T): T {
    stack.defer(() => this.#wait(name, () => resource[Symbol.asyncDispose]()));
    return resource;
  }

  /** Stops several parts at the same time, so that they share one time limit. */
  stopTogether(stack: AsyncDisposableStack): { add(name: string, stop: Stop): void } {
    const parts: [string, Stop][] = [];
    stack.defer(async () => {
      await Promise.all(parts.map(([name, stop]) => this.#wait(name, stop)));
    });
    return { add: (name, stop) => void parts.push([name, stop]) };
  }

  /** The names of the parts that have begun to stop but have not finished. A part whose stop failed stays in the list. */
  get waitingFor(): string[] {
    return [...this.#waitingFor];
  }

  async #wait(name: string, stop: Stop): Promise<void> {
    this.#waitingFor.add(name);
    await stop();
    this.#waitingFor.delete(name);
  }
}
