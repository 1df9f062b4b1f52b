import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';
import { createRestTenant, type RestTenant } from '../../support/rest/rest-client.ts';

const app = await getSharedApp();
const insert = insertRows(app);

/** Records two events. The first is routed to a topic, and has a delivery with an attempt. */
async function createDelivery() {
  const rest = await createRestTenant(app);
  const { projectId } = rest.tenant;
  const topic = await rest.post(`${rest.base}/topics`, { name: 'alerts' });
  const metadata = { url: 'https://example.com/hook' };
  const hook = { name: 'hooks', type: 'webhook', metadata };
  const { id: destinationId } = await rest.post(`${rest.base}/destinations`, hook);
  const event = await insert.event({ projectId, topicIds: [topic.id], destinationId });
  const deletedEvent = await insert.event({ projectId, eventType: 'CONNECTION_DELETED' });
  const sentFields = { projectId, destinationId, eventId: event.id, body: '{"secret": 1}' };
  const failedFields = { status: 'FAILED', failureReason: 'Gone.' } as const;
  const { id: deliveryId } = await insert.delivery({ ...sentFields, ...failedFields });
  const attempt = { projectId, deliveryId, attemptNumber: 1, responseStatus: 410, error: 'Gone.' };
  await insert.attempt(attempt);
  return { rest, topicId: topic.id, destinationId, event, other: deletedEvent, deliveryId };
}

const listEvents = async (rest: RestTenant, query = '') =>
  (await rest.get(`${rest.base}/notification-events${query}`)).results;

test('lists events in order, by topic and by types', async () => {
  const { rest, topicId, event, other: deletedEvent, destinationId } = await createDelivery();
  const [listedEvent, listedDeletion] = await listEvents(rest);
  expect(listedEvent).toEqual({
    id: event.id,
    projectId: rest.tenant.projectId,
    eventType: 'connection.created',
    data: { projectId: rest.tenant.projectId },
    topicIds: [topicId],
    destinationId,
    createTime: expect.any(String),
  });
  expect(listedDeletion).toMatchObject({ id: deletedEvent.id, topicIds: [] });
  expect(await rest.get(`${rest.base}/notification-events/${event.id}`)).toEqual(listedEvent);
  expect(await listEvents(rest, `?topicId=${topicId}`)).toEqual([listedEvent]);
  expect(await listEvents(rest, '?eventType=connection.deleted')).toEqual([listedDeletion]);
  const bothTypes = '?eventType=connection.deleted&eventType=connection.created';
  expect(await listEvents(rest, bothTypes)).toEqual([listedEvent, listedDeletion]);
  const page = await rest.get(`${rest.base}/notification-events?pageSize=1`);
  expect(page.results).toEqual([listedEvent]);
  expect(await listEvents(rest, `?pageToken=${page.pagination.nextPageToken}`)).toEqual([
    listedDeletion,
  ]);
});

test('reports an unknown event type at its position', async () => {
  const rest = await createRestTenant(app);
  const path = `${rest.base}/notification-events?eventType=CONNECTION_CREATED`;
  const { issues } = await rest.expectRefusal('GET', path);
  expect(issues).toMatchObject([{ in: 'query', name: 'eventType[0]' }]);
});

test('returns a delivery with its attempts and without its body', async () => {
  const { rest, event, destinationId, deliveryId } = await createDelivery();
  const delivery = await rest.get(`${rest.base}/deliveries/${deliveryId}`);
  expect(delivery).toEqual({
    id: deliveryId,
    projectId: rest.tenant.projectId,
    createTime: expect.any(String),
    destinationId,
    eventId: event.id,
    kind: 'event',
    status: 'failed',
    retrying: false,
    failureReason: 'Gone.',
    attempts: [
      {
        attemptNumber: 1,
        responseStatus: 410,
        error: 'Gone.',
        durationMs: 12,
        createTime: expect.any(String),
      },
    ],
    bodyBytes: 13,
  });
  const lists = [
    `notification-events/${event.id}/deliveries`,
    'destinations/hooks/deliveries',
    `destinations/${destinationId}/deliveries?status=failed`,
  ];
  for (const path of lists) {
    expect((await rest.get(`${rest.base}/${path}`)).results).toEqual([delivery]);
  }
  const pendingDeliveries = await rest.get(
    `${rest.base}/destinations/hooks/deliveries?status=pending`,
  );
  expect(pendingDeliveries.results).toEqual([]);
});

