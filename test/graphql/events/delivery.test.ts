import { expect, test } from 'vitest';
import { newId } from '../../../src/kernel/ids.ts';
import { getSharedApp } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';
import { toQuery } from '../../support/database/query.ts';
import { createDestination } from '../../support/fixtures/integrations.ts';

const app = await getSharedApp();
const insert = insertRows(app);
const { prisma } = app.app.services.database;

const RETRY_DELIVERY = `mutation RetryDelivery($input: RetryDeliveryInput!) {
  retryDelivery(input: $input) { delivery { id status failureReason nextAttemptTime } }
}`;

test('returns the event or operation, the destination and the ordered attempts of a delivery', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const destinationId = await createDestination(tenant);
  const event = await insert.event({ projectId });
  const operation = await insert.operation({ projectId });
  const nextAttemptTime = new Date('2026-01-02T03:04:05.678Z');
  const eventDelivery = await insert.delivery({
    projectId,
    destinationId,
    eventId: event.id,
    nextAttemptTime,
  });
  const recordsDelivery = await insert.delivery({
    projectId,
    operationId: operation.id,
    status: 'FAILED',
    failureReason: 'Gone.',
  });
  const delivered = { projectId, deliveryId: eventDelivery.id };
  const secondAttempt = await insert.attempt({
    ...delivered,
    attemptNumber: 2,
    responseStatus: 204,
  });
  await insert.attempt({ ...delivered, attemptNumber: 1, error: 'Timed out.', durationMs: 15_000 });

  const query = `query GetDeliveries($ids: [ID!]!) { nodes(ids: $ids) { ... on Delivery {
    id destinationId destination { id } event { id } operation { id } status failureReason
    attempts { attemptNumber responseStatus error durationMs createTime }
    nextAttemptTime createTime
  } } }`;
  const { nodes } = await tenant.query(query, { ids: [eventDelivery.id, recordsDelivery.id] });
  expect(nodes).toEqual([
    {
      id: eventDelivery.id,
      destinationId,
      destination: { id: destinationId },
      event: { id: event.id },
      operation: null,
      status: 'PENDING',
      failureReason: null,
      attempts: [
        {
          attemptNumber: 1,
          responseStatus: null,
          error: 'Timed out.',
          durationMs: 15_000,
          createTime: expect.any(String),
        },
        {
          attemptNumber: 2,
          responseStatus: 204,
          error: null,
          durationMs: 12,
          createTime: secondAttempt.createTime.toISOString(),
        },
      ],
      nextAttemptTime: nextAttemptTime.toISOString(),
      createTime: eventDelivery.createTime.toISOString(),
    },
    {
      id: recordsDelivery.id,
      destinationId: recordsDelivery.destinationId,
      destination: null,
      event: null,
      operation: { id: operation.id },
      status: 'FAILED',
      failureReason: 'Gone.',
      attempts: [],
      nextAttemptTime: null,
      createTime: recordsDelivery.createTime.toISOString(),
    },
  ]);
});

test('returns the newest 100 attempts', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const { id: deliveryId } = await insert.delivery({ projectId });
  await prisma.deliveryAttempt.createMany({
    data: Array.from({ length: 103 }, (_, index) => ({
      id: newId('att'),
      projectId,
      deliveryId,
      attemptNumber: index + 1,
      durationMs: 1,
    })),
  });
  const query = `query GetDelivery($id: ID!) {
    node(id: $id) { ... on Delivery { attempts { attemptNumber } } }
  }`;
  const { attempts } = (await tenant.query(query, { id: deliveryId })).node;
  expect(attempts.map((attempt: { attemptNumber: number }) => attempt.attemptNumber)).toEqual(
    Array.from({ length: 100 }, (_, index) => index + 4),
  );
});

