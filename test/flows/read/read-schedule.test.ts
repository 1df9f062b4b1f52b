import { Webhook } from 'standardwebhooks';
import { beforeEach, expect, test } from 'vitest';
import { startDueReads } from '../../../src/domain/data/operation/read/schedule.ts';
import { startWork } from '../../../src/start/start-work.ts';
import { createTestApp, getSharedApp } from '../../support/app.ts';
import { recordEvents } from '../../support/fixtures/connections.ts';
import {
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
} from '../../support/fixtures/integrations.ts';
import {
  installReads,
  type Message,
  POLLING,
  startReadJobs,
} from '../../support/fixtures/reads.ts';
import { createWebhook } from '../../support/fixtures/webhooks.ts';

const HOUR_MS = 3_600_000;

let aheadMs = 0;
beforeEach(() => {
  aheadMs = 0;
});

const app = await getSharedApp({ now: () => new Date(Date.now() + aheadMs) });
const { services, sandbox } = app.app;
const { prisma } = services.database;
sandbox.seed('contacts', 450);

test('reads all records first, and delivers them with mapped fields', async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const reads = await installReads(app, tenant, {
    object: {
      mapToName: 'people',
      optionalFields: [{ fieldName: 'phone', mapToName: 'telephone' }],
    },
    config: { read: [{ objectName: 'contacts', selectedFields: ['phone'] }] },
  });
  await reads.makeDue();
  await using _workers = await startReadJobs(app);
  const [operation] = await reads.waitForOperations(1);
  expect(operation).toMatchObject({
    actionType: 'READ',
    status: 'SUCCESS',
    result: '[contacts] Read completed (450 records)',
    metadata: {
      objects: ['contacts'],
      progress: { objectName: 'contacts', recordsProcessed: 450, recordsEstimatedTotal: 450 },
    },
  });
  const messages = await reads.listMessages();
  expect(messages.map(({ resultInfo }) => resultInfo.numRecords)).toEqual([200, 200, 50]);
  const { result, ...messageHead } = messages[0] as (typeof messages)[number];
  expect(messageHead).toEqual({
    action: 'read',
    projectId: tenant.projectId,
    provider: 'sandbox',
    groupRef: 'acme',
    groupName: 'acme',
    installationId: reads.id,
    installationUpdateTime: expect.any(String),
    consumerRef: 'ann',
    consumerName: 'ann',
    objectName: 'people',
    rawObjectName: 'contacts',
    mappedObjectName: 'people',
    operationId: operation?.id,
    operationTime: operation?.createTime.toISOString(),
    readType: 'backfill',
    resultInfo: { type: 'inline', numRecords: 200 },
  });
  expect(result[0]).toEqual({
    id: '1',
    fields: { email: 'contact-1@example.test', phone: '+31 20 0000001' },
    mappedFields: { telephone: '+31 20 0000001' },
    raw: expect.objectContaining({ id: '1', email: 'contact-1@example.test' }),
  });
  const readIds = messages.flatMap((message) => message.result.map(({ raw }) => raw.id));
  expect(readIds).toEqual(sandbox.listRecords('contacts').map(({ id }) => id));
  expect(await listEvents()).toContainEqual({
    eventType: 'READ_BACKFILL_DONE',
    connectionId: reads.connection.id,
    data: expect.objectContaining({ installationId: reads.id, objectName: 'contacts' }),
  });
});

test('logs each page of a read in its operation', async () => {
  const reads = await installReads(app, await app.createTenant());
  await reads.makeDue();
  await using _workers = await startReadJobs(app);
  const [operation] = await reads.waitForOperations(1);
  const logs = await prisma.operationLog.findMany({
    where: { operationId: operation?.id ?? '' },
    orderBy: { id: 'asc' },
  });
  expect(logs.map(({ severity, message }) => `${severity} ${message}`)).toEqual([
    'INFO [contacts] Read accepted',
    'DEBUG [contacts] Page 1: 200 records',
    'DEBUG [contacts] Page 2: 200 records',
    'DEBUG [contacts] Page 3: 50 records',
    'INFO [contacts] Read completed (450 records)',
  ]);
});

test('starts the first read when the installation is created, even with a rare schedule', async () => {
  const tenant = await app.createTenant();
  await using _workers = await startReadJobs(app);
  const [contacts] = createIntegrationContent().read.objects;
  const objects = [
    { ...contacts, schedule: '0 0 1 1 *' },
    { ...contacts, objectName: 'companies', schedule: undefined },
  ];
  const integration = await createIntegration(
    app,
    tenant,
    createIntegrationContent('crm', { read: { objects } }),
  );
  const { id: installationId } = await connectAndInstall(tenant, integration);
  const listOutcomes = async () => {
    const operations = await prisma.operation.findMany({ where: { installationId } });
    return operations.map(({ status, result }) => `${status} ${result}`);
  };
  await expect
    .poll(listOutcomes, { interval: 50 })
    .toEqual(['SUCCESS [contacts] Read completed (450 records)']);
  const where = { installationId };
  const installedObjects = await prisma.installedObject.findMany({
    where,
    orderBy: { objectName: 'asc' },
  });
  expect(
    installedObjects.map(({ backfillDone, nextReadTime }) => [backfillDone, nextReadTime]),
  ).toEqual([
    [false, null],
    [true, expect.any(Date)],
  ]);
});

