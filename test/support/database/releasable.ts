/**
 * Proxies whose targets can be released. A worker keeps the modules of all its test files, and constants of these
 * modules refer to the app of the file. An app takes some 20 MB.
 */
export class Releasable {
  readonly #revocations: (() => void)[] = [];

  wrap<T extends object>(target: T, handler: ProxyHandler<T>): T {
    const { proxy, revoke } = Proxy.revocable(target, handler);
    this.#revocations.push(revoke);
    return proxy;
  }

  /** Releases the targets. Any later use of their proxies throws a TypeError. */
  release(): void {
    for (const revoke of this.#revocations) revoke();
  }
}
