/** Starts servers for parts, and lets the parts of a smoke run share them. */

export interface ServerPool<Name, T extends AsyncDisposable> extends AsyncDisposable {
  /** Returns a server that no other caller uses. The caller disposes of it. */
  acquire(name: Name): Promise<T>;
}

/**
 * If `isReused`, a server runs until the pool is disposed of and serves several parts, because starting a server takes
 * longer than most parts of a smoke run. Otherwise, each call starts a new server.
 */
export function createServerPool<Name, T extends AsyncDisposable>(
  start: (name: Name) => Promise<T>,
  isReused: boolean,
): ServerPool<Name, T> {
  const idleServers: { name: Name; server: T }[] = [];
  const takeIdleServer = (name: Name): T | undefined => {
    const index = idleServers.findIndex((idle) => idle.name === name);
    return index < 0 ? undefined : idleServers.splice(index, 1)[0]?.server;
  };
  return {
    async acquire(name) {
      const server = takeIdleServer(name) ?? (await start(name));
      if (!isReused) return server;
      const release = async () => {
        idleServers.push({ name, server });
      };
      return { ...server, [Symbol.asyncDispose]: release };
    },
    async [Symbol.asyncDispose]() {
      for (const { server } of idleServers) await server[Symbol.asyncDispose]();
    },
  };
}
