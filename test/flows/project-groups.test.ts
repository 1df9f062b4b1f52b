/**
 * Two shard groups, as two servers of one database hold them: one server hangs, and the projects of the other
 * continue.
 */

import { expect, onTestFinished, test } from 'vitest';
import type { ProjectGroup } from '../../src/database/projects/project-groups.ts';
import type { RunQuery } from '../../src/database/rows.ts';
import { startWork } from '../../src/start-work.ts';
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
function createGroup(name: string, projectIds: () => string[]): ProjectGroup {
  return { name, projectIds, splitIntoParts: (ids) => ids.map((id) => [id]) };
}

/** Simulates a server that can hang: statements that name its projects wait until it responds again. */
function createHangingServer(projectIds: () => string[]) {
  let responding = Promise.resolve();
  let waiting = 0;
  const isOnServer = (value: unknown) =>
    Array.isArray(value) && projectIds().some((id) => value.includes(id));
  return {
    /** Returns the number of waiting statements. */
    waiting: () => waiting,
    hang() {
      const { promise, resolve } = Promise.withResolvers<void>();
      responding = promise;
      onTestFinished(() => resolve());
      return resolve;
    },
    before:
      (query: RunQuery): RunQuery =>
      async (text, values, rowMode) => {
        if (values.some(isOnServer)) {
          waiting += 1;
          await responding;
          waiting -= 1;
        }
        return query(text, values, rowMode);
      },
  };
}

async function createTwoGroups() {
  const [first, other] = [
    await createDeliveryProject(database),
    await createDeliveryProject(database),
  ];
  const server = createHangingServer(() => [first.projectId]);
  const groups = [
    createGroup('one', () => [first.projectId]),
    createGroup('other', () => [other.projectId]),
  ];
  const split = {
    ...database,
    groups: async () => groups,
    rows: { ...database.rows, query: server.before(database.rows.query) },
    sweeps: (group: ProjectGroup) => server.before(database.sweeps(group)),
  };
  return { first, other, server, services: { ...services, database: split } };
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

const countRecorded = (projectId: string) =>
  prisma.delivery.count({ where: { projectId, status: 'SUCCEEDED' } });
const countUnfolded = (projectId: string) => prisma.activityDelta.count({ where: { projectId } });

test("delays deliveries of a hanging server's projects only", async () => {
  await using receiver = await startReceiver();
  const { first, other, server, services: split } = await createTwoGroups();
  const toOne = await first.createDestination(receiver.url('one'));
  const toOther = await other.createDestination(receiver.url('other'));
  await using _work = await startWork(split);

  // Some messages are being sent when the server begins to hang, so their results have to wait.
  receiver.setBehavior('one', 'HANG');
  await enqueueMany(first, toOne.id, 5);
  await receiver.waitForMessages('one', 5);
  const endHang = server.hang();
  receiver.respondToHeld('one', { status: 200 });
  receiver.setBehavior('one', { status: 200 });
  await enqueueMany(first, toOne.id, 50);
  await expect.poll(server.waiting).toBeGreaterThan(0);

  for (let round = 1; round <= 3; round += 1) {
    await enqueueMany(other, toOther.id, 100);
    await receiver.waitForMessages('other', round * 100);
    await expect.poll(() => countRecorded(other.projectId)).toBe(round * 100);
  }
  await expect.poll(() => countUnfolded(other.projectId)).toBe(0);
  expect(receiver.received('one')).toHaveLength(5);
  expect(await countRecorded(first.projectId)).toBe(0);

  endHang();
  await expect.poll(() => countRecorded(first.projectId)).toBe(55);
  expect(receiver.received('one')).toHaveLength(55);
  expect(receiver.received('other')).toHaveLength(300);
});

test(
  'delivers messages of each project in a shard group if a statement may change one project only',
  { tags: ['all/rows'] },
  async () => {
    await using receiver = await startReceiver();
    const projects = await Promise.all(
      Array.from({ length: 6 }, () => createDeliveryProject(database)),
    );
    for (const [index, project] of projects.entries()) {
      const { id } = await project.createDestination(receiver.url(`many-${index}`));
      await project.enqueue(id, 300);
    }
    const group = createGroup('many', () => projects.map(({ projectId }) => projectId));
    const split = { ...database, groups: async () => [group] };
    await using _work = await startWork({ ...services, database: split });
    await Promise.all(
      projects.map((_project, index) => receiver.waitForMessages(`many-${index}`, 300)),
    );
    for (const { projectId } of projects)
      await expect.poll(() => countRecorded(projectId)).toBe(300);
  },
);

test('delivers messages of a moved project from the worker of its new server', async () => {
  await using receiver = await startReceiver();
  const project = await createDeliveryProject(database);
  const { id } = await project.createDestination(receiver.url('moved'));
  const projectIds: Record<string, string[]> = { one: [project.projectId], other: [] };
  const groups = Object.keys(projectIds).map((name) =>
    createGroup(name, () => projectIds[name] ?? []),
  );
  const split = { ...database, groups: async () => groups };
  await using _work = await startWork({ ...services, database: split });
  await enqueueMany(project, id, 10);
  await receiver.waitForMessages('moved', 10);
  // The project moves to the other group, whose worker then delivers its messages.
  Object.assign(projectIds, { one: [], other: [project.projectId] });
  await enqueueMany(project, id, 10);
  await receiver.waitForMessages('moved', 20);
  await expect.poll(() => countRecorded(project.projectId)).toBe(20);
  expect(receiver.received('moved')).toHaveLength(20);
});
