import { beforeEach, expect, test } from 'vitest';
import { removeExpired } from '../../../src/domain/upkeep/retention.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { getSharedApp } from '../../support/app.ts';
import { insertDestination } from '../../support/fixtures/integrations.ts';

const DAY_MS = 86_400_000;
const RETENTION_DAYS = 30;

let aheadMs = 0;
const app = await getSharedApp({
  env: { RETENTION_DAYS: String(RETENTION_DAYS) },
  now: () => new Date(Date.now() + aheadMs),
});
const { services } = app.app;
const { prisma } = services.database;

const { projectId } = await app.createTenant();
const { id: destinationId } = await insertDestination(app, { projectId });

beforeEach(() => {
  aheadMs = 0;
});

const OPERATION_KEYS = {
  projectId,
  integrationId: 'int_1',
  installationId: 'ins_1',
  configId: 'cfg_1',
};

function insertOperation(status: 'SUCCESS' | 'IN_PROGRESS', lines = 1) {
  return prisma.operation.create({
    data: {
      ...{ id: newId('opr'), ...OPERATION_KEYS, actionType: 'READ', status, metadata: {} },
      logs: {
        createMany: {
          data: Array.from({ length: lines }, () => ({
            id: newId('log'),
            severity: 'INFO' as const,
            message: 'line',
          })),
        },
      },
    },
  });
}

function insertDeliveries(count: number, status: 'PENDING' | 'SUCCEEDED' | 'FAILED') {
  const createTime = new Date();
  return prisma.delivery.createManyAndReturn({
    data: Array.from({ length: count }, () => ({
      ...{ id: newId('dlv'), projectId, destinationId, status, body: '{}', createTime },
    })),
  });
}

async function removeAfter(days: number) {
  aheadMs = days * DAY_MS;
  return removeExpired(services, { pause: async () => {} });
}

test('deletes deliveries of a deleted destination, and keeps pending deliveries of other destinations', async () => {
  const [pending] = await insertDeliveries(1, 'PENDING');
  const [staleDelivery] = await insertDeliveries(1, 'PENDING');
  await prisma.delivery.updateMany({
    where: { projectId, id: staleDelivery?.id },
    data: { destinationId: newId('dst') },
  });
  expect(await removeAfter(RETENTION_DAYS + 1)).toMatchObject({ Delivery: 1 });
  const remaining = await prisma.delivery.findMany({ where: { projectId } });
  expect(remaining.map(({ id }) => id)).toEqual([pending?.id]);
  await prisma.delivery.deleteMany({ where: { projectId } });
});

test('keeps rows that are younger than the retention', async () => {
  const { id } = await insertOperation('SUCCESS');
  const [delivery] = await insertDeliveries(1, 'SUCCEEDED');
  await removeAfter(RETENTION_DAYS - 1);
  expect(await prisma.operation.count({ where: { id } })).toBe(1);
  expect(await prisma.delivery.count({ where: { id: delivery?.id ?? '' } })).toBe(1);
});

test('deletes ended operations with their logs in batches, and keeps those in progress', async () => {
  const endedOperation = await insertOperation('SUCCESS', 2_500);
  const operationInProgress = await insertOperation('IN_PROGRESS');
  await removeAfter(RETENTION_DAYS + 1);
  expect(await prisma.operation.count({ where: { id: endedOperation.id } })).toBe(0);
  expect(await prisma.operationLog.count({ where: { operationId: endedOperation.id } })).toBe(0);
  expect(await prisma.operationLog.count({ where: { operationId: operationInProgress.id } })).toBe(
    1,
  );
});

test('deletes all expired operations, even if they exceed a batch', async () => {
  await prisma.operation.createMany({
    data: Array.from({ length: 250 }, () => ({
      ...{
        id: newId('opr'),
        ...OPERATION_KEYS,
        actionType: 'WRITE' as const,
        status: 'FAILURE' as const,
      },
      metadata: {},
    })),
  });
  const removedCounts = await removeAfter(RETENTION_DAYS + 1);
  expect(removedCounts.Operation).toBe(250);
  expect(await prisma.operation.count({ where: { status: 'FAILURE' } })).toBe(0);
});