test('lists deliveries oldest first by destination, status and event', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const destinationId = await createDestination(tenant);
  const event = await insert.event({ projectId });
  const keys = { projectId, destinationId };
  const a = await insert.delivery({ ...keys, status: 'SUCCEEDED' });
  const b = await insert.delivery({ ...keys, eventId: event.id });
  const c = await insert.delivery({ ...keys });
  const deliveryElsewhere = await insert.delivery({ projectId, eventId: event.id });
  const query = `query GetDestination($id: ID!, $status: DeliveryStatus, $first: Int, $last: Int) {
    node(id: $id) {
      ... on Destination {
        deliveries(status: $status, first: $first, last: $last) { nodes { id } totalCount }
      }
      ... on NotificationEvent {
        ofEvent: deliveries(first: $first, last: $last) { nodes { id } totalCount }
      }
    }
  }`;
  const listDeliveryIds = async (id: string, args: Record<string, unknown> = {}) => {
    const { node } = await tenant.query(query, { id, ...args });
    const { nodes } = node.deliveries ?? node.ofEvent;
    return nodes.map((node: { id: string }) => node.id);
  };
  expect(await listDeliveryIds(destinationId)).toEqual([a.id, b.id, c.id]);
  expect(await listDeliveryIds(destinationId, { first: 2 })).toEqual([a.id, b.id]);
  expect(await listDeliveryIds(destinationId, { last: 2 })).toEqual([b.id, c.id]);
  expect(await listDeliveryIds(destinationId, { status: 'PENDING' })).toEqual([b.id, c.id]);
  expect(await listDeliveryIds(destinationId, { status: 'RETRYING' })).toEqual([]);
  await prisma.delivery.updateMany({
    where: { id: c.id },
    data: { attemptCount: 1, isRetrying: true },
  });
  expect(await listDeliveryIds(destinationId, { status: 'PENDING' })).toEqual([b.id]);
  expect(await listDeliveryIds(destinationId, { status: 'RETRYING' })).toEqual([c.id]);
  expect(await listDeliveryIds(destinationId, { status: 'FAILED' })).toEqual([]);
  expect(await listDeliveryIds(event.id)).toEqual([b.id, deliveryElsewhere.id]);
});

test('makes a delivery due again, whatever its status', async () => {
  const tenant = await app.createTenant();
  const { projectId, projectName } = tenant;
  const destinationId = await createDestination(tenant);
  for (const status of ['PENDING', 'SUCCEEDED', 'FAILED'] as const) {
    const createdDelivery = await insert.delivery({
      projectId,
      destinationId,
      status,
      failureReason: 'Timed out.',
      nextAttemptTime: new Date('2100-01-01T00:00:00Z'),
    });
    const input = { projectIdOrName: projectName, deliveryId: createdDelivery.id };
    const { delivery } = (await tenant.query(RETRY_DELIVERY, { input })).retryDelivery;
    expect(delivery).toMatchObject({
      id: createdDelivery.id,
      status: 'PENDING',
      failureReason: null,
    });
    expect(Date.parse(delivery.nextAttemptTime)).toBeLessThan(Date.parse('2100-01-01T00:00:00Z'));
    expect((await tenant.query(RETRY_DELIVERY, { input })).retryDelivery.delivery.status).toBe(
      'PENDING',
    );
  }
});

const RETRY_MANY = `mutation RetryDeliveries($input: RetryDeliveriesInput!) {
  retryDeliveries(input: $input) { count hasMore }
}`;