test('distinguishes retried deliveries from those without an attempt, both with the status pending', async () => {
  const { rest, destinationId, deliveryId } = await createDelivery();
  const { projectId } = rest.tenant;
  const untried = await insert.delivery({ projectId, destinationId });
  const retriedDelivery = await insert.delivery({
    projectId,
    destinationId,
    attemptCount: 1,
    isRetrying: true,
  });
  const listStates = async (path: string) =>
    (await rest.get(`${rest.base}/${path}`)).results.map(
      ({ id, status, retrying }: Record<string, unknown>) => [id, status, retrying],
    );
  const untriedState = [untried.id, 'pending', false];
  const retriedState = [retriedDelivery.id, 'pending', true];
  const failedState = [deliveryId, 'failed', false];
  expect(await listStates('destinations/hooks/deliveries')).toEqual([
    failedState,
    untriedState,
    retriedState,
  ]);
  for (const [status, expected] of [
    ['pending', [untriedState, retriedState]],
    ['retrying', [retriedState]],
    ['failed', [failedState]],
  ] as const) {
    expect(await listStates(`destinations/hooks/deliveries?status=${status}`)).toEqual(expected);
    const newestFirst = expected.toReversed();
    expect(await listStates(`deliveries?status=${status}`)).toEqual(newestFirst);
  }
});

test('retries the pending deliveries of both kinds, or only those being retried', async () => {
  const { rest, destinationId } = await createDelivery();
  const { projectId } = rest.tenant;
  const farFuture = new Date('2100-01-01T00:00:00Z');
  const keys = { projectId, destinationId, nextAttemptTime: farFuture };
  await insert.delivery(keys);
  await insert.delivery({ ...keys, attemptCount: 1, isRetrying: true });
  const retryDeliveries = (status: string) =>
    rest.post(`${rest.base}/deliveries:retry`, { status }, 200);
  expect(await retryDeliveries('retrying')).toEqual({ count: 1, hasMore: false });
  expect(await retryDeliveries('pending')).toEqual({ count: 1, hasMore: false });
});

test('retries a delivery with events:write', async () => {
  const { rest, deliveryId } = await createDelivery();
  const path = `${rest.base}/deliveries/${deliveryId}:retry`;
  const retriedDelivery = await rest.post(path, undefined, 200);
  expect(retriedDelivery).toMatchObject({ status: 'pending', nextAttemptTime: expect.any(String) });
  expect(retriedDelivery).not.toHaveProperty('failureReason');
  const reader = await rest.withScopes('read');
  const refusal = await reader.expectRefusal('POST', path);
  expect(refusal.status).toBe(403);
  expect(refusal.detail).toContain('events:write');
});

test("returns 404 for another tenant's events and deliveries", async () => {
  const { rest, event, destinationId, deliveryId } = await createDelivery();
  const otherTenant = await createRestTenant(app);
  for (const base of [rest.base, otherTenant.base]) {
    for (const path of [
      `notification-events/${event.id}`,
      `notification-events/${event.id}/deliveries`,
      `destinations/${destinationId}/deliveries`,
      `deliveries/${deliveryId}`,
    ]) {
      expect(await otherTenant.expectRefusal('GET', `${base}/${path}`)).toMatchObject({
        status: 404,
      });
    }
    const retryRefusal = await otherTenant.expectRefusal(
      'POST',
      `${base}/deliveries/${deliveryId}:retry`,
    );
    expect(retryRefusal.status).toBe(404);
  }
});
