/** The built-in provider, which listens beside the gateway. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { RunQuery } from '../database/rows.ts';
import type { SandboxServer } from '../sandbox/server.ts';
import { endWithin } from '../work/deadline.ts';
import { leaseEndSql } from '../work/lease.ts';
import { Outage } from '../work/outage.ts';
import {
  type FillSandbox,
  type Sandbox,
  type SandboxHost,
  startSandbox,
} from './sandbox-server.ts';

/**
 * On PostgreSQL one process runs the sandbox, and the others read its URL from the database. When that process
 * ends, another one runs a new, empty sandbox, at the same URL if its port is free.
 */

/** The lease of the process that runs the sandbox, by the database's clock. The process renews it. */

/** How long the others wait for a process that was killed. */
const LEASE_MS = 5_000;
const UNTIL = leaseEndSql(LEASE_MS);

interface SandboxLease {
  /** Claims the lease: the last URL of the sandbox; null if another process has the lease. */
  claim(): Promise<{ lastUrl?: string } | null>;
  /** Writes the sandbox's URL and renews the lease; false if another process has it by now. */
  renew(url: string): Promise<boolean>;
  /** The URL of the other process's sandbox; null before the first one listens. */
  findUrl(): Promise<string | null>;
  /** Frees the lease: the next claim gets it. */
  release(): Promise<void>;
}

function createSandboxLease(query: RunQuery): SandboxLease {
  const token = randomUUID();
  return {
    async claim() {
      const [claimed] = await query<{ url: string | null }>(
        `insert into "SandboxLease" ("id", "token", "expireTime") values (1, $1, ${UNTIL})
         on conflict ("id") do update
           set "token" = excluded."token", "expireTime" = excluded."expireTime"
           where "SandboxLease"."expireTime" < clock_timestamp()
         returning "url"`,
        [token],
      );
      return claimed ? { lastUrl: claimed.url ?? undefined } : null;
    },
    async renew(url) {
      const renewed = await query(
        `update "SandboxLease" set "url" = $2, "expireTime" = ${UNTIL} where "token" = $1 returning "id"`,
        [token, url],
      );
      return renewed.length > 0;
    },
    async findUrl() {
      const [row] = await query<{ url: string | null }>(`select "url" from "SandboxLease"`, []);
      return row?.url ?? null;
    },
    async release() {
      await query(
        `update "SandboxLease" set "expireTime" = clock_timestamp() where "token" = $1 returning "id"`,
        [token],
      );
    },
  };
}

/** A third of the lease: two renewals may be lost. */
const POLL_MS = 1_500;
/** While a start waits for another process's sandbox to listen for the first time. */
const FIRST_POLL_MS = 50;
/** A database that hangs must not hold up the end of this process. */
const LEAVE_MS = 1_000;

/** Waits until there is a sandbox, here or in another process. */
async function shareSandbox(host: SandboxHost): Promise<Sandbox> {
  const shared = new SharedSandbox(host);
  await shared.open();
  return shared;
}

class SharedSandbox implements Sandbox {
  readonly #host: SandboxHost;
  readonly #lease: SandboxLease;
  readonly #stopping = new AbortController();
  readonly #fills: FillSandbox[] = [];
  #server: SandboxServer | null = null;
  #othersUrl = '';
  #looking = Promise.resolve();

  constructor(host: SandboxHost) {
    this.#host = host;
    this.#lease = createSandboxLease(host.database.rows.query);
  }

  url = (): string => this.#server?.url ?? this.#othersUrl;

  server(): SandboxServer {
    if (this.#server) return this.#server;
    throw new Error('Another process of the database runs the sandbox.');
  }

  fillWith(fill: FillSandbox): void {
    this.#fills.push(fill);
    if (this.#server) fill(this.#server);
  }

  async open(): Promise<void> {
    await this.#look();
    while (this.url() === '') {
      await wait(FIRST_POLL_MS);
      await this.#look();
    }
    this.#looking = this.#lookAgainAndAgain();
  }

  async #lookAgainAndAgain(): Promise<void> {
    const { signal } = this.#stopping;
    // The sandbox goes on while it lasts: no other process can claim the lease either.
    const outage = new Outage(this.#host.log, 'sandbox.unreachable');
    for (;;) {
      await wait(POLL_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      await outage.watch(() => this.#look());
    }
  }

  async #look(): Promise<void> {
    if (this.#server) return this.#keep(this.#server);
    const claimed = await this.#lease.claim();
    if (claimed) await this.#run(claimed.lastUrl);
    else this.#othersUrl = (await this.#lease.findUrl()) ?? this.#othersUrl;
  }

  /** A process that could not renew in time finds that another one has the lease. */
  async #keep(server: SandboxServer): Promise<void> {
    if (await this.#lease.renew(server.url)) return;
    this.#server = null;
    await server.close();
    this.#othersUrl = (await this.#lease.findUrl()) ?? server.url;
  }

  async #run(lastUrl?: string): Promise<void> {
    try {
      this.#server = await startSandbox(this.#host.config, lastUrl);
    } catch (error) {
      await this.#lease.release();
      throw error;
    }
    for (const fill of this.#fills) fill(this.#server);
    await this.#keep(this.#server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await endWithin(this.#looking, LEAVE_MS);
    if (!this.#server) return;
    await this.#server.close();
    const released = this.#lease.release().catch((error: unknown) => {
      this.#host.log.warn({ err: error }, 'sandbox.lease_not_released');
    });
    await endWithin(released, LEAVE_MS);
  }
}

/** One sandbox for all processes of a database: what one of them writes to it, the others read. */
export async function openSandbox(host: SandboxHost): Promise<Sandbox> {
  return host.database.kind === 'embedded' ? ownSandbox(host.config) : shareSandbox(host);
}

/** The embedded database has one process, so the sandbox is not shared. */
async function ownSandbox(config: Config): Promise<Sandbox> {
  const server = await startSandbox(config);
  return {
    url: () => server.url,
    server: () => server,
    fillWith: (fill) => fill(server),
    [Symbol.asyncDispose]: () => server.close(),
  };
}