test('deletes completed deliveries with their attempts, and keeps pending deliveries', async () => {
  const [pending, [succeeded], [failed]] = await Promise.all([
    insertDeliveries(1_500, 'PENDING'),
    insertDeliveries(1, 'SUCCEEDED'),
    insertDeliveries(1, 'FAILED'),
  ]);
  const attempt = { projectId, attemptNumber: 1, durationMs: 1 };
  for (const delivery of [succeeded, failed]) {
    await prisma.deliveryAttempt.create({
      data: { id: newId('att'), deliveryId: delivery?.id ?? '', ...attempt },
    });
  }
  await insertDeliveries(1_200, 'SUCCEEDED');
  await removeAfter(RETENTION_DAYS + 1);
  const remaining = await prisma.delivery.groupBy({ by: ['status'], _count: true });
  expect(remaining).toEqual([{ status: 'PENDING', _count: pending.length }]);
  expect(await prisma.deliveryAttempt.count()).toBe(0);
  await prisma.delivery.deleteMany();
});

test('deletes events with their topics', async () => {
  const topicId = newId('top');
  const eventId = newId('evt');
  const event = { projectId, position: 1n, eventType: 'CONNECTION_CREATED' } as const;
  await prisma.notificationEvent.create({ data: { id: eventId, ...event, data: {} } });
  await prisma.notificationEventTopic.create({ data: { eventId, topicId, ...event } });
  await removeAfter(RETENTION_DAYS + 1);
  expect(await prisma.notificationEvent.count()).toBe(0);
  expect(await prisma.notificationEventTopic.count()).toBe(0);
});

test('deletes idempotency keys when they expire, and authorization states a day later', async () => {
  const addHours = (hours: number) => new Date(Date.now() + hours * 3_600_000);
  const key = { projectId, inputHash: '', operationId: 'opr_1' };
  await prisma.idempotencyKey.createMany({
    data: [
      { key: 'expired', ...key, expireTime: addHours(-1) },
      { key: 'valid', ...key, expireTime: addHours(1) },
    ],
  });
  const providerAppId = newId('app');
  await prisma.providerApp.create({
    data: {
      ...{ id: providerAppId, projectId, provider: 'sandbox', clientId: 'c' },
      clientSecretSealed: '',
    },
  });
  const connectState = {
    ...{ projectId, providerAppId, provider: 'sandbox', input: {}, callbackUrl: 'https://x' },
    authScheme: 'OAUTH2_AUTHORIZATION_CODE' as const,
  };
  await prisma.oAuthConnect.createMany({
    data: [
      { id: 'expired', ...connectState, expireTime: addHours(-25) },
      { id: 'expired an hour ago', ...connectState, expireTime: addHours(-1) },
    ],
  });
  await removeAfter(0);
  expect(await prisma.idempotencyKey.findMany({ select: { key: true } })).toEqual([
    { key: 'valid' },
  ]);
  expect(await prisma.oAuthConnect.findMany({ select: { id: true } })).toEqual([
    { id: 'expired an hour ago' },
  ]);
});

test('deletes ended proposals, and keeps those that are due', async () => {
  const groupId = newId('grp');
  await prisma.group.create({
    data: { id: groupId, projectId, groupRef: 'acme', groupName: 'Acme' },
  });
  const proposal = {
    ...{ projectId, groupId, integrationId: 'int_1', installationId: 'ins_1' },
    ...{ createdBy: 'api:key', objectName: 'people', type: 'CREATE' as const, after: {} },
    ...{ payloadHash: '', planHash: '', expireTime: new Date() },
  };
  await prisma.proposal.createMany({
    data: [
      { id: 'ended', ...proposal, status: 'EXPIRED', dueTime: null },
      { id: 'due', ...proposal, dueTime: new Date() },
    ],
  });
  await removeAfter(RETENTION_DAYS + 1);
  expect(await prisma.proposal.findMany({ select: { id: true } })).toEqual([{ id: 'due' }]);
});

