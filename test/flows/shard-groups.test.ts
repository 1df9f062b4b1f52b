/**
 * Delivers messages of projects in two shard groups, as if two servers of one database held them. If one server hangs,
 * messages of the other server's projects are not delayed.
 */
import { expect, onTestFinished, test } from 'vitest';
import type { ShardGroup } from '../../src/database/statements/projects/shard-groups.ts';
import type { RunStatement } from '../../src/database/statements/statements.ts';
import { startWork } from '../../src/start/start-work.ts';
import { getSharedApp } from '../support/app.ts';
import { createDeliveryProject } from '../support/fixtures/deliveries.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { startReceiver } from '../support/receiver.ts';

const app = await getSharedApp({
  env: {
    ENCRYPTION_KEY,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32',
  },
});
const { services } = app.app;
const { database } = services;
const { prisma } = database;

/** Returns a group in which a statement may change rows of only one project. */
function createGroup(name: string, projectIds: () => string[]): ShardGroup {
  return { name, projectIds, splitIntoParts: (ids) => ids.map((id) => [id]) };
}

/** Simulates a server that can hang: statements that name its projects wait until it responds again. */
function createHangingServer(projectIds: () => string[]) {
  let responding = Promise.resolve();
  let waitingCount = 0;
  const isOnServer = (value: unknown) =>
    Array.isArray(value) && projectIds().some((id) => value.includes(id));
  return {
    /** Returns the number of waiting statements. */
    waitingCount: () => waitingCount,
    hang() {
      const { promise, resolve } = Promise.withResolvers<void>();
      responding = promise;
      onTestFinished(() => resolve());
      return resolve;
    },
    delay:
      (run: RunStatement): RunStatement =>
      async (statement, input) => {
        if (statement.readValues(input).some(isOnServer)) {
          waitingCount += 1;
          await responding;
          waitingCount -= 1;
        }
        return run(statement, input);
      },
  };
}

async function createTwoGroups() {
  const [hanging, healthy] = [
    await createDeliveryProject(database),
    await createDeliveryProject(database),
  ];
  const server = createHangingServer(() => [hanging.projectId]);
  const shardGroups = [
    createGroup('hanging', () => [hanging.projectId]),
    createGroup('healthy', () => [healthy.projectId]),
  ];
  const splitDatabase = {
    ...database,
    listShardGroups: async () => shardGroups,
    run: server.delay(database.run),
    sweeps: (shardGroup: ShardGroup) => server.delay(database.sweeps(shardGroup)),
  };
  return { hanging, healthy, server, services: { ...services, database: splitDatabase } };
}

type DeliveryProject = Awaited<ReturnType<typeof createDeliveryProject>>;

/** Enqueues deliveries as an event does. */
async function enqueueMany(
  { enqueue }: DeliveryProject,
  destinationId: string,
  count: number,
): Promise<void> {
  await enqueue(destinationId, count);
  await prisma.$executeRaw`select pg_notify('gateway_events', '')`;
}

const countDelivered = (projectId: string) =>
  prisma.delivery.count({ where: { projectId, status: 'SUCCEEDED' } });
const countActivityDeltas = (projectId: string) =>
  prisma.activityDelta.count({ where: { projectId } });

test("delays only deliveries of a hanging server's projects", async () => {
  await using receiver = await startReceiver();
  const { hanging, healthy, server, services: splitServices } = await createTwoGroups();
  const hangingDestination = await hanging.createDestination(receiver.getUrl('hanging'));
  const healthyDestination = await healthy.createDestination(receiver.getUrl('healthy'));
  await using _work = await startWork(splitServices);

  // The server begins to hang while messages are being sent, so it cannot store their results.
  receiver.setBehavior('hanging', 'HANG');
  await enqueueMany(hanging, hangingDestination.id, 5);
  await receiver.waitForMessages('hanging', 5);
  const endHang = server.hang();
  receiver.respondToHeld('hanging', { status: 200 });
  receiver.setBehavior('hanging', { status: 200 });
  await enqueueMany(hanging, hangingDestination.id, 50);
  await expect.poll(server.waitingCount).toBeGreaterThan(0);

  for (let round = 1; round <= 3; round += 1) {
    await enqueueMany(healthy, healthyDestination.id, 100);
    await receiver.waitForMessages('healthy', round * 100);
    await expect.poll(() => countDelivered(healthy.projectId)).toBe(round * 100);
  }
  await expect.poll(() => countActivityDeltas(healthy.projectId)).toBe(0);
  expect(receiver.listMessages('hanging')).toHaveLength(5);
  expect(await countDelivered(hanging.projectId)).toBe(0);

  endHang();
  await expect.poll(() => countDelivered(hanging.projectId)).toBe(55);
  expect(receiver.listMessages('hanging')).toHaveLength(55);
  expect(receiver.listMessages('healthy')).toHaveLength(300);
});

test(
  'delivers messages of every project of a shard group if a statement may change only one project',
  { tags: ['all/rows'] },
  async () => {
    await using receiver = await startReceiver();
    const projects = await Promise.all(
      Array.from({ length: 6 }, () => createDeliveryProject(database)),
    );
    for (const [index, project] of projects.entries()) {
      const { id } = await project.createDestination(receiver.getUrl(`many-${index}`));
      await project.enqueue(id, 300);
    }
    const shardGroup = createGroup('many', () => projects.map(({ projectId }) => projectId));
    const splitDatabase = { ...database, listShardGroups: async () => [shardGroup] };
    await using _work = await startWork({ ...services, database: splitDatabase });
    await Promise.all(
      projects.map((_project, index) => receiver.waitForMessages(`many-${index}`, 300)),
    );
    for (const { projectId } of projects)
      await expect.poll(() => countDelivered(projectId)).toBe(300);
  },
);

test('delivers messages of a moved project from the worker of its new server', async () => {
  await using receiver = await startReceiver();
  const project = await createDeliveryProject(database);
  const { id } = await project.createDestination(receiver.getUrl('moved'));
  const projectIds: Record<string, string[]> = { old: [project.projectId], new: [] };
  const shardGroups = Object.keys(projectIds).map((name) =>
    createGroup(name, () => projectIds[name] ?? []),
  );
  const splitDatabase = { ...database, listShardGroups: async () => shardGroups };
  await using _work = await startWork({ ...services, database: splitDatabase });
  await enqueueMany(project, id, 10);
  await receiver.waitForMessages('moved', 10);
  Object.assign(projectIds, { old: [], new: [project.projectId] });
  await enqueueMany(project, id, 10);
  await receiver.waitForMessages('moved', 20);
  await expect.poll(() => countDelivered(project.projectId)).toBe(20);
  expect(receiver.listMessages('moved')).toHaveLength(20);
});
