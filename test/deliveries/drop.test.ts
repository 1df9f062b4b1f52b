/** Deliveries of a deleted destination fail. */
import { expect, test } from 'vitest';
import { newId } from '../../src/kernel/ids.ts';
import { droppedDeliveries } from '../../src/start/start-work.ts';
import { getSharedApp } from '../support/app.ts';
import { insertDestination } from '../support/fixtures/integrations.ts';

const app = await getSharedApp();
const { services } = app.app;
const { prisma } = services.database;

const DELETE_DESTINATION =
  'mutation DeleteDestination($input: DeleteDestinationInput!) { deleteDestination(input: $input) { deletedId } }';

const runUpkeep = () => droppedDeliveries.run(services, new AbortController().signal);

async function createDeliveries(count: number, columns: object = {}) {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const { id: destinationId } = await insertDestination(app, { projectId });
  const first = { id: newId('dlv'), projectId, destinationId, body: '{}', ...columns };
  await prisma.delivery.create({ data: first });
  // One statement creates the other rows much faster than the client of the database.
  await prisma.$executeRaw`
    insert into "Delivery" ("id", "projectId", "destinationId", "body", "leaseToken", "leaseExpireTime")
    select left("id", -6) || lpad(n::text, 6, '0'), "projectId", "destinationId", "body", "leaseToken",
      "leaseExpireTime"
    from "Delivery", generate_series(2, ${count}) n where "projectId" = ${projectId}`;
  const countPending = () => prisma.delivery.count({ where: { projectId, status: 'PENDING' } });
  return { tenant, projectId, destinationId, countPending };
}

test(
  'fails 10,000 deliveries with the deletion, and the remaining deliveries in the upkeep',
  { tags: ['all/rows'] },
  async () => {
    const { tenant, projectId, destinationId, countPending } = await createDeliveries(10_500);
    const input = { projectIdOrName: projectId, destinationId };
    expect(await tenant.query(DELETE_DESTINATION, { input })).toMatchObject({
      deleteDestination: {},
    });
    expect(await countPending()).toBe(500);
    await runUpkeep();
    expect(await countPending()).toBe(0);
    const where = { projectId, status: 'FAILED', nextAttemptTime: null } as const;
    const failureReason = 'The destination was deleted.';
    expect(await prisma.delivery.count({ where: { ...where, failureReason } })).toBe(10_500);
  },
);

test('keeps deliveries of a disabled destination pending', async () => {
  const { projectId, destinationId, countPending } = await createDeliveries(3);
  await prisma.destination.updateMany({
    where: { projectId, id: destinationId },
    data: { status: 'DISABLED' },
  });
  await runUpkeep();
  expect(await countPending()).toBe(3);
});

test('fails deliveries of a deleted destination, even if another process claimed them', async () => {
  const lease = { leaseToken: 'held', leaseExpireTime: new Date(Date.now() + 60_000) };
  const { projectId, destinationId, countPending } = await createDeliveries(3, lease);
  await prisma.destination.deleteMany({ where: { projectId, id: destinationId } });
  await Promise.all([runUpkeep(), runUpkeep()]);
  expect(await countPending()).toBe(0);
});
