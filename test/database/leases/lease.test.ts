import { expect, test } from 'vitest';
import {
  detachFromProcess,
  isFreeSql,
  keepLease,
  LeaseLost,
  leaseEndSql,
  newLeaseToken,
  requireLease,
} from '../../../src/database/leases/lease.ts';
import { createTestDatabase } from '../../support/app.ts';
import { toQuery } from '../../support/database/query.ts';

const MINUTE_MS = 60_000;

test('creates a unique token for each claim, and removes the process id from it', () => {
  const [token, otherToken] = [newLeaseToken('a'), newLeaseToken('a')];
  expect(token).not.toBe(otherToken);
  expect(token.startsWith('a:')).toBe(true);
  expect(detachFromProcess(token)).toBe(token.slice(2));
  expect(detachFromProcess(detachFromProcess(token))).toBe(token.slice(2));
});

test('throws LeaseLost if a statement changes no row of the claim', () => {
  requireLease(1);
  expect(() => requireLease(0)).toThrow(LeaseLost);
});

test('renews a lease until it is disposed of, even after a failed renewal', async () => {
  const { promise: renewedTwice, resolve } = Promise.withResolvers<void>();
  const failures: unknown[] = [];
  let renewals = 0;
  const renew = async () => {
    renewals += 1;
    if (renewals === 1) throw new Error('not now');
    resolve();
  };
  {
    using _lease = keepLease(3, renew, (error) => failures.push(error));
    await renewedTwice;
  }
  expect(failures).toEqual([new Error('not now')]);
});

test('treats a row as free if it has no lease, the lease has expired or its process has ended', async () => {
  await using database = await createTestDatabase();
  const { processes, prisma } = database;
  const query = toQuery(database);
  await prisma.serverProcess.createMany({
    data: [
      { id: 'slow', lockMissingSince: null },
      { id: 'missed', lockMissingSince: new Date(Date.now() - MINUTE_MS) },
      { id: 'newly-missed', lockMissingSince: new Date(Date.now() + MINUTE_MS) },
    ],
  });
  const isFree = async (leaseToken: string | null, end: string) => {
    const [row] = await query<{ isFree: boolean }>(
      `select ${isFreeSql()} as "isFree"
       from (select $1::text as "leaseToken", ${end} as "leaseExpireTime") held`,
      [leaseToken],
    );
    return row?.isFree;
  };
  const laterSql = leaseEndSql(MINUTE_MS);
  expect(await isFree(null, 'null::timestamptz')).toBe(true);
  expect(await isFree(newLeaseToken('slow'), 'now()')).toBe(true);
  expect(await isFree(newLeaseToken('slow'), laterSql)).toBe(false);
  expect(await isFree(newLeaseToken(processes.id), laterSql)).toBe(false);
  expect(await isFree(newLeaseToken('missed'), laterSql)).toBe(true);
  expect(await isFree(newLeaseToken('newly-missed'), laterSql)).toBe(false);
  expect(await isFree(detachFromProcess(newLeaseToken('missed')), laterSql)).toBe(false);
  expect(await isFree('a token of an earlier version', laterSql)).toBe(false);
});
