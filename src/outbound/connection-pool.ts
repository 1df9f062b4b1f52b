/**
 * A pool of keep-alive connections with a limit. A request uses a connection exclusively. Requests over the limit wait in
 * order. An idle connection is closed if another origin needs its slot.
 */
import { type buildConnector, Client } from 'undici';

const IDLE_MS = 4_000;
/** The maximum time to keep an idle connection, even if the receiver permits more. */
const IDLE_MS_MAX = 30_000;

interface Connection {
  origin: string;
  client: Client;
}

/** An exchange on a connection. It never throws, and returns true if the connection can be reused. */
type ConnectionWork = (client: Client) => Promise<boolean>;

export class ConnectionPool implements AsyncDisposable {
  readonly #connect: buildConnector.connector;
  readonly #limit: number;
  readonly #connections = new Set<Connection>();
  /** In order of last use, oldest first. */
  readonly #idle = new Set<Connection>();
  readonly #queue: { origin: string; work: ConnectionWork }[] = [];

  constructor(connect: buildConnector.connector, limit: number) {
    this.#connect = connect;
    this.#limit = limit;
  }

  /** The number of connections: in use, opening, or idle. */
  get openCount(): number {
    return this.#connections.size;
  }

  /** Runs the work on a connection to the origin, immediately or when a connection becomes free. */
  run(origin: string, work: ConnectionWork): void {
    const connection = this.#takeIdle(origin) ?? this.#openConnection(origin);
    if (connection) void this.#use(connection, work);
    else this.#queue.push({ origin, work });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#queue.length = 0;
    await Promise.all([...this.#connections].map((connection) => this.#close(connection)));
  }

  async #use(connection: Connection, work: ConnectionWork): Promise<void> {
    const isReusable = await work(connection.client);
    const isOpen = this.#connections.has(connection) && connection.client.stats.connected;
    if (isReusable && isOpen) this.#idle.add(connection);
    else void this.#close(connection);
    const nextRequest = this.#queue.shift();
    if (nextRequest) this.run(nextRequest.origin, nextRequest.work);
  }

  /** Takes the origin's most recently used idle connection, because the server is least likely to close it. */
  #takeIdle(origin: string): Connection | undefined {
    const connection = [...this.#idle].findLast((idle) => idle.origin === origin);
    if (connection) this.#idle.delete(connection);
    return connection;
  }

  #openConnection(origin: string): Connection | undefined {
    if (this.#connections.size >= this.#limit) {
      const [longestIdle] = this.#idle;
      if (!longestIdle) return undefined;
      void this.#close(longestIdle);
    }
    const client = new Client(origin, {
      connect: this.#connect,
      allowH2: false,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS_MAX,
      // The exchange has its own time limit.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const connection = { origin, client };
    client.on('disconnect', () => {
      if (this.#idle.has(connection)) void this.#close(connection);
    });
    this.#connections.add(connection);
    return connection;
  }

  #close(connection: Connection): Promise<void> {
    this.#connections.delete(connection);
    this.#idle.delete(connection);
    return connection.client.destroy();
  }
}
