import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  type LimitedConnection,
  ProviderLimits,
} from '../../../../src/domain/connections/provider/provider-limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const LIMITS = {
  concurrency: 3,
  // So high that only tests of the rate reach their limit.
  requestsPerSecond: 1e6,
  timeoutMs: 1_000,
  responseBytesMax: 1_000,
  batchSize: 1,
  pageSize: 1,
};

function createConnection(
  connectionId: string,
  overrides: { projectId?: string; limits?: object } = {},
) {
  const limits = { ...LIMITS, ...overrides.limits };
  const provider = { name: 'crm', displayName: 'CRM', limits };
  return {
    connectionId,
    projectId: overrides.projectId ?? 'prj_1',
    provider,
  } satisfies LimitedConnection;
}

/** Returns work that runs until `endAll` is called, and the set of running work. */
function createGate() {
  const running = new Set<() => void>();
  const work = () =>
    new Promise<void>((resolve) => {
      const end = () => {
        running.delete(end);
        resolve();
      };
      running.add(end);
    });
  return {
    work,
    running,
    async endAll() {
      for (const end of [...running]) end();
      await settle();
    },
  };
}

async function settle() {
  await vi.advanceTimersByTimeAsync(1);
}

function createLimiter() {
  return new ProviderLimits(() => Date.now());
}

