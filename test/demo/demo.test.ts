import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { fillDemo } from '../../src/demo/demo.ts';
import { createRunner } from '../../src/demo/runner.ts';
import { createBearerVerifier, LOCAL_ISSUER } from '../../src/domain/access/viewer/bearer.ts';
import { parseOperationMetadata } from '../../src/domain/data/operation/operation.ts';
import { recordsMessage } from '../../src/domain/data/operation/read/read-message.ts';
import { getNextRunTime } from '../../src/domain/integrations/integration/cron.ts';
import { EVENTS } from '../../src/events/event-types.ts';
import { getIdTimeMs } from '../../src/kernel/ids.ts';
import { createTestApp, getSharedApp } from '../support/app.ts';
import { OWN_EVENT_TYPES } from '../support/rest/reference-api.ts';

const DATA_DIR = mkdtempSync(join(tmpdir(), 'gateway-demo-'));
afterAll(() => rmSync(DATA_DIR, { recursive: true, force: true }));

const app = await getSharedApp({ env: { DATA_DIR } });
const { services, sandbox } = app.app;
sandbox.seed('contacts', 50);
sandbox.seed('people', 30);

/** Fills the demo as a start of the server does. Only the first call creates data. */
async function fillTestDemo() {
  const verifier = await createBearerVerifier(services.config);
  return fillDemo({ services, verifier, url: 'http://gateway.test' });
}

test('reports the org of the demo after a restart, even if its builder has created another org', async () => {
  const firstDemo = await fillTestDemo();
  await createRunner(services, LOCAL_ISSUER).change('createOrg', { label: 'Later' }, 'org { id }');
  const laterDemo = await fillTestDemo();
  expect(laterDemo).toEqual({ ...firstDemo, bearerToken: expect.any(String) });
  expect(JSON.parse(readFileSync(join(DATA_DIR, 'demo.json'), 'utf8')).orgId).toBe(firstDemo.orgId);
});

test('fills the sandbox, without a demo, in a database that has projects', async () => {
  await using existingApp = await createTestApp({ env: { DEMO: undefined } });
  await existingApp.createTenant();
  await existingApp.app.start();
  const records = await fetch(`${existingApp.app.services.sandboxUrl()}/objects/contacts/records`);
  expect(await records.json()).toMatchObject({ total: 50 });
  expect(
    await existingApp.app.services.database.prisma.project.count({ where: { name: 'demo' } }),
  ).toBe(0);
});

test('routes only events that strict clients of the reference API know', async () => {
  const { projectId } = await fillTestDemo();
  const routes = await services.database.prisma.eventTopicRoute.findMany({ where: { projectId } });
  const eventTypes = routes.map(({ eventType }) => EVENTS[eventType].wireName);
  expect(eventTypes).toContain('connection.created');
  for (const ownType of OWN_EVENT_TYPES) expect(eventTypes).not.toContain(ownType);
});

