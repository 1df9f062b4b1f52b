/**
 * Which of several servers of a database takes changes: found at the start, and looked for again whenever the database
 * fails. The gateway does not decide who that is; whoever promotes a standby sees to it that the old server takes no more.
 */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../../log.ts';
import type { Address } from '../sessions/session.ts';

/** Between two looks while no server takes changes. */
const POLL_GAP_MS = 500;
const RESPONSE_MS = 2_000;

const TAKES_CHANGES = `select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as "isPrimary"`;

export class Primary implements AsyncDisposable {
  readonly #urls: readonly string[];
  readonly #log: Log;
  readonly #stopping = new AbortController();
  #current: string;
  #looking: Promise<void> | null = null;

  /** Of one URL or more: the first counts until another is found. */
  constructor(urls: readonly [string, ...string[]], log: Log) {
    this.#urls = urls;
    this.#log = log;
    [this.#current] = urls;
  }

  /** Where a new connection goes. */
  readonly address: Address = { at: () => ({ connectionString: this.#current }) };

  /** The database has failed: another server may have taken over. */
  suspect = (): void => {
    if (this.#urls.length === 1 || this.#stopping.signal.aborted) return;
    this.#looking ??= this.#lookUntilFound().finally(() => {
      this.#looking = null;
    });
  };

  /** One look, for the start: if none takes changes, the first is as good as any. */
  async find(): Promise<void> {
    if (this.#urls.length > 1) await this.#look();
  }

  async #lookUntilFound(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted && !(await this.#look())) {
      await wait(POLL_GAP_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Whether one takes changes. The present one stays if it does. */
  async #look(): Promise<boolean> {
    const responses = await Promise.all(this.#urls.map(takesChanges));
    const primaries = this.#urls.filter((_, index) => responses[index]);
    const [first] = primaries;
    if (first === undefined) return false;
    if (!primaries.includes(this.#current)) {
      this.#current = first;
      const { hostname, port } = new URL(first);
      this.#log.warn({ host: hostname, port }, 'database.primary_changed');
    }
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#looking;
  }
}

/** False for one that does not answer, too. */
async function takesChanges(connectionString: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: RESPONSE_MS,
    query_timeout: RESPONSE_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ isPrimary: boolean }>(TAKES_CHANGES);
    return rows[0]?.isPrimary ?? false;
  } catch {
    return false;
  } finally {
    void client.end().catch(() => {});
  }
}
