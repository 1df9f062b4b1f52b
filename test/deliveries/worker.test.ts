import { expect, test } from 'vitest';
import { hasSecret, rotateSecrets } from '../../src/deliveries/signing-secret.ts';
import { sealHeaders, sealUrl } from '../../src/deliveries/target-secrets.ts';
import {
  createClock,
  createWorker,
  getSharedDeliveries,
  vault,
} from '../support/fixtures/deliveries.ts';
import { verifyMessage } from '../support/receiver.ts';

const DAY_MS = 24 * 3_600_000;

const shared = await getSharedDeliveries();
const { database, prisma, receiver, createEndpointName, createDestination, enqueue } = shared;
const { findDelivery, findDestination } = shared;

test('posts a message with its signature, content type and the headers of its destination', async () => {
  const endpoint = createEndpointName();
  const maskedHeaders = { 'X-Tenant': 'acme', 'User-Agent': 'acme-hooks' };
  const { id, secret } = await createDestination(receiver.getUrl(endpoint), { maskedHeaders });
  const [deliveryId] = await enqueue(id);
  await using sender = createWorker(database);
  await sender.worker.drain();

  const [message, ...otherMessages] = receiver.listMessages(endpoint);
  if (!message) return expect.unreachable();
  expect(otherMessages).toEqual([]);
  expect(message.id).toBe(deliveryId);
  expect(message.headers).toMatchObject({
    'content-type': 'application/json',
    'x-tenant': 'acme',
    'user-agent': 'acme-hooks',
  });
  expect(verifyMessage(message, secret)).toEqual({
    notificationType: 'connection.created',
    data: { number: 0 },
  });
  const sentDelivery = await findDelivery(deliveryId);
  expect(sentDelivery).toMatchObject({
    status: 'SUCCEEDED',
    isRetrying: false,
    failureReason: null,
    attemptCount: 1,
    nextAttemptTime: null,
    leaseToken: null,
    leaseExpireTime: null,
  });
  expect(sentDelivery.attempts).toMatchObject([
    { attemptNumber: 1, responseStatus: 200, error: null },
  ]);
  expect(sentDelivery.attempts[0]?.id).toMatch(/^att_/);
});

test('sends the same ID in each attempt, waits longer after each, and fails after the last', async () => {
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, { status: 500 });
  const { id, secret } = await createDestination(receiver.getUrl(endpoint));
  const [deliveryId] = await enqueue(id);
  const clock = createClock('2031-01-01T00:00:00Z');
  await using sender = createWorker(database, { now: clock.now, random: () => 0.5 });

  const waitsSeconds: number[] = [];
  await sender.worker.drain();
  for (;;) {
    const { nextAttemptTime, isRetrying } = await findDelivery(deliveryId);
    if (!nextAttemptTime) break;
    expect(isRetrying).toBe(true);
    const waitMs = nextAttemptTime.getTime() - clock.now().getTime();
    waitsSeconds.push(waitMs / 1000);
    clock.advance(waitMs - 1);
    await sender.worker.drain();
    expect(receiver.listMessages(endpoint)).toHaveLength(waitsSeconds.length);
    clock.advance(1);
    await sender.worker.drain();
  }
  expect(waitsSeconds).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 36_000]);
  const failedDelivery = await findDelivery(deliveryId);
  expect(failedDelivery).toMatchObject({
    status: 'FAILED',
    isRetrying: false,
    failureReason: 'Failed permanently at attempt 8: The receiver responded with 500.',
    attemptCount: 8,
  });
  expect(failedDelivery.attempts.map(({ attemptNumber }) => attemptNumber)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8,
  ]);
  const messages = receiver.listMessages(endpoint);
  expect(new Set(messages.map((message) => message.id))).toEqual(new Set([deliveryId]));
  for (const message of messages) verifyMessage(message, secret);
});

