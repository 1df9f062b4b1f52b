/** Which process runs the sandbox: a lease that it keeps renewing, told by the database's clock. */
import { randomUUID } from 'node:crypto';
import type { RunQuery } from '../database/rows.ts';

/** How long the others wait for a process that was killed. */
const LEASE_MS = 5_000;
const UNTIL = `clock_timestamp() + interval '${LEASE_MS} milliseconds'`;

export interface SandboxLease {
  /** Where the sandbox was last, once this process has the lease; null where another one has it. */
  claim(): Promise<{ lastUrl?: string } | null>;
  /** Tells where the sandbox is, and keeps the lease; false where another process has it by now. */
  renew(url: string): Promise<boolean>;
  /** Where the others' sandbox is; null before the first one listens. */
  findUrl(): Promise<string | null>;
  /** The next to claim it gets it. */
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
