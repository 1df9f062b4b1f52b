import { expect, test } from 'vitest';
import type { Services } from '../../../../src/domain/access/call.ts';
import { authenticate } from '../../../../src/domain/access/viewer/find-viewer.ts';
import { OpenResultStreams } from '../../../../src/domain/access/viewer/open-result-streams.ts';
import { ProcessShares } from '../../../../src/domain/access/viewer/share/process-shares.ts';
import type { DomainError } from '../../../../src/kernel/errors.ts';
import { getSharedApp } from '../../../support/app.ts';

const app = await getSharedApp();
const { services, verifier } = app.app;
const { prisma } = services.database;

/** Opens a stream with a new API key. `ended` resolves with the error that ends the stream. */
async function openStream(streams: OpenResultStreams, streamServices: Services = services) {
  const tenant = await app.createTenant();
  const credentials = { apiKey: tenant.apiKey };
  const viewer = await authenticate(streamServices, verifier, credentials);
  if (!viewer) throw new Error('The key was refused.');
  const ended = Promise.withResolvers<DomainError | null>();
  const stream = streams.open(credentials, viewer, ended.resolve);
  return { tenant, viewer, stream, ended: ended.promise, credentials };
}

test('returns the viewer of a valid key, and null after its key is deleted', async () => {
  const streams = new OpenResultStreams(services, verifier, { checkIntervalMs: 5 });
  const validKey = await openStream(streams);
  const deletedKey = await openStream(streams);
  expect(await validKey.stream.waitForCheck()).toEqual(validKey.viewer);
  await prisma.apiKey.deleteMany({ where: { id: deletedKey.tenant.apiKeyId } });
  expect(await deletedKey.ended).toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await deletedKey.stream.waitForCheck()).toBeNull();
  expect(await validKey.stream.waitForCheck()).toEqual(validKey.viewer);
  streams.endAll();
});

test('keeps a stream open if the scopes of its key change, and returns the new scopes', async () => {
  const streams = new OpenResultStreams(services, verifier, { checkIntervalMs: 5, staleMs: 10 });
  const { tenant, stream, viewer } = await openStream(streams);
  const scopes = [...viewer.scopes].reverse();
  await prisma.apiKey.updateMany({ where: { id: tenant.apiKeyId }, data: { scopes } });
  while ((await stream.waitForCheck())?.scopes[0] !== scopes[0]) await new Promise(setImmediate);
  expect((await stream.waitForCheck())?.scopes).toEqual(scopes);
  streams.endAll();
});

test('keeps streams waiting while the database is unreachable', async () => {
  let isUnavailable = true;
  let failed = Promise.withResolvers<void>();
  const find: Services['database']['reads']['find'] = (...args) => {
    if (!isUnavailable) return services.database.reads.find(...args);
    failed.resolve();
    failed = Promise.withResolvers();
    return Promise.reject(new Error('The database is not available.'));
  };
  const database = { ...services.database, reads: { ...services.database.reads, find } };
  const failingServices = { ...services, database };
  const streams = new OpenResultStreams(failingServices, verifier, {
    checkIntervalMs: 10,
    staleMs: 20,
  });
  const { stream, viewer } = await openStream(streams);
  for (let polls = 0; polls < 5; polls += 1) await failed.promise;
  let isChecked = false;
  const nextCheck = stream.waitForCheck().finally(() => {
    isChecked = true;
  });
  await failed.promise;
  expect(isChecked).toBe(false);
  isUnavailable = false;
  expect(await nextCheck).toEqual(viewer);
  streams.endAll();
});

test('refuses streams of a caller over its share, and counts the streams of all its tokens', async () => {
  const config = { ...services.config, LIMIT_SUBSCRIPTIONS: 2 };
  const shares = new ProcessShares(config, services.meters, services.database.outages);
  const streams = new OpenResultStreams({ ...services, shares }, verifier);
  const { credentials, viewer, stream } = await openStream(streams);
  const openAgain = () => streams.open(credentials, viewer, () => {});
  streams.open({ authorization: 'another token of the caller' }, viewer, () => {});
  expect(openAgain).toThrow('LIMIT_SUBSCRIPTIONS');
  stream[Symbol.dispose]();
  openAgain();
  expect(shares.get('subscriptions').held).toBe(2);
  streams.endAll();
  expect(shares.get('subscriptions').held).toBe(0);
});

test("does not affect the caller's next stream if a stream is closed twice", async () => {
  const streams = new OpenResultStreams(services, verifier, { checkIntervalMs: 5, staleMs: 10 });
  const { tenant, stream, credentials, viewer } = await openStream(streams);
  stream[Symbol.dispose]();
  const ended = Promise.withResolvers<DomainError | null>();
  const nextStream = streams.open(credentials, viewer, ended.resolve);
  stream[Symbol.dispose]();
  await prisma.apiKey.deleteMany({ where: { id: tenant.apiKeyId } });
  expect(await ended.promise).toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await nextStream.waitForCheck()).toBeNull();
});

test('ends all streams without an error when the process stops, and refuses further streams', async () => {
  const streams = new OpenResultStreams(services, verifier);
  const { ended, credentials, viewer } = await openStream(streams);
  expect(streams.isStopping).toBe(false);
  streams.endAll();
  expect(await ended).toBeNull();
  expect(streams.isStopping).toBe(true);
  expect(() => streams.open(credentials, viewer, () => {})).toThrow('stopping');
});
