/** Failing destinations and failed deliveries cause events. */
import { expect, test } from 'vitest';
import { decodeResponse } from '../../src/deliveries/send.ts';
import { newId } from '../../src/kernel/ids.ts';
import { createMask } from '../../src/work/secret-mask.ts';
import { createClock, createWorker, getSharedDeliveries } from '../support/fixtures/deliveries.ts';

const MINUTE_MS = 60_000;

const {
  database,
  prisma,
  receiver,
  createEndpointName,
  projectId,
  createDestination,
  enqueue,
  findDelivery,
} = await getSharedDeliveries();

async function routeToTopic(eventType: 'DELIVERY_FAILED' | 'DESTINATION_WEBHOOK_FAILING') {
  const { id: topicId } = await prisma.topic.findFirstOrThrow({ where: { projectId } });
  await prisma.eventTopicRoute.create({
    data: { id: newId('etr'), projectId, eventType, topicId },
  });
  return topicId;
}

const findEvents = (
  destinationId: string,
  eventType: 'DELIVERY_FAILED' | 'DESTINATION_WEBHOOK_FAILING',
) => prisma.notificationEvent.findMany({ where: { destinationId, eventType } });

test('records one event when a destination fails for an hour, and another after it has recovered', async () => {
  await routeToTopic('DESTINATION_WEBHOOK_FAILING');
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, { status: 500 });
  const { id } = await createDestination(receiver.getUrl(endpoint));
  const clock = createClock('2031-01-01T00:00:00Z');
  await using sender = createWorker(database, { now: clock.now });
  const sendMessage = async () => {
    await enqueue(id);
    await sender.worker.drain();
  };
  await sendMessage();
  clock.advance(59 * MINUTE_MS);
  await sendMessage();
  expect(await findEvents(id, 'DESTINATION_WEBHOOK_FAILING')).toEqual([]);
  clock.advance(2 * MINUTE_MS);
  await sendMessage();
  await sendMessage();
  const [event, ...otherEvents] = await findEvents(id, 'DESTINATION_WEBHOOK_FAILING');
  expect(otherEvents).toEqual([]);
  expect(event?.data).toMatchObject({
    projectId,
    destinationId: id,
    destinationName: id,
    url: receiver.getUrl(endpoint),
    failingSince: '2031-01-01T00:00:00.000Z',
  });
  receiver.setBehavior(endpoint, { status: 204 });
  await sendMessage();
  receiver.setBehavior(endpoint, { status: 500 });
  await sendMessage();
  clock.advance(61 * MINUTE_MS);
  await sendMessage();
  expect(await findEvents(id, 'DESTINATION_WEBHOOK_FAILING')).toHaveLength(2);
});

test('records an event for a failed delivery, unless the delivery contains such an event', async () => {
  const topicId = await routeToTopic('DELIVERY_FAILED');
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, { status: 500, body: 'no such hook' });
  const { id } = await createDestination(receiver.getUrl(endpoint));
  await prisma.topicDestinationRoute.create({
    data: { id: newId('tdr'), projectId, topicId, destinationId: id },
  });
  const operationId = newId('opr');
  const [deliveryId] = await enqueue(id, 1, { operationId });
  const config = { DELIVERY_RETRY_SECONDS: [], SHUTDOWN_MS: 1_000 };
  await using sender = createWorker(database, { config });
  await sender.worker.drain();
  await sender.worker.drain();
  expect(await findDelivery(deliveryId)).toMatchObject({ status: 'FAILED' });
  const [event, ...otherEvents] = await findEvents(id, 'DELIVERY_FAILED');
  expect(otherEvents).toEqual([]);
  expect(event?.data).toEqual({
    projectId,
    destinationId: id,
    destinationName: id,
    url: receiver.getUrl(endpoint),
    deliveryId,
    operationId,
    attempts: 1,
    error: 'Failed permanently at attempt 1: The receiver responded with 500.',
  });
  const eventDelivery = await prisma.delivery.findFirstOrThrow({
    where: { eventId: String(event?.id) },
  });
  expect(eventDelivery).toMatchObject({ eventType: 'DELIVERY_FAILED', status: 'FAILED' });
  const attempt = await prisma.deliveryAttempt.findFirstOrThrow({
    where: { deliveryId: String(deliveryId) },
  });
  expect(attempt.responseBody).toBe('no such hook');
});

const decode = (body: Buffer, contentType?: string) =>
  decodeResponse(body, { contentType, mask: createMask([]) });

test('keeps the first 4,096 bytes of a text response', () => {
  expect(decode(Buffer.alloc(0), 'text/plain')).toBeNull();
  expect(decode(Buffer.from('Ölmühle'))).toBe('Ölmühle');
  expect(decode(Buffer.from('ö'.repeat(4_000)), 'text/plain')).toBe('ö'.repeat(2_048));
  expect(decode(Buffer.from(`a${'ö'.repeat(4_000)}`), 'text/plain')).toBe(`a${'ö'.repeat(2_047)}`);
  expect(decode(Buffer.from([0xff, 0xd8]), 'image/jpeg')).toBe('(binary, image/jpeg)');
  expect(decode(Buffer.from('a\0b'))).toBe('(binary, of no content type)');
});