test.each([
  { behavior: { status: 500 }, status: 500, error: 'The receiver responded with 500.' },
  { behavior: { status: 404 }, status: 404, error: 'The receiver responded with 404.' },
  {
    behavior: { status: 301, headers: { location: receiver.getUrl('elsewhere') } },
    status: 301,
    error: 'The receiver responded with 301: redirects are not followed.',
  },
  { behavior: 'HANG', status: null, error: 'No complete response within 0.2 s.' },
  {
    behavior: 'DROP',
    status: null,
    error: 'The connection ended before the response (UND_ERR_SOCKET).',
  },
] as const)('fails an attempt after $behavior, and serves other destinations', async (failure) => {
  const [badEndpoint, goodEndpoint] = [createEndpointName(), createEndpointName()];
  receiver.setBehavior(badEndpoint, failure.behavior);
  const [badDestination, goodDestination] = [
    await createDestination(receiver.getUrl(badEndpoint)),
    await createDestination(receiver.getUrl(goodEndpoint)),
  ];
  const [failed] = await enqueue(badDestination.id);
  await enqueue(goodDestination.id, 20);
  // The limit is short only if the request must time out. A busy machine responds slowly.
  const attemptMs = failure.behavior === 'HANG' ? 200 : 5_000;
  await using sender = createWorker(database, { limits: { attemptMs } });
  await sender.worker.drain();
  expect(receiver.listMessages(goodEndpoint)).toHaveLength(20);
  const { attempts, ...row } = await findDelivery(failed);
  expect(row).toMatchObject({ status: 'PENDING', attemptCount: 1, failureReason: null });
  expect(attempts).toMatchObject([{ responseStatus: failure.status, error: failure.error }]);
  expect(receiver.listMessages('elsewhere')).toEqual([]);
  await prisma.destination.deleteMany({ where: { id: badDestination.id } });
});

test('treats an endless response with a good status as a success', async () => {
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, 'ENDLESS');
  const { id } = await createDestination(receiver.getUrl(endpoint));
  const [deliveryId] = await enqueue(id);
  await using sender = createWorker(database);
  await sender.worker.drain();
  expect(await findDelivery(deliveryId)).toMatchObject({ status: 'SUCCEEDED', attemptCount: 1 });
});

test('fails without a request if the address of the destination is private', async () => {
  const endpoint = createEndpointName();
  const { id } = await createDestination(
    receiver.getUrl(endpoint).replace('127.0.0.1', '127.0.0.2'),
  );
  const [deliveryId] = await enqueue(id);
  await using sender = createWorker(database);
  await sender.worker.drain();
  const { attempts } = await findDelivery(deliveryId);
  expect(attempts).toMatchObject([
    {
      responseStatus: null,
      error:
        'The address of 127.0.0.2 is not permitted: ALLOWED_PRIVATE_TARGETS does not contain it.',
    },
  ]);
});

test('sends the values of a sealed URL and sealed headers', async () => {
  const endpoint = `${createEndpointName()}?token=s3cret`;
  const { id } = await createDestination(receiver.getUrl(endpoint));
  const owner = { id, projectId: shared.projectId };
  const url = sealUrl(vault, owner, receiver.getUrl(endpoint));
  const { maskedHeaders, headersSealed } = sealHeaders(vault, owner, { 'X-Key': 's3cret' });
  const data = { ...url, maskedHeaders: maskedHeaders ?? {}, headersSealed };
  await prisma.destination.updateMany({ where: owner, data });
  await enqueue(id);
  await using sender = createWorker(database);
  await sender.worker.drain();
  expect(receiver.listMessages(endpoint)).toMatchObject([{ headers: { 'x-key': 's3cret' } }]);
});