test('limits the concurrency of a connection and keeps the order of requests', async () => {
  const limits = createLimiter();
  const { work, running, endAll } = createGate();
  const started: number[] = [];
  const attempts = Array.from({ length: 7 }, (_, index) =>
    limits.run(createConnection('a'), () => {
      started.push(index);
      return work();
    }),
  );
  await settle();
  expect(running.size).toBe(3);
  await endAll();
  expect(running.size).toBe(3);
  await endAll();
  expect(running.size).toBe(1);
  await endAll();
  await Promise.all(attempts);
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('releases the capacity of a failed request', async () => {
  const limits = createLimiter();
  const failingCall = () => Promise.reject(new Error('no'));
  for (let count = 0; count < 5; count += 1) {
    await expect(limits.run(createConnection('a'), failingCall)).rejects.toThrow('no');
    await settle();
  }
  expect(await limits.run(createConnection('a'), async () => 'yes')).toBe('yes');
});

test('limits the requests of a connection per second', async () => {
  const limits = createLimiter();
  let doneCount = 0;
  const connection = createConnection('a', { limits: { requestsPerSecond: 10 } });
  const attempts = Array.from({ length: 23 }, () =>
    limits.run(connection, async () => {
      doneCount += 1;
    }),
  );
  await vi.advanceTimersByTimeAsync(0);
  expect(doneCount).toBe(3);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(doneCount).toBe(13);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(doneCount).toBe(23);
  await Promise.all(attempts);
});

test('pauses a connection without affecting other connections', async () => {
  const limits = createLimiter();
  limits.pause(createConnection('a'), 5_000);
  let isDone = false;
  const pausedCall = limits.run(createConnection('a'), async () => {
    isDone = true;
  });
  expect(await limits.run(createConnection('b'), async () => 'other')).toBe('other');
  await vi.advanceTimersByTimeAsync(4_999);
  expect(isDone).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isDone).toBe(true);
  await pausedCall;
});

test('refuses immediately if the wait is too long, and returns the remaining time', async () => {
  const limits = createLimiter();
  limits.pause(createConnection('a'), 60_000);
  await vi.advanceTimersByTimeAsync(10_000);
  const work = vi.fn(async () => {});
  await expect(limits.run(createConnection('a'), work)).rejects.toMatchObject({
    kind: 'RATE_LIMITED',
    retryAfterMs: 50_000,
  });
  expect(work).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(50_000);
  await limits.run(createConnection('a'), work);
  expect(work).toHaveBeenCalledOnce();
});

test('refuses a request that has waited too long, without running it', async () => {
  const limits = createLimiter();
  const { work, running, endAll } = createGate();
  for (let count = 0; count < 3; count += 1) void limits.run(createConnection('a'), work);
  const lateWork = vi.fn(work);
  const refusal = limits.run(createConnection('a'), lateWork).catch((error) => error);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(await refusal).toMatchObject({ kind: 'RATE_LIMITED', isTemporary: true });
  await endAll();
  expect(running.size).toBe(0);
  expect(lateWork).not.toHaveBeenCalled();
});

test('limits the waiting requests of a connection', async () => {
  const limits = createLimiter();
  const { work, running, endAll } = createGate();
  const outcomes = Array.from({ length: 503 + 4 }, () =>
    limits.run(createConnection('a'), work).then(
      () => 'done',
      (error) => error.kind,
    ),
  );
  await settle();
  while (running.size > 0) await endAll();
  const counts = Object.groupBy(await Promise.all(outcomes), (outcome) => outcome);
  expect(counts.done).toHaveLength(503);
  expect(counts.RATE_LIMITED).toHaveLength(4);
});

test('lets another project call the provider while many projects hang', async () => {
  const limits = createLimiter();
  const { work, running, endAll } = createGate();
  for (let project = 0; project < 10; project += 1) {
    for (let number = 0; number < 20; number += 1) {
      const connection = createConnection(`${project}.${number}`, { projectId: `prj_${project}` });
      for (let count = 0; count < 3; count += 1) void limits.run(connection, work);
    }
  }
  await settle();
  expect(
    await limits.run(createConnection('quiet', { projectId: 'quiet' }), async () => 'yes'),
  ).toBe('yes');
  while (running.size > 0) await endAll();
});

test('reserves capacity for other projects, and for other providers', async () => {
  const limits = createLimiter();
  const { work, running, endAll } = createGate();
  const connections = Array.from({ length: 30 }, (_, index) => `noisy ${index}`);
  const noisyRequests = connections.flatMap((id) =>
    Array.from({ length: 2 }, () => limits.run(createConnection(id), work)),
  );
  await settle();
  expect(running.size).toBe(32);
  const quiet = createConnection('quiet', { projectId: 'prj_2' });
  expect(await limits.run(quiet, async () => 'done')).toBe('done');
  const otherProvider = {
    ...createConnection('elsewhere'),
    provider: { ...quiet.provider, name: 'other' },
  };
  expect(await limits.run(otherProvider, async () => 'done')).toBe('done');
  while (running.size > 0) await endAll();
  await Promise.all(noisyRequests);
});

test('serves waiting connections in turn', async () => {
  const limits = createLimiter();
  const { work, running, endAll } = createGate();
  for (let index = 0; index < 32; index += 1) {
    for (let count = 0; count < 3; count += 1) void limits.run(createConnection(`c${index}`), work);
  }
  const lateWork = vi.fn(async () => {});
  const lateRequest = limits.run(createConnection('late'), lateWork);
  await settle();
  expect(running.size).toBe(32);
  await endAll();
  await endAll();
  await endAll();
  await lateRequest;
  expect(lateWork).toHaveBeenCalledOnce();
  while (running.size > 0) await endAll();
});

function createProviderCaller(
  name: string,
  ids: { projectId: string; connectionId: string },
): LimitedConnection {
  const connection = createConnection(ids.connectionId, ids);
  return { ...connection, provider: { ...connection.provider, name } };
}

/** Sends two requests of each of 25 connections to each of several providers that do not respond. */
function callProviders(limits: ProviderLimits, work: () => Promise<void>, projectId: string) {
  for (let provider = 0; provider < 8; provider += 1) {
    for (let connection = 0; connection < 25; connection += 1) {
      const ids = { projectId, connectionId: `${projectId}.${provider}.${connection}` };
      for (let count = 0; count < 2; count += 1) {
        void limits.run(createProviderCaller(`crm ${provider}`, ids), work);
      }
    }
  }
}

test('limits the total requests of a project to all providers', async () => {
  const limits = createLimiter();
  const { work, running, endAll } = createGate();
  callProviders(limits, work, 'noisy');
  await settle();
  expect(running.size).toBe(96);
  let endedCount = 0;
  while (running.size > 0) {
    endedCount += running.size;
    await endAll();
  }
  expect(endedCount).toBe(400);
});

test('reserves capacity for the next project while others use many providers', async () => {
  const limits = createLimiter();
  const { work, running, endAll } = createGate();
  for (let project = 0; project < 6; project += 1) callProviders(limits, work, `noisy ${project}`);
  await settle();
  expect(running.size).toBeLessThan(224);
  const quiet = createProviderCaller('another', { projectId: 'quiet', connectionId: 'quiet' });
  expect(await limits.run(quiet, async () => 'yes')).toBe('yes');
  while (running.size > 0) await endAll();
});
