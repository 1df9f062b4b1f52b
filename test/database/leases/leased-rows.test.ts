import type { RawBuilder } from 'kysely';
import { expect, test } from 'vitest';
import { LEASE, LeaseLost, RELEASED_LEASE } from '../../../src/database/leases/lease.ts';
import { LeasedRows } from '../../../src/database/leases/leased-rows.ts';
import { sql } from '../../../src/database/statements/statements.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { MINUTE_MS } from '../../../src/work/durations.ts';
import { getSharedApp } from '../../support/app.ts';

const app = await getSharedApp();
const { database, log } = app.app.services;
const { prisma } = database;

const KEY = ['projectId', 'installationId', 'objectName'] as const;
/** Later than the clock of the database, by which rows may also be due. */
const NOW = new Date('2100-01-01T12:00:00Z');
const addMinutes = (count: number) => new Date(NOW.getTime() + count * MINUTE_MS);
/** Short enough to expire and to be renewed during a test. */
const SHORT_MS = 30;

/** Inserts rows of a new project. Claims of the returned functions are limited to it. */
async function insertRows(dueTimes: (Date | null)[], leaseMs = MINUTE_MS) {
  const { projectId } = await app.createTenant();
  const installationId = newId('ins');
  const createKey = (objectName: string) => ({ projectId, installationId, objectName });
  const parents = { projectId, installationId, provider: 'sandbox', connectionId: 'c' };
  const data = dueTimes.map((dueTime, index) => ({
    ...parents,
    objectName: `object${index}`,
    dueTime,
  }));
  await prisma.objectSubscription.createMany({ data });
  const rows = new LeasedRows({
    table: 'ObjectSubscription',
    key: KEY,
    leaseMs,
    columns: LEASE,
    isClaimableSql: sql`held."projectId" = ${projectId} and held."isWanted"`,
  });
  const claim = (countMax: number, now = NOW) =>
    rows.claimDue(database, { countMax, now, columns: [...KEY, LEASE.token] });
  const findRow = (objectName: string) =>
    prisma.objectSubscription.findFirstOrThrow({ where: { projectId, objectName } });
  const claimObject = (objectName: string, condition?: RawBuilder<unknown>) =>
    rows.claimOne(database, createKey(objectName), {
      columns: [...KEY, LEASE.token],
      ...(condition && { condition }),
    });
  return { rows, claim, claimObject, findRow, projectId };
}
const listNames = (claims: { objectName: string }[]) => claims.map(({ objectName }) => objectName);

test('claims each due row once, the earliest first', async () => {
  const { claim } = await insertRows([
    addMinutes(-1),
    addMinutes(-3),
    addMinutes(1),
    null,
    addMinutes(-2),
  ]);
  expect(listNames(await claim(2)).toSorted()).toEqual(['object1', 'object4']);
  expect(listNames(await claim(2))).toEqual(['object0']);
  expect(await claim(2)).toEqual([]);
});

test('divides due rows among workers that claim at the same time', async () => {
  const { claim } = await insertRows(Array.from({ length: 12 }, () => NOW));
  const claims = await Promise.all(Array.from({ length: 6 }, () => claim(3)));
  const names = listNames(claims.flat());
  expect(new Set(names).size).toBe(names.length);
  while (names.length < 12) {
    const secondClaim = await claim(3);
    expect(secondClaim).not.toEqual([]);
    names.push(...listNames(secondClaim));
  }
  expect(new Set(names).size).toBe(12);
});

