/** Tracks the parts of a server that are stopping. */
type Stop = () => PromiseLike<unknown>;

export class Shutdown {
  readonly #waitingFor = new Set<string>();

  /** Registers the resource with the stack, which stops it in turn. */
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

  /** The names of the parts that have begun to stop and have not finished, including those that failed to. */
  get waitingFor(): string[] {
    return [...this.#waitingFor];
  }

  async #wait(name: string, stop: Stop): Promise<void> {
    this.#waitingFor.add(name);
    await stop();
    this.#waitingFor.delete(name);
  }
}
