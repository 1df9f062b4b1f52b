import { afterAll, expect, test } from 'vitest';
import { inTransaction } from '../../src/database/transactions/transaction.ts';
import { enqueueMessages } from '../../src/events/enqueue-messages.ts';
import { createTestDatabase } from '../support/app.ts';
import { createDeliveryProject } from '../support/fixtures/deliveries.ts';

const database = await createTestDatabase();
afterAll(() => database[Symbol.asyncDispose]());

test('queues a message after the last queued message with the same order key, even if its ID sorts before the others', async () => {
  const { projectId, createDestination, enqueue } = await createDeliveryProject(database);
  const { id } = await createDestination('https://hooks.example.com');
  const [firstId] = await enqueue(id, 1, { orderKey: 'one' });
  const lastQueuedId = `dlv_${'0'.repeat(32)}`;
  await enqueue(id, 1, {
    id: lastQueuedId,
    orderKey: 'one',
    afterId: firstId,
    nextAttemptTime: null,
  });
  const [nextId] = await inTransaction(database, (tx) =>
    enqueueMessages(
      tx,
      { id, projectId, type: 'WEBHOOK' },
      { messages: [{ body: '{}', orderKey: 'one' }], subject: null },
    ),
  );
  expect(
    await database.prisma.delivery.findFirst({ where: { projectId, id: nextId } }),
  ).toMatchObject({
    afterId: lastQueuedId,
    nextAttemptTime: null,
  });
});
