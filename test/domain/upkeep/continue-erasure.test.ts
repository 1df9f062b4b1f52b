/**
 * An erasure deletes rows in slices, so that another worker can continue it.
 *
 * @module-tag all/rows
 */
import { expect, test } from 'vitest';
import { inTransaction } from '../../../src/database/transactions/transaction.ts';
import { erasures } from '../../../src/domain/upkeep/continue-erasure.ts';
import { beginErasure } from '../../../src/domain/upkeep/erasure.ts';
import { getSharedApp } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { claimDueRow, runDueRows } from '../../support/work/due-work.ts';

const app = await getSharedApp();
const { services } = app.app;
const { prisma } = services.database;
const insert = insertRows(app);
const DELIVERY_COUNT = 1_200;

async function beginGroupErasure() {
  const { projectId, ...tenant } = await app.createTenant();
  const { group, consumer } = await generateConnection(
    { ...tenant, projectId },
    { apiKey: 'sandbox-key' },
  );
  const subject = { groupId: group.id, consumerId: consumer.id };
  for (let count = 0; count < DELIVERY_COUNT; count += 400) {
    const rows = Array.from({ length: 400 }, () => ({ projectId, ...subject }));
    await insert.operations(rows);
    await Promise.all(rows.map((row) => insert.delivery(row)));
  }
  const key = { projectId, id: group.id };
  await inTransaction(services.database, (tx) => beginErasure(tx, key));
  const countRemaining = async () => [
    await prisma.delivery.count({ where: { projectId } }),
    await prisma.operation.count({ where: { projectId } }),
    await prisma.group.count({ where: { projectId } }),
  ];
  return { key, countRemaining };
}

function expireLease(where: { projectId: string; id: string }) {
  return prisma.erasure.updateMany({ where, data: { leaseExpireTime: new Date(0) } });
}

test('resumes an erasure that a stopped worker has begun, and ignores further calls', async () => {
  const { key, countRemaining } = await beginGroupErasure();
  const { projectId } = key;
  await runDueRows(services, erasures, { projectId, signal: AbortSignal.abort() });
  const [deliveries, ...otherCounts] = await countRemaining();
  expect(deliveries).toBeGreaterThan(0);
  expect(deliveries).toBeLessThan(DELIVERY_COUNT);
  expect(otherCounts).toEqual([DELIVERY_COUNT, 1]);
  const claim = await claimDueRow(services, erasures, projectId);
  const { signal } = new AbortController();
  // The process of the first claim has frozen, and its lease has ended.
  await expireLease(key);
  await Promise.allSettled([
    erasures.run(services, claim, signal),
    runDueRows(services, erasures, { projectId }),
  ]);
  expect(await countRemaining()).toEqual([0, 0, 0]);
  expect(await prisma.erasure.count({ where: key })).toBe(0);
  expect(await runDueRows(services, erasures, { projectId })).toEqual([]);
});

test('erases rows that are inserted during an erasure, and refuses rows afterwards', async () => {
  const { key, countRemaining } = await beginGroupErasure();
  const { projectId, id: groupId } = key;
  const insertOperation = () => insert.operation({ projectId, groupId });
  for (let round = 0; round < 3; round += 1) {
    await Promise.allSettled([
      runDueRows(services, erasures, { projectId }),
      insertOperation(),
      insertOperation(),
    ]);
  }
  await runDueRows(services, erasures, { projectId });
  expect(await countRemaining()).toEqual([0, 0, 0]);
  await expect(insertOperation()).rejects.toThrow(/foreign key/i);
});