test('claims at most the requested number of rows, from each project in turn', async () => {
  const ids = [(await insertRows([NOW, NOW])).projectId, (await insertRows([NOW, NOW])).projectId];
  const splitIntoParts = (projectIds: readonly string[]) => projectIds.map((id) => [id]);
  const shardGroup = { name: 'some', projectIds: () => ids, splitIntoParts };
  const spec = { table: 'ObjectSubscription', key: KEY, columns: LEASE } as const;
  const rows = new LeasedRows({ ...spec, leaseMs: MINUTE_MS });
  const claim = async (countMax: number) => {
    const due = { countMax, now: NOW, columns: KEY };
    const rowsClaimed = await rows.claimDue({ ...database, shardGroup }, due);
    return rowsClaimed.map(({ projectId }) => projectId);
  };
  const [firstProjects, secondProjects] = [await claim(1), await claim(1)];
  expect([firstProjects.length, secondProjects.length]).toEqual([1, 1]);
  expect([...firstProjects, ...secondProjects].toSorted()).toEqual(ids.toSorted());
  expect((await claim(3)).toSorted()).toEqual(ids.toSorted());
  expect(await claim(1)).toEqual([]);
});

test('claims a row by its key if it is free and meets the condition', async () => {
  const { claim, claimObject } = await insertRows([NOW, NOW]);
  expect(await claimObject('object1', sql`held."dueTime" < ${NOW}`)).toBeNull();
  const claimedRow = await claimObject('object1', sql`held."dueTime" <= ${NOW}`);
  expect(claimedRow).toMatchObject({ objectName: 'object1', leaseToken: expect.any(String) });
  expect(await claimObject('object1')).toBeNull();
  expect(await claimObject('object2')).toBeNull();
  expect(listNames(await claim(2))).toEqual(['object0']);
});

test('renews a lease only for the claim that holds the row', async () => {
  const { rows, claim, claimObject } = await insertRows([NOW], SHORT_MS);
  const claimedRow = await claimObject('object0');
  if (!claimedRow) throw new Error('No row was claimed.');
  await rows.renew(prisma, claimedRow);
  await expect.poll(async () => listNames(await claim(1))).toEqual(['object0']);
  await expect(rows.renew(prisma, claimedRow)).rejects.toThrow(LeaseLost);
});

test('keeps a renewed claim, and refuses the result of an expired claim', async () => {
  const { rows, claim, findRow } = await insertRows([NOW], SHORT_MS);
  const [claimedRow] = await claim(1);
  if (!claimedRow) throw new Error('No row was claimed.');
  {
    using _lease = rows.keepRenewing({ database, log }, claimedRow);
    const { leaseExpireTime } = await findRow('object0');
    await expect
      .poll(async () => (await findRow('object0')).leaseExpireTime?.getTime())
      .toBeGreaterThan(leaseExpireTime?.getTime() ?? Infinity);
  }
  await expect.poll(async () => listNames(await claim(1))).toEqual(['object0']);
  const change = { failures: 7 };
  await expect(rows.updateClaimed(prisma.objectSubscription, claimedRow, change)).rejects.toThrow(
    LeaseLost,
  );
  expect(await findRow('object0')).toMatchObject({ failures: 0 });
});

test('stores the result of a claim and releases the row', async () => {
  const { rows, claim, findRow } = await insertRows([NOW]);
  const [claimedRow] = await claim(1);
  if (!claimedRow) throw new Error('No row was claimed.');
  const change = { failures: 1, dueTime: addMinutes(5), ...RELEASED_LEASE };
  await rows.updateClaimed(prisma.objectSubscription, claimedRow, change);
  expect(await findRow('object0')).toMatchObject(change);
  expect(await claim(1)).toEqual([]);
  expect(listNames(await claim(1, addMinutes(6)))).toEqual(['object0']);
});

test('neither claims nor keeps rows that are no longer claimable', async () => {
  const { rows, claim, projectId } = await insertRows([NOW, NOW], SHORT_MS);
  const [keptRow] = await claim(1);
  if (!keptRow) throw new Error('No row was claimed.');
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  using _lease = rows.keepRenewing({ database, log }, keptRow, resolve);
  await prisma.objectSubscription.updateMany({ where: { projectId }, data: { isWanted: false } });
  await lost;
  expect(await claim(2)).toEqual([]);
});