test('returns the number of read records and the time of the next read', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant, {
    object: { schedule: '*/10 * * * *' },
  });
  await reads.makeDue();
  await using _workers = await startReadJobs(app);
  await reads.waitForOperations(1);
  const { node } = await tenant.query(
    `query Installation($id: ID!) { node(id: $id) { ... on Installation {
      objects { objectName backfillDone recordsRead lastReadTime nextReadTime }
      lastOperation { status metadata { progress { recordsProcessed } } }
    } } }`,
    { id: reads.id },
  );
  expect(node).toEqual({
    objects: [
      {
        objectName: 'contacts',
        backfillDone: true,
        recordsRead: 450,
        lastReadTime: expect.any(String),
        nextReadTime: expect.stringMatching(/T\d\d:\d0:00/),
      },
    ],
    lastOperation: { status: 'SUCCEEDED', metadata: { progress: { recordsProcessed: 450 } } },
  });
});

test('reads only changes since the last read', async () => {
  const reads = await installReads(app, await app.createTenant(), {
    object: { objectName: 'deals', requiredFields: [{ fieldName: 'name' }], optionalFields: [] },
  });
  sandbox.seed('deals', 3);
  await using _workers = await startReadJobs(app);
  await reads.makeDue('deals');
  await reads.waitForOperations(1);
  const readUntil = new Date();
  const where = { installationId: reads.id };
  await prisma.installedObject.updateMany({ where, data: { readUntil } });
  sandbox.seed('deals', 2);
  aheadMs = HOUR_MS;
  await reads.makeDue('deals');
  const [, secondOperation] = await reads.waitForOperations(2);
  expect(secondOperation?.result).toBe('[deals] Read completed (2 records)');
  const messages = await reads.listMessages();
  expect(messages.map(({ readType, resultInfo }) => [readType, resultInfo.numRecords])).toEqual([
    ['backfill', 3],
    ['scheduled', 2],
  ]);
  const object = await reads.getObject('deals');
  expect(object.recordsRead).toBe(5);
  expect(object.readUntil?.getTime()).toBeGreaterThan(readUntil.getTime());

  aheadMs = 2 * HOUR_MS;
  await reads.makeDue('deals');
  const [, , thirdOperation] = await reads.waitForOperations(3);
  expect(thirdOperation?.result).toBe('[deals] No new data found');
  expect(await reads.listMessages()).toHaveLength(2);
});

test('reads no old records with a backfill of 0 days', async () => {
  const reads = await installReads(app, await app.createTenant(), {
    config: { read: [{ objectName: 'contacts', backfill: { days: 0 } }] },
  });
  aheadMs = HOUR_MS;
  await reads.makeDue();
  await using _workers = await startReadJobs(app);
  const [operation] = await reads.waitForOperations(1);
  expect(operation).toMatchObject({ status: 'SUCCESS', result: '[contacts] No new data found' });
  expect(await reads.listMessages()).toEqual([]);
  expect(await reads.getObject()).toMatchObject({ backfillDone: true, recordsRead: 0 });
});

test('starts one read of a due object if two processes start due reads', async () => {
  const reads = await installReads(app, await app.createTenant());
  await reads.makeDue();
  await Promise.all([startDueReads(services), startDueReads(services)]);
  expect(await reads.listOperations()).toHaveLength(1);
  expect((await reads.getObject()).nextReadTime?.getTime()).toBeGreaterThan(Date.now());
});

test('does not start a second read of an object that is being read', async () => {
  const reads = await installReads(app, await app.createTenant());
  await reads.makeDue();
  await startDueReads(services);
  await reads.makeDue();
  await startDueReads(services);
  expect(await reads.listOperations()).toHaveLength(1);
  expect((await reads.getObject()).nextReadTime?.getTime()).toBeGreaterThan(Date.now());
});

test('does not read an object that the config disables', async () => {
  const reads = await installReads(app, await app.createTenant(), {
    config: { read: [{ objectName: 'contacts', disabled: true }] },
  });
  await reads.makeDue();
  await startDueReads(services);
  expect(await reads.listOperations()).toEqual([]);
  expect((await reads.getObject()).nextReadTime).toBeNull();
});

test('keeps pages pending while the destination is disabled', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant);
  await prisma.destination.updateMany({
    where: { projectId: tenant.projectId },
    data: { status: 'DISABLED' },
  });
  await reads.makeDue();
  await using _workers = await startReadJobs(app);
  expect(await reads.waitForOperations(1)).toMatchObject([{ status: 'SUCCESS' }]);
  const deliveries = await prisma.delivery.findMany({ where: { projectId: tenant.projectId } });
  expect(deliveries.map(({ status }) => status)).toEqual(['PENDING', 'PENDING', 'PENDING']);
});

test('delivers each page once, with a signature', async () => {
  await using otherApp = await createTestApp();
  const { services, sandbox } = otherApp.app;
  sandbox.seed('contacts', 450);
  const tenant = await otherApp.createTenant();
  const url = `${sandbox.url}/inbox/read-pages`;
  const { signingSecret } = await createWebhook(tenant, { name: 'records', url });
  const reads = await installReads(otherApp, tenant);
  await reads.makeDue();
  await using _work = await startWork(services);
  await reads.waitForOperations(1);
  const countPending = () =>
    services.database.prisma.delivery.count({
      where: { projectId: tenant.projectId, status: 'PENDING' },
    });
  await expect.poll(countPending, POLLING).toBe(0);
  const receivedMessages = sandbox.inbox.list('read-pages');
  const bodies = receivedMessages.map(({ headers, rawBody }) =>
    new Webhook(signingSecret).verify(rawBody, headers as Record<string, string>),
  ) as Message[];
  expect(bodies.map(({ resultInfo }) => resultInfo.numRecords).sort()).toEqual([200, 200, 50]);
});
