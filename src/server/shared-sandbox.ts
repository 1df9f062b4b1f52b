/**
 * On PostgreSQL one process runs the sandbox, and the others read its URL from the database. When that process
 * ends, another one runs a new, empty sandbox, at the same URL if its port is free.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { SandboxServer } from '../sandbox/server.ts';
import { endWithin } from '../work/deadline.ts';
import { Outage } from '../work/outage.ts';
import { createSandboxLease, type SandboxLease } from './sandbox-lease.ts';
import {
  type FillSandbox,
  type Sandbox,
  type SandboxHost,
  startSandbox,
} from './sandbox-server.ts';

/** A third of the lease: two renewals may be lost. */
const LOOK_MS = 1_500;
/** While a start waits for another process's sandbox to listen for the first time. */
const FIRST_LOOK_MS = 50;
/** A database that hangs must not hold up the end of this process. */
const LEAVE_MS = 1_000;

/** Waits until there is a sandbox, here or in another process. */
export async function shareSandbox(host: SandboxHost): Promise<Sandbox> {
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
      await wait(FIRST_LOOK_MS);
      await this.#look();
    }
    this.#looking = this.#lookAgainAndAgain();
  }

  async #lookAgainAndAgain(): Promise<void> {
    const { signal } = this.#stopping;
    // The sandbox goes on while it lasts: no other process can claim the lease either.
    const outage = new Outage(this.#host.log, 'sandbox.unreachable');
    for (;;) {
      await wait(LOOK_MS, undefined, { signal }).catch(() => {});
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
