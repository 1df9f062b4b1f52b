/** Two groups of projects, as two servers of one database hold them: one server hangs, and the other's projects go on. */
import { expect, onTestFinished, test } from 'vitest';
import type { ProjectGroup } from '../../src/database/projects/project-groups.ts';
import type { RunQuery } from '../../src/database/rows.ts';
import { startWork } from '../../src/start-work.ts';
import { sharedApp } from '../support/app.ts';
import { startReceiver } from '../support/receiver.ts';
import { createOwing } from '../support/scenes/deliveries.ts';

const app = await sharedApp({
  env: {
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32',
  },
});
const { services } = app.app;
const { database } = services;
const { prisma } = database;

/** One statement may change rows of one project there. */
function groupOf(name: string, projectIds: () => string[]): ProjectGroup {
  return { name, projectIds, together: (ids) => ids.map((id) => [id]) };
}

/** A server that can be made to hang: statements that name one of its projects wait until it answers again. */
function hangingServer(projectIds: () => string[]) {
  let answering = Promise.resolve();
  let waiting = 0;
  const isOfIt = (value: unknown) =>
    Array.isArray(value) && projectIds().some((id) => value.includes(id));
  return {
    /** Statements that wait. */
    waiting: () => waiting,
    hang() {
      const { promise, resolve } = Promise.withResolvers<void>();
      answering = promise;
      onTestFinished(() => resolve());
      return resolve;
    },
    before:
      (query: RunQuery): RunQuery =>
      async (text, values, rowMode) => {
        if (values.some(isOfIt)) {
          waiting += 1;
          await answering;
          waiting -= 1;
        }
        return query(text, values, rowMode);
      },
  };
}

async function twoGroups() {
  const [one, other] = [await createOwing(database), await createOwing(database)];
  const server = hangingServer(() => [one.projectId]);
  const groups = [groupOf('one', () => [one.projectId]), groupOf('other', () => [other.projectId])];
  const split = {
    ...database,
    groups: async () => groups,
    rows: { ...database.rows, query: server.before(database.rows.query) },
    sweeps: (group: ProjectGroup) => server.before(database.sweeps(group)),
  };
  return { one, other, server, services: { ...services, database: split } };
}

type Owing = Awaited<ReturnType<typeof createOwing>>;

/** As an event does. */
async function oweNow({ owe }: Owing, destinationId: string, count: number): Promise<void> {
  await owe(destinationId, count);
  await prisma.$executeRaw`select pg_notify('gateway_events', '')`;
}

const recorded = (projectId: string) =>
  prisma.delivery.count({ where: { projectId, status: 'SUCCEEDED' } });
const unfolded = (projectId: string) => prisma.activityDelta.count({ where: { projectId } });

test('a server that hangs delays what its own projects are owed, and nothing of the others', async () => {
  await using receiver = await startReceiver();
  const { one, other, server, services: split } = await twoGroups();
  const toOne = await one.destination(receiver.url('one'));
  const toOther = await other.destination(receiver.url('other'));
  await using _work = await startWork(split);

  // Some of its messages are on their way when it begins to hang: their results have to wait.
  receiver.behave('one', 'HANG');
  await oweNow(one, toOne.id, 5);
  await receiver.arrived('one', 5);
  const answer = server.hang();
  receiver.answerHeld('one', { status: 200 });
  receiver.behave('one', { status: 200 });
  await oweNow(one, toOne.id, 50);
  await expect.poll(server.waiting).toBeGreaterThan(0);

  for (let round = 1; round <= 3; round += 1) {
    await oweNow(other, toOther.id, 100);
    await receiver.arrived('other', round * 100);
    await expect.poll(() => recorded(other.projectId)).toBe(round * 100);
  }
  await expect.poll(() => unfolded(other.projectId)).toBe(0);
  expect(receiver.received('one')).toHaveLength(5);
  expect(await recorded(one.projectId)).toBe(0);

  answer();
  await expect.poll(() => recorded(one.projectId)).toBe(55);
  expect(receiver.received('one')).toHaveLength(55);
  expect(receiver.received('other')).toHaveLength(300);
});

test(
  'in a group of many projects, each part that one statement may change has its turn',
  { tags: ['all/rows'] },
  async () => {
    await using receiver = await startReceiver();
    const projects = await Promise.all(Array.from({ length: 6 }, () => createOwing(database)));
    for (const [index, project] of projects.entries()) {
      const { id } = await project.destination(receiver.url(`many-${index}`));
      await project.owe(id, 300);
    }
    const group = groupOf('many', () => projects.map(({ projectId }) => projectId));
    const split = { ...database, groups: async () => [group] };
    await using _work = await startWork({ ...services, database: split });
    await Promise.all(projects.map((_project, index) => receiver.arrived(`many-${index}`, 300)));
    for (const { projectId } of projects) await expect.poll(() => recorded(projectId)).toBe(300);
  },
);

test('a project that has moved to another server is sent what it is owed by the worker of that one', async () => {
  await using receiver = await startReceiver();
  const owing = await createOwing(database);
  const { id } = await owing.destination(receiver.url('moved'));
  const owned: Record<string, string[]> = { one: [owing.projectId], other: [] };
  const groups = Object.keys(owned).map((name) => groupOf(name, () => owned[name] ?? []));
  const split = { ...database, groups: async () => groups };
  await using _work = await startWork({ ...services, database: split });
  await oweNow(owing, id, 10);
  await receiver.arrived('moved', 10);
  // It has moved: the other group's worker sends what it is owed from now on.
  Object.assign(owned, { one: [], other: [owing.projectId] });
  await oweNow(owing, id, 10);
  await receiver.arrived('moved', 20);
  await expect.poll(() => recorded(owing.projectId)).toBe(20);
  expect(receiver.received('moved')).toHaveLength(20);
});
