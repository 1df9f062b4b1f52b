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

  /** Returns a proxy whose functions are called on the target itself. */
  wrapBound<T extends object>(target: T): T {
    return this.wrap(target, {
      get(_, name) {
        const member = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  /** Releases the targets. Any later use of their proxies throws a TypeError. */
  release(): void {
    for (const revoke of this.#revocations) revoke();
  }
}

/** Returns the object with functions that throw a TypeError once `releasable` is released. */
export function guardFunctions<T extends object>(target: T, releasable: Releasable): T {
  const guarded = releasable.wrap(target, {});
  const members = Object.entries(target).map(([name, member]) => [
    name,
    typeof member === 'function'
      ? (...args: unknown[]) => (guarded[name as keyof T] as typeof member)(...args)
      : member,
  ]);
  return Object.fromEntries(members) as T;
}
