/** The lease of the process that runs the sandbox, by the database's clock. The process renews it. */
import { randomUUID } from 'node:crypto';
import type { RunQuery } from '../database/rows.ts';
import { leaseEndSql } from '../work/lease.ts';

/** How long the others wait for a process that was killed. */
const LEASE_MS = 5_000;
const UNTIL = leaseEndSql(LEASE_MS);

export interface SandboxLease {
  /** Claims the lease: the last URL of the sandbox; null if another process has the lease. */
  claim(): Promise<{ lastUrl?: string } | null>;
  /** Writes the sandbox's URL and renews the lease; false if another process has it by now. */
  renew(url: string): Promise<boolean>;
  /** The URL of the other process's sandbox; null before the first one listens. */
  findUrl(): Promise<string | null>;
  /** Frees the lease: the next claim gets it. */
  release(): Promise<void>;
}

export function createSandboxLease(query: RunQuery): SandboxLease {
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
