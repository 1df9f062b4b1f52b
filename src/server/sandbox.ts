/**
 * Runs the sandbox next to the gateway. On PostgreSQL one process runs it, and the others read its URL from the
 * database. When that process ends, another one starts a new, empty sandbox, with the same URL if its port is free.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { leaseEndSql } from '../database/leases/lease.ts';
import { type RunStatement, sqlStatement } from '../database/statements/statements.ts';
import { isDemoOn } from '../demo/demo.ts';
import type { Services } from '../domain/access/call.ts';
import { listenAt } from '../process/ports.ts';
import { type SandboxServer, startSandboxServer } from '../sandbox/server.ts';
import type { Config } from '../settings/config.ts';
import { endWithin } from '../work/deadline.ts';
import { Outage } from '../work/outage.ts';

/**
 * How long the process that runs the sandbox keeps its lease without a renewal. If it is killed, another process takes
 * over after this time.
 */
const LEASE_MS = 5_000;
const EXPIRE_TIME_SQL = leaseEndSql(LEASE_MS);

/** The interval of renewals. It is a third of the lease, so that two renewals may fail. */
const POLL_MS = 1_500;
/** The polling interval of a process that starts while another one opens the first sandbox. */
const FIRST_POLL_MS = 50;
/** Bounds the release of the lease, so that an unresponsive database does not delay the end of this process. */
const RELEASE_MS = 1_000;

type FillSandbox = (server: SandboxServer) => void;

type SandboxHost = Pick<Services, 'config' | 'database' | 'log'>;

/**
 * Opens the sandbox if it is on. All processes of a database share one, so that each sees the records that others write
 * to it.
 */
export async function openSandbox(host: SandboxHost): Promise<Sandbox> {
  const isOn = host.config.SANDBOX ?? (await isDemoOn(host));
  const sandbox = new Sandbox(host, isOn);
  if (isOn) await sandbox.open();
  return sandbox;
}

export class Sandbox implements AsyncDisposable {
  /** False if the sandbox is off. Then no process runs it, and it is not a provider. */
  readonly isOn: boolean;
  readonly #host: SandboxHost;
  readonly #lease: SandboxLease;
  readonly #stopping = new AbortController();
  readonly #fills: FillSandbox[] = [];
  #server: SandboxServer | null = null;
  #remoteUrl = '';
  #polling = Promise.resolve();

  constructor(host: SandboxHost, isOn: boolean) {
    this.isOn = isOn;
    this.#host = host;
    this.#lease = createSandboxLease(host.database.run);
  }

  /** The current URL, without a trailing slash. Empty if the sandbox is off. */
  url = (): string => this.#server?.url ?? this.#remoteUrl;

