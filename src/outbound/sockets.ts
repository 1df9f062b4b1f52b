/**
 * Kept-alive connections by origin, bounded in all: so many requests are under way at once, on no more
 * sockets than that. What comes beyond waits its turn; an idle socket gives way to one that is needed.
 */
import { type buildConnector, Pool } from 'undici';

const IDLE_MS = 4_000;
/** Receivers may ask to be kept longer, up to this. */
const IDLE_MAX_MS = 30_000;

const POOL_OPTIONS = {
  allowH2: false,
  keepAliveTimeout: IDLE_MS,
  keepAliveMaxTimeout: IDLE_MAX_MS,
  // The time of an exchange is limited as a whole, by its own clock.
  headersTimeout: 0,
  bodyTimeout: 0,
};

interface Origin {
  name: string;
  pool: Pool;
  requests: number;
  /** Open or opening. */
  sockets: number;
}

export class Sockets implements AsyncDisposable {
  readonly #connect: buildConnector.connector;
  readonly #limit: number;
  readonly #origins = new Map<string, Origin>();
  /** Every pool that may have sockets: those of origins, and those that finish their last requests. */
  readonly #pools = new Set<Pool>();
  readonly #waitingWork: (() => void)[] = [];
  readonly #waitingConnections: (() => void)[] = [];
  #requests = 0;
  #open = 0;

  constructor(connect: buildConnector.connector, limit: number) {
    this.#connect = connect;
    this.#limit = limit;
  }

  /** Open or opening. */
  get open(): number {
    return this.#open;
  }

  /** Runs the work, which doesn't throw, with the connections of an origin: now or when its turn comes. */
  run(originName: string, work: (pool: Pool) => Promise<unknown>): void {
    if (this.#requests >= this.#limit) {
      this.#waitingWork.push(() => this.run(originName, work));
      return;
    }
    const origin = this.#origins.get(originName) ?? this.#addOrigin(originName);
    this.#requests += 1;
    origin.requests += 1;
    void work(origin.pool).finally(() => {
      this.#requests -= 1;
      origin.requests -= 1;
      this.#retireUnused(origin);
      this.#waitingWork.shift()?.();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#waitingWork.length = 0;
    this.#waitingConnections.length = 0;
    this.#origins.clear();
    await Promise.all([...this.#pools].map((pool) => pool.destroy()));
  }

  #addOrigin(name: string): Origin {
    const pool = new Pool(name, {
      ...POOL_OPTIONS,
      connect: (target, callback) =>
        this.#whenRoom(() => this.#connectTo(origin, target, callback)),
    });
    const origin: Origin = { name, pool, requests: 0, sockets: 0 };
    this.#origins.set(name, origin);
    this.#pools.add(pool);
    return origin;
  }

  #whenRoom(connect: () => void): void {
    if (this.#open < this.#limit) {
      connect();
      return;
    }
    this.#waitingConnections.push(connect);
    // Fewer requests than sockets: one of them is idle.
    const idle = [...this.#origins.values()].find(({ requests, sockets }) => requests < sockets);
    if (idle) this.#retire(idle);
  }

  #connectTo(
    origin: Origin,
    target: buildConnector.Options,
    callback: buildConnector.Callback,
  ): void {
    this.#open += 1;
    origin.sockets += 1;
    const closed = () => {
      this.#open -= 1;
      origin.sockets -= 1;
      this.#retireUnused(origin);
      this.#waitingConnections.shift()?.();
    };
    this.#connect(target, (...[error, socket]) => {
      if (error) closed();
      else socket.once('close', closed);
      callback(...([error, socket] as Parameters<buildConnector.Callback>));
    });
  }

  #retireUnused(origin: Origin): void {
    if (origin.requests === 0 && origin.sockets === 0) this.#retire(origin);
  }

  /** Idle sockets close now, the others after their request; what comes next gets a new pool. */
  #retire(origin: Origin): void {
    if (this.#origins.get(origin.name) !== origin) return;
    this.#origins.delete(origin.name);
    void origin.pool.close().finally(() => this.#pools.delete(origin.pool));
  }
}
