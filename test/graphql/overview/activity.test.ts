/** Counts of activity, before and after the deltas are folded into them. */
import { expect, test } from 'vitest';
import { foldActivity } from '../../../src/domain/overview/activity-deltas.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';
import { createDestination } from '../../support/fixtures/integrations.ts';
import { appendMessages, createStream } from '../../support/fixtures/streams.ts';

const app = await getSharedApp();
const insert = insertRows(app);
const { services } = app.app;
const { prisma } = services.database;

const GET_ACTIVITY = `query GetActivity($id: String!, $from: DateTime!, $until: DateTime, $bucket: ActivityBucket!) {
  project(idOrName: $id) { activity(from: $from, until: $until, bucket: $bucket) {
    operations { startTime actionType status count }
    deliveries { startTime destination { id } attempts failedAttempts p50Ms p95Ms p99Ms }
    records { startTime read written receivedEvents }
    streams { startTime destination { id } messages } } } }`;

async function readActivity(tenant: Tenant, overrides: object = {}) {
  const from = '2026-05-01T00:00:00Z';
  const until = '2026-05-03T00:00:00Z';
  const variables = { id: tenant.projectId, from, until, bucket: 'HOUR', ...overrides };
  return (await tenant.query(GET_ACTIVITY, variables)).project.activity;
}

/** Returns the result of `work`, which must be equal before and after the deltas are folded. */
async function expectSameAfterFold<T>(work: () => Promise<T>): Promise<T> {
  const unfoldedResult = await work();
  await foldActivity(services);
  expect(await prisma.activityDelta.count()).toBe(0);
  expect(await work()).toEqual(unfoldedResult);
  return unfoldedResult;
}

const toMayDate = (time: string) => new Date(`2026-05-${time}Z`);

test('counts operations by creation time and outcome', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const runningOperation = await insert.operation({
    projectId,
    status: 'IN_PROGRESS',
    createTime: toMayDate('01T10:20:30'),
  });
  await insert.operations([
    { projectId, createTime: toMayDate('01T10:59:59.999') },
    { projectId, createTime: toMayDate('01T11:00:00') },
    { projectId, createTime: toMayDate('01T11:30:00'), actionType: 'WRITE', status: 'FAILURE' },
    { projectId, createTime: toMayDate('03T00:00:00') },
  ]);
  const succeededRead = { actionType: 'READ', status: 'SUCCEEDED', count: 1 };
  const failedWrite = {
    startTime: '2026-05-01T11:00:00.000Z',
    actionType: 'WRITE',
    status: 'FAILED',
    count: 1,
  };
  expect((await expectSameAfterFold(() => readActivity(tenant))).operations).toEqual([
    { ...succeededRead, startTime: '2026-05-01T10:00:00.000Z', status: 'IN_PROGRESS' },
    { ...succeededRead, startTime: '2026-05-01T10:00:00.000Z' },
    { ...succeededRead, startTime: '2026-05-01T11:00:00.000Z' },
    failedWrite,
  ]);
  await prisma.operation.updateMany({
    where: { id: runningOperation.id },
    data: { status: 'SUCCESS' },
  });
  const firstHour = (await expectSameAfterFold(() => readActivity(tenant))).operations[0];
  expect(firstHour).toEqual({ ...succeededRead, startTime: '2026-05-01T10:00:00.000Z', count: 2 });
  const days = await readActivity(tenant, { bucket: 'DAY' });
  expect(days.operations).toEqual([
    { ...succeededRead, startTime: '2026-05-01T00:00:00.000Z', count: 3 },
    { ...failedWrite, startTime: '2026-05-01T00:00:00.000Z' },
  ]);
  const minutes = {
    bucket: 'MINUTE',
    from: toMayDate('01T10:00:00'),
    until: toMayDate('01T11:00:00'),
  };
  expect((await readActivity(tenant, minutes)).operations).toEqual([
    { ...succeededRead, startTime: '2026-05-01T10:20:00.000Z' },
    { ...succeededRead, startTime: '2026-05-01T10:59:00.000Z' },
  ]);
  const otherTenant = await app.createTenant();
  expect((await readActivity(otherTenant)).operations).toEqual([]);
});

test('counts attempts by destination, with percentiles of their duration', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const destinationId = newId('dst');
  const { id: deliveryId } = await insert.delivery({ projectId, destinationId });
  const createTime = toMayDate('01T10:20:30');
  for (let attemptNumber = 1; attemptNumber <= 100; attemptNumber += 1) {
    const error = attemptNumber > 90 ? 'Refused.' : null;
    const attempt = { projectId, deliveryId, attemptNumber, createTime, error };
    await insert.attempt({ ...attempt, durationMs: attemptNumber * 10 });
    if (attemptNumber === 50) await foldActivity(services);
  }
  const { deliveries } = await expectSameAfterFold(() => readActivity(tenant));
  expect(deliveries).toEqual([
    {
      startTime: '2026-05-01T10:00:00.000Z',
      destination: null,
      attempts: 100,
      failedAttempts: 10,
      p50Ms: expect.any(Number),
      p95Ms: expect.any(Number),
      p99Ms: expect.any(Number),
    },
  ]);
  for (const [name, exactMs] of [
    ['p50Ms', 500],
    ['p95Ms', 950],
    ['p99Ms', 990],
  ] as const) {
    expect(deliveries[0][name]).toBeGreaterThanOrEqual(exactMs);
    expect(deliveries[0][name]).toBeLessThanOrEqual(exactMs * 1.2);
  }
});