describe('the history of a new demo', async () => {
  const { projectId } = await fillTestDemo();
  const { prisma } = services.database;
  const where = { projectId };
  const [operations, installations, deliveries, attempts, activity] = await Promise.all([
    prisma.operation.findMany({ where, orderBy: { id: 'asc' } }),
    prisma.installation.findMany({ where, include: { objects: true, connection: true } }),
    prisma.delivery.findMany({ where, orderBy: { id: 'asc' } }),
    prisma.deliveryAttempt.findMany({ where }),
    prisma.activityDelta.findMany({ where }),
  ]);
  const sumActivity = (kind: string, key: string, column: 'total' | 'failed') =>
    activity
      .filter((delta) => delta.kind === kind && delta.key === key)
      .reduce((sum, delta) => sum + delta[column], 0);
  const countRecordsRead = (installationId: string) =>
    operations
      .filter((operation) => operation.installationId === installationId)
      .map((operation) => parseOperationMetadata(operation).progress?.recordsProcessed ?? 0)
      .reduce((sum, count) => sum + count, 0);

  test('begins with the connection, the installation and the first read, in this order', () => {
    expect(installations).toHaveLength(3);
    for (const { id, connection, createTime } of installations) {
      const firstOperation = operations.find(({ installationId }) => installationId === id);
      expect(+connection.createTime).toBeLessThan(+createTime);
      expect(+createTime).toBeLessThan(+(firstOperation?.createTime ?? 0));
      expect(firstOperation?.result).toMatch(/Read completed \((50|30) records\)/);
    }
  });

  test('has rows whose times are those of their IDs, and no time in the future', async () => {
    const rows = [
      ...(await prisma.connection.findMany({ where })),
      ...(await prisma.revision.findMany({ where })),
      ...(await prisma.notificationEvent.findMany({ where })),
      ...(await prisma.streamMessage.findMany({ where })),
      ...(await prisma.destination.findMany({ where })),
      ...(await prisma.recordedRequest.findMany({ where })),
      ...installations,
      ...operations,
      ...deliveries,
      ...attempts,
    ];
    for (const { id, createTime } of rows) expect(+createTime).toBe(getIdTimeMs(id));
    const times = [...operations, ...deliveries].map(({ updateTime }) => +(updateTime ?? 0));
    expect(Math.max(...times)).toBeLessThan(+services.now());
  });

  test('has scheduled reads that request the records of ten minutes', async () => {
    const readIds = operations
      .filter(({ actionType }) => actionType === 'READ')
      .map(({ id }) => id);
    const lines = await prisma.operationLog.findMany({
      where: { ...where, operationId: readIds.at(-1)! },
      orderBy: { id: 'asc' },
    });
    const { since, until } = lines[0]?.details as { since: string; until: string };
    expect(Date.parse(until) - Date.parse(since)).toBe(600_000);
    const requests = await prisma.recordedRequest.findMany({
      where: { ...where, operationId: { in: readIds.slice(-3) } },
    });
    for (const { path } of requests) expect(path).toMatch(/&(updated|changed)_since=/);
  });

  test('has operations at different times, in the order of their IDs', () => {
    const times = operations.map(({ createTime }) => +createTime);
    expect(new Set(times).size).toBe(times.length);
    expect(times.toSorted((a, b) => a - b)).toEqual(times);
  });

  test('has activity that counts its operations, records, attempts and messages', async () => {
    const count = (actionType: string, status: string) =>
      operations.filter((row) => row.actionType === actionType && row.status === status).length;
    for (const [actionType, status] of [
      ['READ', 'SUCCESS'],
      ['WRITE', 'SUCCESS'],
      ['WRITE', 'FAILURE'],
    ] as const) {
      const activityCount = sumActivity('operation', `${actionType} ${status}`, 'total');
      expect(activityCount).toBe(count(actionType, status));
      expect(activityCount).toBeGreaterThan(0);
    }
    const recordsRead = installations.map(({ id }) => countRecordsRead(id));
    expect(sumActivity('record', 'read', 'total')).toBe(
      recordsRead.reduce((sum, read) => sum + read),
    );
    expect(sumActivity('record', 'written', 'total')).toBe(count('WRITE', 'SUCCESS'));
    const destinations = await prisma.destination.findMany({ where });
    for (const { id } of destinations) {
      const deliveryCount = deliveries.filter(({ destinationId }) => destinationId === id).length;
      expect(sumActivity('delivery', id, 'total')).toBe(deliveryCount);
      const messages = await prisma.streamMessage.count({
        where: { projectId, destinationId: id },
      });
      expect(sumActivity('stream', id, 'total')).toBe(messages);
    }
  });

  test('delivers the records of each read once, and each delivery has one attempt', () => {
    const readIds = operations
      .filter(({ actionType, result }) => actionType === 'READ' && result?.includes('completed'))
      .map(({ id }) => id);
    const recordDeliveries = deliveries.filter(({ eventId }) => eventId === null);
    expect(recordDeliveries.map(({ operationId }) => operationId)).toEqual(readIds);
    for (const { body, operationId } of recordDeliveries) {
      const [operation] = operations.filter(({ id }) => id === operationId);
      if (!operation) throw new Error(`No operation ${operationId}`);
      expect(recordsMessage.parse(JSON.parse(body))).toMatchObject({
        operationId,
        operationTime: operation.createTime.toISOString(),
        resultInfo: { numRecords: parseOperationMetadata(operation).progress?.recordsProcessed },
      });
    }
    expect(attempts.map(({ deliveryId }) => deliveryId).toSorted()).toEqual(
      deliveries.map(({ id }) => id).toSorted(),
    );
  });

  test('continues with the next read of the schedule', () => {
    for (const { id, objects } of installations) {
      const object = objects.find(({ backfillDone }) => backfillDone);
      const { objectName, lastReadTime, nextReadTime, recordsRead } = object ?? {};
      const reads = operations.filter(
        (row) => row.installationId === id && row.actionType === 'READ',
      );
      expect(objectName).toMatch(/contacts|people/);
      expect(recordsRead).toBe(countRecordsRead(id));
      expect(lastReadTime).toEqual(reads.at(-1)?.createTime);
      expect(nextReadTime).toEqual(getNextRunTime('*/10 * * * *', lastReadTime as Date));
      expect(+(nextReadTime as Date)).toBeGreaterThan(+services.now() - 2_000);
    }
  });

  test('has the requests of each read and write, which fail if the operation fails', async () => {
    const requests = await prisma.recordedRequest.findMany({ where });
    const requestsByOperation = Map.groupBy(requests, ({ operationId }) => operationId);
    for (const { id, status } of operations) {
      const results = requestsByOperation.get(id)?.map(({ isFailed }) => isFailed);
      const expected = status === 'FAILURE' ? [true, true, true] : [false];
      expect(results).toEqual(expected);
    }
  });

  test('is not added again by a second start', async () => {
    await fillTestDemo();
    expect(await prisma.operation.count({ where })).toBe(operations.length);
  });
});