test('fails the attempt without a request if a secret cannot be opened', async () => {
  const endpoint = createEndpointName();
  const { id } = await createDestination(receiver.getUrl(endpoint), {
    signingSecretSealed: 'v1.other.AAAA',
  });
  const [deliveryId] = await enqueue(id);
  await using sender = createWorker(database);
  await sender.worker.drain();
  expect(receiver.listMessages(endpoint)).toEqual([]);
  expect((await findDelivery(deliveryId)).attempts).toMatchObject([
    { error: "The destination's secrets could not be opened." },
  ]);
});

test('marks a delivery as retrying after a failed attempt, until an attempt succeeds', async () => {
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, { status: 500 });
  const { id } = await createDestination(receiver.getUrl(endpoint));
  const [deliveryId] = await enqueue(id);
  expect(await findDelivery(deliveryId)).toMatchObject({ status: 'PENDING', isRetrying: false });
  const clock = createClock('2031-01-01T00:00:00Z');
  await using sender = createWorker(database, { now: clock.now });
  await sender.worker.drain();
  expect(await findDelivery(deliveryId)).toMatchObject({ status: 'PENDING', isRetrying: true });
  receiver.setBehavior(endpoint, { status: 200 });
  clock.advance(60_000);
  await sender.worker.drain();
  expect(await findDelivery(deliveryId)).toMatchObject({ status: 'SUCCEEDED', isRetrying: false });
});

test('honors Retry-After up to one hour', async () => {
  const clock = createClock('2031-01-01T00:00:00Z');
  const waitsSeconds: number[] = [];
  for (const retryAfter of ['120', 'Wed, 01 Jan 2031 00:10:00 GMT', '86400', '1', 'soon']) {
    const endpoint = createEndpointName();
    receiver.setBehavior(endpoint, { status: 429, headers: { 'retry-after': retryAfter } });
    const { id } = await createDestination(receiver.getUrl(endpoint));
    const [deliveryId] = await enqueue(id);
    await using sender = createWorker(database, { now: clock.now, random: () => 0.5 });
    await sender.worker.drain();
    const { nextAttemptTime } = await findDelivery(deliveryId);
    waitsSeconds.push(((nextAttemptTime?.getTime() ?? 0) - clock.now().getTime()) / 1000);
  }
  expect(waitsSeconds).toEqual([120, 600, 3600, 5, 5]);
});

test('signs with two secrets after a rotation, until the previous secret expires', async () => {
  const endpoint = createEndpointName();
  const { id, secret: previousSecret } = await createDestination(receiver.getUrl(endpoint));
  const clock = createClock('2031-01-01T00:00:00Z');
  const sealedDestination = await findDestination(id);
  const currentSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  if (!hasSecret(sealedDestination)) throw new Error('The destination is not a webhook.');
  const rotatedSecrets = rotateSecrets(vault, sealedDestination, {
    secret: currentSecret,
    now: clock.now(),
  });
  await prisma.destination.updateMany({ where: { id }, data: rotatedSecrets });
  await using sender = createWorker(database, { now: clock.now });

  await enqueue(id);
  await sender.worker.drain();
  clock.advance(DAY_MS);
  await enqueue(id);
  await sender.worker.drain();

  const [signedTwice, signedOnce] = receiver.listMessages(endpoint);
  if (!signedTwice || !signedOnce) return expect.unreachable();
  expect(signedTwice.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  expect(verifyMessage(signedTwice, previousSecret)).toEqual(
    verifyMessage(signedTwice, currentSecret),
  );
  expect(signedOnce.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  verifyMessage(signedOnce, currentSecret);
  expect(() => verifyMessage(signedOnce, previousSecret)).toThrow();
});

test('signs with the time of the database, even if the clock of the process is wrong', async () => {
  const endpoint = createEndpointName();
  const { id, secret } = await createDestination(receiver.getUrl(endpoint));
  await enqueue(id);
  await using sender = createWorker(database, { now: createClock('2031-01-01T00:00:00Z').now });
  await sender.worker.drain();
  const [message] = receiver.listMessages(endpoint);
  if (!message) return expect.unreachable();
  verifyMessage(message, secret);
});