test('retries failed deliveries by destination and time', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const [destinationId, otherDestinationId] = [
    await createDestination(tenant),
    await createDestination(tenant, 'other'),
  ];
  const failedFields = { projectId, status: 'FAILED', failureReason: 'Gone.' } as const;
  const olderDelivery = await insert.delivery({ ...failedFields, destinationId });
  const newerDelivery = await insert.delivery({ ...failedFields, destinationId });
  const deliveryElsewhere = await insert.delivery({
    ...failedFields,
    destinationId: otherDestinationId,
  });
  const orphanedDelivery = await insert.delivery(failedFields);
  const sentDelivery = await insert.delivery({ projectId, destinationId, status: 'SUCCEEDED' });
  const retryDeliveries = async (input: object) => {
    const variables = { input: { projectIdOrName: projectId, ...input } };
    return (await tenant.query(RETRY_MANY, variables)).retryDeliveries;
  };
  const readStatus = async ({ id }: { id: string }) =>
    (await prisma.delivery.findFirstOrThrow({ where: { id } })).status;

  const until = newerDelivery.createTime.toISOString();
  await prisma.delivery.updateMany({
    where: { id: olderDelivery.id },
    data: { createTime: new Date(newerDelivery.createTime.getTime() - 1) },
  });
  expect(await retryDeliveries({ destinationId, createTime: { until } })).toEqual({
    count: 1,
    hasMore: false,
  });
  expect(await readStatus(olderDelivery)).toBe('PENDING');
  expect(await readStatus(newerDelivery)).toBe('FAILED');
  expect(await retryDeliveries({})).toEqual({ count: 2, hasMore: false });
  expect(await readStatus(deliveryElsewhere)).toBe('PENDING');
  expect(await readStatus(orphanedDelivery)).toBe('FAILED');
  expect(await retryDeliveries({ destinationId })).toEqual({ count: 0, hasMore: false });
  expect(await retryDeliveries({ destinationId, statuses: ['SUCCEEDED'] })).toEqual({
    count: 1,
    hasMore: false,
  });
  expect(await readStatus(sentDelivery)).toBe('PENDING');

  const foreign = { input: { projectIdOrName: projectId, destinationId: newId('dst') } };
  expect(await tenant.expectRefusal(RETRY_MANY, foreign)).toMatchObject({ code: 'NOT_FOUND' });
  const reader = await tenant.withScopes('read');
  expect(await reader.expectRefusal(RETRY_MANY, foreign)).toMatchObject({ code: 'FORBIDDEN' });
});

test(
  'retries at most 10,000 failed deliveries in a call, and returns whether there are more',
  { tags: ['all/rows'] },
  async () => {
    const tenant = await app.createTenant();
    const { projectId } = tenant;
    const destinationId = await createDestination(tenant);
    const query = toQuery(app.app.services.database);
    await query(
      `insert into "Delivery" ("id", "projectId", "destinationId", "status", "nextAttemptTime", "body")
      select 'dlv_' || lpad(n::text, 26, '0'), $1, $2, 'FAILED', null, '{}' from generate_series(1, 10001) n`,
      [projectId, destinationId],
    );
    const input = { projectIdOrName: projectId, createTime: { from: '1970-01-01T00:00:00Z' } };
    const retryDeliveries = async () => (await tenant.query(RETRY_MANY, { input })).retryDeliveries;
    expect(await retryDeliveries()).toEqual({ count: 10_000, hasMore: true });
    expect(await retryDeliveries()).toEqual({ count: 1, hasMore: false });
  },
);

const COUNT_RETRYABLE = `query CountRetryable($project: String!, $destinationId: ID, $createTime: TimeRangeInput) {
  project(idOrName: $project) {
    failed: retryableDeliveryCount(statuses: [FAILED], destinationId: $destinationId, createTime: $createTime)
    retrying: retryableDeliveryCount(statuses: [RETRYING], destinationId: $destinationId)
    pending: retryableDeliveryCount(statuses: [PENDING], destinationId: $destinationId)
    all: retryableDeliveryCount(statuses: [FAILED, RETRYING, PENDING, FAILED], destinationId: $destinationId)
  }
}`;

