/**
 * Kept-alive connections, bounded in all: each request has one to itself while it lasts. Requests
 * over the bound wait their turn; an idle connection is closed if another origin needs its place.
 */
import { type buildConnector, Client } from 'undici';

const IDLE_MS = 4_000;
/** The longest time to keep an idle connection, even if the receiver allows more. */
const IDLE_MAX_MS = 30_000;

interface Connection {
  origin: string;
  client: Client;
}

/** What is done with a connection; returns whether it is good for another request, and doesn't throw. */
export type Work = (client: Client) => Promise<boolean>;

export class Sockets implements AsyncDisposable {
  readonly #connect: buildConnector.connector;
  readonly #limit: number;
  readonly #all = new Set<Connection>();
  /** In the order in which they were last used. */
  readonly #idle = new Set<Connection>();
  readonly #waiting: { origin: string; work: Work }[] = [];

  constructor(connect: buildConnector.connector, limit: number) {
    this.#connect = connect;
    this.#limit = limit;
  }

  /** In use, opening, or idle. */
  get open(): number {
    return this.#all.size;
  }

  /** Does the work with a connection to the origin, now or when its turn comes. */
  run(origin: string, work: Work): void {
    const connection = this.#idleOf(origin) ?? this.#newConnection(origin);
    if (connection) void this.#use(connection, work);
    else this.#waiting.push({ origin, work });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#waiting.length = 0;
    await Promise.all([...this.#all].map((connection) => this.#close(connection)));
  }

  async #use(connection: Connection, work: Work): Promise<void> {
    const isReusable = await work(connection.client);
    const isOpen = this.#all.has(connection) && connection.client.stats.connected;
    if (isReusable && isOpen) this.#idle.add(connection);
    else void this.#close(connection);
    const next = this.#waiting.shift();
    if (next) this.run(next.origin, next.work);
  }

  /** The one that was used last: the other side is least likely to be closing it. */
  #idleOf(origin: string): Connection | undefined {
    const found = [...this.#idle].findLast((connection) => connection.origin === origin);
    if (found) this.#idle.delete(found);
    return found;
  }

  #newConnection(origin: string): Connection | undefined {
    if (this.#all.size >= this.#limit) {
      const [longestIdle] = this.#idle;
      if (!longestIdle) return undefined;
      void this.#close(longestIdle);
    }
    const client = new Client(origin, {
      connect: this.#connect,
      allowH2: false,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MAX_MS,
      // The time of an exchange is limited as a whole, by its own clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const connection = { origin, client };
    client.on('disconnect', () => {
      if (this.#idle.has(connection)) void this.#close(connection);
    });
    this.#all.add(connection);
    return connection;
  }

  #close(connection: Connection): Promise<void> {
    this.#all.delete(connection);
    this.#idle.delete(connection);
    return connection.client.destroy();
  }
}
