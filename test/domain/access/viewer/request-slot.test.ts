import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Outages } from '../../../../src/database/connect/outages.ts';
import { ProcessShares } from '../../../../src/domain/access/viewer/share/process-shares.ts';
import { RequestSlot } from '../../../../src/domain/access/viewer/share/request-slot.ts';
import type { Viewer } from '../../../../src/domain/access/viewer/viewer.ts';
import type { DomainError } from '../../../../src/kernel/errors.ts';
import { createLog } from '../../../../src/kernel/log.ts';
import { NO_METERS } from '../../../../src/kernel/meters.ts';
import { readConfig } from '../../../../src/settings/config.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NETWORK = '203.0.113.1';

function createKey(id: string, projectId = `project of ${id}`): Viewer {
  return { kind: 'API_KEY', id, projectId, orgId: 'org', scopes: [], allowedOrigins: [] };
}

function createSlots(env: Record<string, string> = {}) {
  const refusedLimits: string[] = [];
  const meters = { ...NO_METERS, limitRefused: (limit: string) => void refusedLimits.push(limit) };
  const outages = new Outages(createLog('silent'));
  const shares = new ProcessShares(readConfig(env), meters, outages);
  const requests = shares.get('requests');
  const providers = shares.get('providerRequests');
  const enterSlot = () => {
    const slot = new RequestSlot(shares, meters);
    expect(slot.countArrival(NETWORK)).toBeNull();
    return slot;
  };
  /** Returns the slot of a request that has begun. */
  const startRunning = (viewer: Viewer) => {
    const slot = enterSlot();
    slot.countByCaller(viewer);
    expect(slot.startWork(1)).toBeUndefined();
    return slot;
  };
  return { shares, outages, requests, providers, refusedLimits, enterSlot, startRunning };
}

function catchError(work: () => unknown): DomainError {
  try {
    work();
  } catch (error) {
    return error as DomainError;
  }
  throw new Error('Nothing was thrown.');
}

test('counts a request by its network until its caller is known, and then by the caller until it leaves', () => {
  const { requests, enterSlot } = createSlots();
  const slot = enterSlot();
  expect(requests.held).toBe(1);
  slot.countByNetwork();
  expect(requests.countHeldBy('project', `network ${NETWORK}`)).toBe(1);
  slot.countByCaller(createKey('key'));
  expect(requests.countHeldBy('project', `network ${NETWORK}`)).toBe(0);
  expect(requests.countHeldBy('caller', 'key')).toBe(1);
  slot.release();
  slot.release();
  expect(requests.held).toBe(0);
});

test('reserves capacity for known callers if unknown callers share a network', () => {
  const { requests, enterSlot, startRunning } = createSlots({ LIMIT_REQUESTS: '10' });
  const countByNetwork = () => enterSlot().countByNetwork();
  for (let count = 0; count < 4; count += 1) countByNetwork();
  expect(catchError(countByNetwork)).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    extra: { limit: 'LIMIT_REQUESTS' },
  });
  startRunning(createKey('known'));
  expect(requests.countHeldBy('caller', 'known')).toBe(1);
});

test('counts a request until its work ends, even if the client has disconnected', () => {
  const { requests, startRunning } = createSlots();
  const slot = startRunning(createKey('key'));
  slot.release();
  expect(requests.held).toBe(1);
  slot.finishWork();
  expect(requests.held).toBe(0);
});

test('returns RATE_LIMITED for a caller over its share, and SERVICE_UNAVAILABLE for a full process', () => {
  const limits = { LIMIT_REQUESTS: '4', LIMIT_CALLER_REQUESTS: '1' };
  const { shares, requests, refusedLimits, enterSlot, startRunning } = createSlots(limits);
  startRunning(createKey('greedy'));
  expect(catchError(() => enterSlot().countByCaller(createKey('greedy')))).toMatchObject({
    code: 'RATE_LIMITED',
    extra: { limit: 'LIMIT_CALLER_REQUESTS', retryAfterSeconds: 1 },
  });
  while (requests.held < 4) requests.add({});
  expect(new RequestSlot(shares, NO_METERS).countArrival(NETWORK)).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    extra: { limit: 'LIMIT_REQUESTS', retryAfterSeconds: 1 },
  });
  expect(refusedLimits).toEqual(['caller_requests', 'requests']);
});

test('releases the slot while a request waits for a provider, and takes it back without a turn', async () => {
  const { shares, requests, providers, enterSlot, startRunning } = createSlots({
    LIMIT_RUNNING: '1',
  });
  const slot = startRunning(createKey('key', 'project'));
  const connection = { projectId: 'project', connectionId: 'connection' };
  const [endFirst, endSecond] = [
    slot.waitForProvider(connection),
    slot.waitForProvider(connection),
  ];
  expect([requests.held, providers.held]).toEqual([0, 2]);
  const otherSlot = startRunning(createKey('other'));
  endFirst();
  endFirst();
  expect([requests.held, providers.held]).toEqual([1, 1]);
  endSecond();
  expect([requests.held, providers.held]).toEqual([2, 0]);

  const nextSlot = enterSlot();
  nextSlot.countByCaller(createKey('next'));
  const turn = nextSlot.startWork(1);
  slot.finishWork();
  expect(shares.turns.waiting).toBe(1);
  otherSlot.finishWork();
  await turn;
  expect(shares.turns.waiting).toBe(0);
});