test('counts the deliveries that a retry would send', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const [destinationId, otherDestinationId] = [
    await createDestination(tenant),
    await createDestination(tenant, 'other'),
  ];
  const inAnHour = new Date(Date.now() + 3_600_000);
  const waitingFields = { projectId, destinationId, nextAttemptTime: inAnHour } as const;
  const failedDelivery = await insert.delivery({ projectId, destinationId, status: 'FAILED' });
  await insert.delivery({ projectId, destinationId: otherDestinationId, status: 'FAILED' });
  await insert.delivery({ projectId, status: 'FAILED' });
  await insert.delivery({ ...waitingFields, isRetrying: true, attemptCount: 1 });
  const headOfOrder = await insert.delivery({ ...waitingFields, orderKey: 'a' });
  await insert.delivery({ ...waitingFields, orderKey: 'a', afterId: headOfOrder.id });
  await insert.delivery({ ...waitingFields, nextAttemptTime: new Date(0) });
  const countRetryable = async (filters: object = {}) =>
    (await tenant.query(COUNT_RETRYABLE, { project: projectId, ...filters })).project;
  expect(await countRetryable()).toEqual({ failed: 2, retrying: 1, pending: 1, all: 4 });
  expect(await countRetryable({ destinationId: otherDestinationId })).toEqual({
    failed: 1,
    retrying: 0,
    pending: 0,
    all: 1,
  });
  const createTime = { until: failedDelivery.createTime.toISOString() };
  expect((await countRetryable({ destinationId, createTime })).failed).toBe(0);
  const reader = await tenant.withScopes('read');
  const count = '{ project { retryableDeliveryCount(statuses: [FAILED]) } }';
  expect(await reader.expectRefusal(count)).toMatchObject({ code: 'FORBIDDEN' });
});

test('refuses to retry a delivery whose destination is deleted', async () => {
  const tenant = await app.createTenant();
  const { id } = await insert.delivery({ projectId: tenant.projectId, status: 'FAILED' });
  const input = { projectIdOrName: tenant.projectId, deliveryId: id };
  expect(await tenant.expectRefusal(RETRY_DELIVERY, { input })).toMatchObject({ code: 'CONFLICT' });
  expect((await prisma.delivery.findFirstOrThrow({ where: { id } })).status).toBe('FAILED');
});

test('sends a test message to its destination only', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { projectId } = tenant;
  const destinationId = await createDestination(tenant);
  const send = `mutation SendTestMessage($input: SendTestMessageInput!) { sendTestMessage(input: $input) {
    delivery { id status destination { name } event { id } operation { id } body } } }`;
  const input = { projectIdOrName: projectId, destinationId };
  const { delivery } = (await tenant.query(send, { input })).sendTestMessage;
  expect(delivery).toMatchObject({
    status: 'PENDING',
    destination: { name: 'crm' },
    event: null,
    operation: null,
    body: {
      notificationType: 'test.message',
      data: { projectId, destinationId, destinationName: 'crm' },
    },
  });
  for (const projectIdOrName of [projectId, otherTenant.projectId]) {
    const variables = { input: { ...input, projectIdOrName } };
    expect(await otherTenant.expectRefusal(send, variables)).toMatchObject({ code: 'NOT_FOUND' });
  }
  const reader = await tenant.withScopes('read');
  expect(await reader.expectRefusal(send, { input })).toMatchObject({ code: 'FORBIDDEN' });
  expect(await prisma.delivery.count({ where: { destinationId } })).toBe(1);
});

test("returns NOT_FOUND for another tenant's delivery, and FORBIDDEN without the scope", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { projectId } = tenant;
  const destinationId = await createDestination(tenant);
  const { id } = await insert.delivery({ projectId, destinationId, status: 'FAILED' });
  for (const projectIdOrName of [tenant.projectId, otherTenant.projectId]) {
    const input = { projectIdOrName, deliveryId: id };
    expect(await otherTenant.expectRefusal(RETRY_DELIVERY, { input })).toMatchObject({
      code: 'NOT_FOUND',
    });
  }
  const input = { projectIdOrName: projectId, deliveryId: id };
  const reader = await tenant.withScopes('read');
  expect(await reader.expectRefusal(RETRY_DELIVERY, { input })).toMatchObject({
    code: 'FORBIDDEN',
  });
  expect((await prisma.delivery.findFirstOrThrow({ where: { id } })).status).toBe('FAILED');
  const unknown = { projectIdOrName: projectId, deliveryId: 'nonsense' };
  expect(await tenant.expectRefusal(RETRY_DELIVERY, { input: unknown })).toMatchObject({
    code: 'NOT_FOUND',
  });
});