  /** Throws if the sandbox is off, or if another process with the same database runs it. */
  server(): SandboxServer {
    if (this.#server) return this.#server;
    throw new Error('This process does not run the sandbox.');
  }

  /** Runs `fill` now if this process runs the sandbox, and again at each later start of the sandbox. */
  fillWith(fill: FillSandbox): void {
    this.#fills.push(fill);
    if (this.#server) fill(this.#server);
  }

  /** Waits until this or another process runs a sandbox. */
  async open(): Promise<void> {
    const { config, database } = this.#host;
    // The embedded database has only one process, which needs no lease.
    if (database.kind === 'embedded') {
      this.#server = await startSandbox(config);
      return;
    }
    await this.#poll();
    while (this.url() === '') {
      await wait(FIRST_POLL_MS);
      await this.#poll();
    }
    this.#polling = this.#pollUntilStopped();
  }

  async #pollUntilStopped(): Promise<void> {
    const { signal } = this.#stopping;
    // During an outage of the database the sandbox keeps running, because no other process can claim the lease.
    const outage = new Outage(this.#host.log, 'sandbox.unreachable');
    for (;;) {
      await wait(POLL_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      await outage.watch(() => this.#poll());
    }
  }

  async #poll(): Promise<void> {
    if (this.#server) return this.#renewOrClose(this.#server);
    const claim = await this.#lease.claim();
    if (claim) await this.#run(claim.lastUrl);
    else this.#remoteUrl = (await this.#lease.findUrl()) ?? this.#remoteUrl;
  }

  /** Renews the lease. If it was lost, another process runs the sandbox, so this one is closed. */
  async #renewOrClose(server: SandboxServer): Promise<void> {
    if (await this.#lease.renew(server.url)) return;
    this.#server = null;
    await server.close();
    this.#remoteUrl = (await this.#lease.findUrl()) ?? server.url;
  }

  async #run(lastUrl?: string): Promise<void> {
    try {
      this.#server = await startSandbox(this.#host.config, lastUrl);
    } catch (error) {
      await this.#lease.release();
      throw error;
    }
    for (const fill of this.#fills) fill(this.#server);
    await this.#renewOrClose(this.#server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await endWithin(this.#polling, RELEASE_MS);
    if (!this.#server) return;
    await this.#server.close();
    const release = this.#lease.release().catch((error: unknown) => {
      this.#host.log.warn({ err: error }, 'sandbox.lease_not_released');
    });
    await endWithin(release, RELEASE_MS);
  }
}

type SandboxLease = ReturnType<typeof createSandboxLease>;

interface UrlRow {
  url: string | null;
}

const CLAIM_LEASE = sqlStatement<UrlRow>(`
  insert into "SandboxLease" ("id", "token", "expireTime") values (1, $1, ${EXPIRE_TIME_SQL})
  on conflict ("id") do update set "token" = excluded."token", "expireTime" = excluded."expireTime"
  where "SandboxLease"."expireTime" < clock_timestamp()
  returning "url"`);
const RENEW_LEASE = sqlStatement(`
  update "SandboxLease" set "url" = $2, "expireTime" = ${EXPIRE_TIME_SQL} where "token" = $1 returning "id"`);
const RELEASE_LEASE = sqlStatement(`
  update "SandboxLease" set "expireTime" = clock_timestamp() where "token" = $1 returning "id"`);
const SELECT_URL = sqlStatement<UrlRow>('select "url" from "SandboxLease"');

function createSandboxLease(run: RunStatement) {
  const token = randomUUID();
  return {
    /** Claims the lease. Returns the last URL of the sandbox, or null if another process has the lease. */
    async claim(): Promise<{ lastUrl?: string } | null> {
      const [lease] = await run(CLAIM_LEASE, [token]);
      return lease ? { lastUrl: lease.url ?? undefined } : null;
    },
    /** Stores the sandbox's URL and renews the lease. False if another process now has it. */
    async renew(url: string): Promise<boolean> {
      const rows = await run(RENEW_LEASE, [token, url]);
      return rows.length > 0;
    },
    /** Returns the URL of another process's sandbox. Null before the first one listens. */
    async findUrl(): Promise<string | null> {
      const [row] = await run(SELECT_URL, []);
      return row?.url ?? null;
    },
    /** Releases the lease, so that the next claim succeeds. */
    async release(): Promise<void> {
      await run(RELEASE_LEASE, [token]);
    },
  };
}

/**
 * Starts the sandbox on SANDBOX_PORT if it is set, and throws StartRefused if the port is taken. Otherwise tries the
 * port of the previous run, so that stored URLs stay valid, then the port after the gateway's, then any free one.
 */
async function startSandbox(config: Config, lastUrl?: string): Promise<SandboxServer> {
  const { SANDBOX_HOST: host, SANDBOX_PORT: port } = config;
  if (port !== 0) {
    const configuredPort = { name: 'SANDBOX_PORT', host, port } as const;
    return listenAt(configuredPort, () => startSandboxServer({ host, port }));
  }
  for (const preferredPort of listPreferredPorts(config, lastUrl)) {
    try {
      return await startSandboxServer({ host, port: preferredPort });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
  return startSandboxServer({ host, port: 0 });
}

function listPreferredPorts({ PORT }: Config, lastUrl?: string): number[] {
  const last = lastUrl ? [Number(new URL(lastUrl).port)] : [];
  return PORT === 0 ? last : [...last, PORT + 1];
}
