/** The parts of a server as they stop, and which of them are waited for. */
type Stop = () => PromiseLike<unknown>;

export class Shutdown {
  readonly #waitingFor = new Set<string>();

  /** The resource, which the stack stops in its turn. */
  use<T extends AsyncDisposable>(stack: AsyncDisposableStack, name: string, resource: T): T {
    stack.defer(() => this.#wait(name, () => resource[Symbol.asyncDispose]()));
    return resource;
  }

  /** Parts that the stack stops in one turn, all at once, so that they share its time. */
  sideBySide(stack: AsyncDisposableStack): { add(name: string, stop: Stop): void } {
    const parts: [string, Stop][] = [];
    stack.defer(async () => {
      await Promise.all(parts.map(([name, stop]) => this.#wait(name, stop)));
    });
    return { add: (name, stop) => void parts.push([name, stop]) };
  }

  /** What has begun to stop and has not ended, by name; also what has failed to. */
  get waitingFor(): string[] {
    return [...this.#waitingFor];
  }

  async #wait(name: string, stop: Stop): Promise<void> {
    this.#waitingFor.add(name);
    await stop();
    this.#waitingFor.delete(name);
  }
}