test('deletes writes with their records, by their end time', async () => {
  const task = {
    ...{ projectId, installationId: 'ins_1', objectName: 'contacts', recordCount: 1 },
    ...({ type: 'CREATE', mode: 'ASYNCHRONOUS' } as const),
    deadlineTime: new Date(),
  };
  for (const [id, endTime] of [
    ['ended', new Date()],
    ['in progress', null],
  ] as const) {
    const entry = { position: 0, projectId, operationId: 'opr_1', record: {} };
    await prisma.writeTask.create({ data: { id, ...task, endTime } });
    await prisma.writeEntry.create({ data: { taskId: id, ...entry } });
  }
  await removeAfter(RETENTION_DAYS + 1);
  expect(await prisma.writeEntry.findMany({ select: { taskId: true } })).toEqual([
    { taskId: 'in progress' },
  ]);
});

test('deletes completed provider events, and waiting events without a subscription', async () => {
  const key = { projectId, installationId: newId('ins'), objectName: 'contacts' };
  await prisma.objectSubscription.create({
    data: { ...key, provider: 'sandbox', connectionId: newId('con') },
  });
  const event = { ...key, providerAppId: newId('app'), kind: 'UPDATE', content: {} } as const;
  const change = { nativeType: 'changed', eventTime: new Date() };
  await prisma.providerEvent.createMany({
    data: [
      { ...event, ...change, nativeId: 'completed', doneTime: new Date() },
      { ...event, ...change, nativeId: 'waiting' },
      { ...event, ...change, nativeId: 'without subscription', installationId: newId('ins') },
    ],
  });
  await removeAfter(RETENTION_DAYS - 1);
  expect(await prisma.providerEvent.count()).toBe(3);
  await removeAfter(RETENTION_DAYS + 1);
  expect(await prisma.providerEvent.findMany()).toMatchObject([{ nativeId: 'waiting' }]);
});

test(
  'deletes all rows if two processes run, and no row after a stop signal',
  { tags: ['all/rows'] },
  async () => {
    await insertDeliveries(3_000, 'SUCCEEDED');
    await removeExpired(services, { signal: AbortSignal.abort() });
    aheadMs = (RETENTION_DAYS + 1) * DAY_MS;
    await removeExpired(services, { signal: AbortSignal.abort() });
    expect(await prisma.delivery.count()).toBe(3_000);
    await Promise.all([removeExpired(services), removeExpired(services)]);
    expect(await prisma.delivery.count()).toBe(0);
  },
);

test('shortens its pauses while rows are overdue, and does not pause without rows', async () => {
  await prisma.delivery.deleteMany();
  const insertOldDeliveries = (count: number, days: number) =>
    prisma.delivery.createMany({
      data: Array.from({ length: count }, () => ({
        ...{ id: newId('dlv'), projectId, destinationId, status: 'SUCCEEDED' as const, body: '{}' },
        createTime: new Date(Date.now() - days * DAY_MS),
      })),
    });
  const pauses: number[] = [];
  const removeRows = () =>
    removeExpired(services, {
      pause: async (times) => {
        pauses.push(times);
      },
    });
  await removeRows();
  expect(pauses).toEqual([]);
  await insertOldDeliveries(150, RETENTION_DAYS + 2);
  await insertOldDeliveries(150, RETENTION_DAYS + 0.5);
  expect((await removeRows()).Delivery).toBe(300);
  const [firstPause, ...furtherPauses] = pauses;
  expect([firstPause, furtherPauses.at(-1)]).toEqual([9, 99]);
  expect(pauses, 'shorter while rows are overdue').toEqual(pauses.toSorted((a, b) => a - b));
});

test('deletes acknowledgements after the retention, so that lasting problems are listed again', async () => {
  const acknowledgement = { projectId, kind: 'DESTINATION_FAILING', acknowledgedBy: 'api:key' };
  await prisma.acknowledgement.createMany({
    data: ['dst_1', 'dst_2'].map((subjectId) => ({
      ...acknowledgement,
      subjectId,
      lastTime: new Date(),
    })),
  });
  expect(await removeAfter(RETENTION_DAYS - 1)).not.toHaveProperty('Acknowledgement');
  expect(await removeAfter(RETENTION_DAYS + 1)).toMatchObject({ Acknowledgement: 2 });
});
