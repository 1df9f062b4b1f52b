/**
 * Finds which of several servers of a database accepts writes, at the start and again whenever the database fails. The
 * gateway does not decide which server is the primary: a failover must stop writes to the old server itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../../kernel/log.ts';
import type { Address } from './sessions/database-session.ts';

/** The interval between checks while no server accepts writes. */
const SEARCH_INTERVAL_MS = 500;
const RESPONSE_TIMEOUT_MS = 2_000;

const PRIMARY_CHECK = `select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as "isPrimary"`;

export class Primary implements AsyncDisposable {
  readonly #urls: readonly string[];
  readonly #log: Log;
  readonly #stopping = new AbortController();
  #current: string;
  #searching: Promise<void> | null = null;

  /** Takes one or more URLs. The first is the primary until another is found. */
  constructor(urls: readonly [string, ...string[]], log: Log) {
    this.#urls = urls;
    this.#log = log;
    [this.#current] = urls;
  }

  /** The address for new connections. */
  readonly address: Address = { resolveAddress: () => ({ connectionString: this.#current }) };

  /** Call after a failure of the database, because another server may have taken over. */
  suspect = (): void => {
    if (this.#urls.length === 1 || this.#stopping.signal.aborted) return;
    this.#searching ??= this.#searchUntilFound().finally(() => {
      this.#searching = null;
    });
  };

  /** Checks all servers once, at the start. If none accepts writes, the first stays the primary. */
  async find(): Promise<void> {
    if (this.#urls.length > 1) await this.#search();
  }

  async #searchUntilFound(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted && !(await this.#search())) {
      await sleep(SEARCH_INTERVAL_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Returns whether a server accepts writes. Keeps the current primary if it accepts them. */
  async #search(): Promise<boolean> {
    const responses = await Promise.all(this.#urls.map(isPrimary));
    const primaries = this.#urls.filter((_, index) => responses[index]);
    const [firstPrimary] = primaries;
    if (firstPrimary === undefined) return false;
    if (!primaries.includes(this.#current)) {
      this.#current = firstPrimary;
      const { hostname, port } = new URL(firstPrimary);
      this.#log.warn({ host: hostname, port }, 'database.primary_changed');
    }
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#searching;
  }
}

/** Returns false if the server does not respond. */
async function isPrimary(connectionString: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: RESPONSE_TIMEOUT_MS,
    query_timeout: RESPONSE_TIMEOUT_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ isPrimary: boolean }>(PRIMARY_CHECK);
    return rows[0]?.isPrimary ?? false;
  } catch {
    return false;
  } finally {
    void client.end().catch(() => {});
  }
}
