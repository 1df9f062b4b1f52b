import { expect, test } from 'vitest';
import { inTransaction } from '../../../src/database/transactions/transaction.ts';
import type { PlanTransaction } from '../../../src/domain/access/item-change.ts';
import { destinationChanges } from '../../../src/domain/events/document/destination-document.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { getSharedApp } from '../../support/app.ts';

const app = await getSharedApp();
const { services } = app.app;

test('updates a stream, which has no members of webhooks', async () => {
  const { projectId } = await app.createTenant();
  const item = { name: 'records', type: 'stream' };
  const data = { id: newId('dst'), projectId, name: item.name, type: 'STREAM' } as const;
  const { id } = await services.database.prisma.destination.create({ data });
  const path = 'destinations.records';
  await inTransaction(services.database, async (tx) => {
    const call = { ...services, viewer: { kind: 'END_USER' } };
    const plan = { call, tx, projectId, secrets: new Map(), ids: new Map([[path, id]]) };
    const change = { path, before: item, after: item };
    await destinationChanges.put({ ...plan, afterCommit: [] } as never as PlanTransaction, change);
  });
  const row = await services.database.prisma.destination.findFirstOrThrow({ where: { id } });
  expect(row.updateTime).not.toBeNull();
});