test("returns the activity of a destination's own deliveries", async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const id = await createDestination(tenant);
  for (const destinationId of [id, newId('dst')]) {
    const { id: deliveryId } = await insert.delivery({ projectId, destinationId });
    await insert.attempt({
      projectId,
      deliveryId,
      attemptNumber: 1,
      createTime: toMayDate('01T10:00:00'),
    });
  }
  const query = `query GetDestination($id: ID!) { node(id: $id) { ... on Destination {
    activity(from: "2026-05-01T00:00:00Z", until: "2026-05-02T00:00:00Z", bucket: DAY) {
      destination { id } attempts } } } }`;
  expect(await expectSameAfterFold(() => tenant.query(query, { id }))).toEqual({
    node: { activity: [{ destination: { id }, attempts: 1 }] },
  });
});

test('counts messages by stream, and keeps the counts when messages are deleted', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const { database } = services;
  const lake = await createStream(database, { projectId, name: 'lake' });
  const pond = await createStream(database, { projectId, name: 'pond' });
  await appendMessages(database, lake, { names: ['a', 'b'] });
  await appendMessages(database, lake, { names: ['c'] });
  await appendMessages(database, pond, { names: ['d'] });
  const today = { from: new Date(Date.now() - 3_600_000), until: null, bucket: 'DAY' };
  const countByStream = async () => {
    const { streams } = await readActivity(tenant, today);
    const sums: Record<string, number> = {};
    for (const { destination, messages } of streams) {
      sums[destination.id] = (sums[destination.id] ?? 0) + messages;
    }
    return sums;
  };
  expect(await expectSameAfterFold(countByStream)).toEqual({
    [lake.destinationId]: 3,
    [pond.destinationId]: 1,
  });
  await prisma.streamMessage.deleteMany({ where: { projectId } });
  expect(await countByStream()).toEqual({ [lake.destinationId]: 3, [pond.destinationId]: 1 });
  const query = `query GetDestination($id: ID!, $from: DateTime!) { node(id: $id) { ... on Destination {
    streamActivity(from: $from, bucket: DAY) { destination { name } messages } } } }`;
  const { node } = await tenant.query(query, { id: pond.destinationId, from: today.from });
  expect(node.streamActivity).toEqual([{ destination: { name: 'pond' }, messages: 1 }]);
});

test('counts read and written records once', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const createProgress = (recordsProcessed: number) => ({
    metadata: { objects: ['a'], progress: { objectName: 'a', recordsProcessed } },
  });
  const { id } = await insert.operation({ projectId, status: 'IN_PROGRESS', ...createProgress(0) });
  for (const count of [200, 350, 100]) {
    await prisma.operation.updateMany({ where: { id }, data: createProgress(count) });
  }
  const write = await insert.operation({ projectId, actionType: 'WRITE' });
  await prisma.operation.updateMany({
    where: { id: write.id },
    data: { metadata: { objects: ['a'], successfulRecordIds: ['1', '2'] } },
  });
  const from = new Date(Date.now() - 3_600_000);
  const { records } = await expectSameAfterFold(() =>
    readActivity(tenant, { from, until: null, bucket: 'DAY' }),
  );
  const sumCounts = (name: string) =>
    records.reduce((sum: number, row: Record<string, number>) => sum + (row[name] ?? 0), 0);
  expect([sumCounts('read'), sumCounts('written'), sumCounts('receivedEvents')]).toEqual([
    350, 2, 0,
  ]);
});

test('adds each delta once if two processes fold at the same time', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const createTime = toMayDate('02T00:00:00');
  const writes = Array.from({ length: 20 }, async () => {
    await insert.operation({ projectId, createTime });
    await Promise.all([foldActivity(services), foldActivity(services)]);
  });
  await Promise.all(writes);
  const { operations } = await expectSameAfterFold(() => readActivity(tenant));
  expect(operations).toMatchObject([{ count: 20 }]);
});

test('refuses a range with too many buckets', async () => {
  const tenant = await app.createTenant();
  const range = { from: '2026-01-01T00:00:00Z', until: '2026-05-01T00:00:00Z' };
  const variables = { id: tenant.projectId, ...range };
  expect(await tenant.expectRefusal(GET_ACTIVITY, { ...variables, bucket: 'HOUR' })).toMatchObject({
    code: 'BAD_USER_INPUT',
    problem: { issues: [expect.objectContaining({ name: 'from' })] },
  });
  expect(await tenant.query(GET_ACTIVITY, { ...variables, bucket: 'DAY' })).toBeDefined();
});