test('releases the slot when the response is sent before the provider responds', () => {
  const { requests, providers, startRunning } = createSlots();
  const slot = startRunning(createKey('key', 'project'));
  const endWait = slot.waitForProvider({ projectId: 'project' });
  slot.finishWork();
  slot.release();
  expect([requests.held, providers.held]).toEqual([0, 1]);
  endWait();
  expect([requests.held, providers.held]).toEqual([0, 0]);
});

test('limits the waits of a connection, a caller and a project separately', () => {
  const { startRunning } = createSlots({
    LIMIT_CONNECTION_REQUESTS: '1',
    LIMIT_CALLER_PROVIDER_REQUESTS: '2',
    LIMIT_PROJECT_PROVIDER_REQUESTS: '3',
  });
  const prepareWait = (caller: string, connectionId: string) => {
    const slot = startRunning(createKey(caller, 'project'));
    return () => slot.waitForProvider({ projectId: 'project', connectionId });
  };
  prepareWait('a', 'first')();
  expect(catchError(prepareWait('b', 'first')).extra.limit).toBe('LIMIT_CONNECTION_REQUESTS');
  prepareWait('a', 'second')();
  expect(catchError(prepareWait('a', 'third')).extra.limit).toBe('LIMIT_CALLER_PROVIDER_REQUESTS');
  prepareWait('b', 'third')();
  expect(catchError(prepareWait('c', 'fourth')).extra.limit).toBe(
    'LIMIT_PROJECT_PROVIDER_REQUESTS',
  );
});

test('returns RATE_LIMITED after a long wait behind requests of the same caller, and otherwise SERVICE_UNAVAILABLE', async () => {
  const { enterSlot, startRunning } = createSlots({ LIMIT_RUNNING: '1', LIMIT_TURN_MS: '100' });
  startRunning(createKey('greedy'));
  const startWaiting = (viewer: Viewer) => {
    const slot = enterSlot();
    slot.countByCaller(viewer);
    return slot.startWork(1)?.catch((error: DomainError) => error);
  };
  const greedyRequests = [startWaiting(createKey('greedy')), startWaiting(createKey('greedy'))];
  const quietRequest = startWaiting(createKey('quiet'));
  await vi.advanceTimersByTimeAsync(100);
  for (const request of [...greedyRequests, quietRequest])
    expect((await request)?.extra?.limit).toBe('LIMIT_TURN_MS');
  expect(await greedyRequests[0]).toMatchObject({ code: 'RATE_LIMITED' });
  expect(await quietRequest).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

test('returns RATE_LIMITED after a long wait if there is no other caller', async () => {
  const { enterSlot, startRunning } = createSlots({ LIMIT_RUNNING: '1', LIMIT_TURN_MS: '100' });
  startRunning(createKey('only'));
  const slot = enterSlot();
  slot.countByCaller(createKey('only'));
  const refusal = slot.startWork(1)?.catch((error: DomainError) => error);
  await vi.advanceTimersByTimeAsync(100);
  expect(await refusal).toMatchObject({ code: 'RATE_LIMITED', extra: { limit: 'LIMIT_TURN_MS' } });
});

test("returns the database's error after a long wait during an outage of the database", async () => {
  const { outages, enterSlot, startRunning } = createSlots({
    LIMIT_RUNNING: '1',
    LIMIT_TURN_MS: '100',
  });
  startRunning(createKey('only'));
  const slot = enterSlot();
  slot.countByCaller(createKey('only'));
  const refusal = slot.startWork(1)?.catch((error: unknown) => error);
  const outage = outages.toCallerError(new Error('Connection terminated'));
  await vi.advanceTimersByTimeAsync(100);
  expect(await refusal).toBe(outage);
  outages[Symbol.dispose]();
});

test('does not begin work if the client disconnects before its turn', async () => {
  const { requests, enterSlot, startRunning } = createSlots({ LIMIT_RUNNING: '1' });
  const runningSlot = startRunning(createKey('a'));
  const disconnectedSlot = enterSlot();
  disconnectedSlot.countByCaller(createKey('b'));
  const turn = disconnectedSlot.startWork(1);
  disconnectedSlot.release();
  await expect(turn).rejects.toThrow('disconnected');
  runningSlot.finishWork();
  runningSlot.release();
  expect(requests.held).toBe(0);
});

test('does not count a request whose client disconnects before its caller is known', () => {
  const { requests, enterSlot } = createSlots();
  const slot = enterSlot();
  slot.release();
  slot.countByNetwork();
  expect(requests.held).toBe(0);
  slot.countByCaller(createKey('key'));
  slot.startWork(1);
  expect(requests.held).toBe(1);
  slot.finishWork();
  expect(requests.held).toBe(0);
});
