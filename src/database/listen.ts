/**
 * Hints that PostgreSQL passes between transactions and processes (LISTEN and NOTIFY): they come after
 * the commit, and may be lost with a connection. What is stored is the truth; who listens looks for itself.
 */
import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import type { Log } from '../log.ts';

/** Called without a payload where hints may have been missed: anything may have happened. */
export type OnHint = (payload?: string) => void;

/** Never throws: where the database can't be reached, hints begin when it can. */
export type Listen = (channel: string, onHint: OnHint) => AsyncDisposable;

const CONNECT_TIMEOUT_MS = 4_000;
const RECONNECT_FIRST_MS = 100;
const RECONNECT_MOST_MS = 5_000;
/** A server that hangs would let the farewell wait for ever. */
const END_MS = 1_000;

export function listenOnPglite(pglite: PGlite, log: Log): Listen {
  return (channel, onHint) => {
    const listening = pglite.listen(channel, onHint).then(
      (unlisten) => {
        onHint();
        return unlisten;
      },
      (error: unknown) => {
        if (!pglite.closed) log.warn({ err: error, channel }, 'hints are not heard');
      },
    );
    return {
      async [Symbol.asyncDispose]() {
        const unlisten = await listening;
        if (!pglite.closed) await unlisten?.();
      },
    };
  };
}

/** One connection for the whole process, opened with the first listener and kept up from then on. */
export class PostgresHints implements AsyncDisposable {
  readonly #url: string;
  readonly #log: Log;
  readonly #listeners = new Map<string, Set<OnHint>>();
  #client: pg.Client | null = null;
  #state: 'idle' | 'connecting' | 'connected' | 'closed' = 'idle';
  #subscribed = Promise.resolve();
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(url: string, log: Log) {
    this.#url = url;
    this.#log = log;
  }

  /** Channels are few, and stay subscribed to when their last listener goes. */
  listen: Listen = (channel, onHint) => {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(onHint));
    const client = this.#client;
    if (client) this.#subscribe(client, channel).catch(() => endSoon(client));
    if (this.#state === 'idle') void this.#connect();
    return {
      async [Symbol.asyncDispose]() {
        listeners.delete(onHint);
      },
    };
  };

  async #connect(): Promise<void> {
    this.#state = 'connecting';
    this.#subscribed = Promise.resolve();
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'integration-gateway hints',
    });
    let lastError: unknown = new Error('The server closed the connection.');
    // Without a listener, a connection that the server closes ends the process.
    client.on('error', (error) => {
      lastError = error;
    });
    client.on('notification', ({ channel, payload }) => this.#tell(channel, payload));
    try {
      await client.connect();
      // A channel that is added meanwhile is still met: a Map's iteration sees what comes in.
      for (const channel of this.#listeners.keys()) await this.#subscribe(client, channel);
    } catch (error) {
      await endSoon(client);
      this.#reconnect(error);
      return;
    }
    client.once('end', () => this.#reconnect(lastError));
    this.#client = client;
    this.#failures = 0;
    if (this.#isClosed) await endSoon(client);
    else this.#state = 'connected';
  }

  /** One after the other: a client takes one query at a time. */
  async #subscribe(client: pg.Client, channel: string): Promise<void> {
    const before = this.#subscribed;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#subscribed = promise;
    await before;
    try {
      await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } finally {
      resolve();
    }
    this.#tell(channel);
  }

  #tell(channel: string, payload?: string): void {
    for (const onHint of this.#listeners.get(channel) ?? []) onHint(payload);
  }

  #reconnect(error: unknown): void {
    this.#client = null;
    if (this.#isClosed) return;
    this.#state = 'connecting';
    // At the first failure only: an outage is one fact, however often it is tried.
    if (this.#failures === 0) this.#log.warn({ err: error }, 'the connection for hints is lost');
    const delayMs = Math.min(RECONNECT_MOST_MS, RECONNECT_FIRST_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#timer = setTimeout(() => void this.#connect(), delayMs * (0.8 + Math.random() * 0.4));
    this.#timer.unref();
  }

  get #isClosed(): boolean {
    return this.#state === 'closed';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#state = 'closed';
    clearTimeout(this.#timer);
    if (this.#client) await endSoon(this.#client);
  }
}

async function endSoon(client: pg.Client): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, END_MS);
  });
  await Promise.race([client.end().catch(() => {}), late]);
  clearTimeout(timer);
}
