import { expect, test } from 'vitest';
import { inTransaction } from '../../src/database/transaction.ts';
import { newId } from '../../src/ids.ts';
import { startJobs } from '../../src/jobs/job-worker.ts';
import type { EnqueueOptions } from '../../src/jobs/queue.ts';
import { getSharedApp } from '../support/app.ts';

const { services } = (await getSharedApp()).app;
const projectId = newId('prj');

function enqueue(taskId: string, options?: EnqueueOptions) {
  return inTransaction(services.database, (tx) =>
    services.queue.enqueue(
      tx,
      'run-write',
      { projectId, taskId },
      { singletonKey: crypto.randomUUID(), ...options },
    ),
  );
}

/** Starts workers that record each run. `waitForRuns` waits for a number of runs of a task. */
async function startRecordingWorker(handler: (taskId: string) => Promise<void> = async () => {}) {
  const runs: string[] = [];
  let runRecorded = Promise.withResolvers<void>();
  const workers = await startJobs(services, {
    handlers: {
      'run-write': async (_services, { taskId }) => {
        runs.push(taskId);
        runRecorded.resolve();
        runRecorded = Promise.withResolvers();
        await handler(taskId);
      },
    },
    sweeps: [],
  });
  return {
    runs,
    async waitForRuns(taskId: string, times = 1) {
      while (runs.filter((run) => run === taskId).length < times) await runRecorded.promise;
    },
    [Symbol.asyncDispose]: () => workers[Symbol.asyncDispose](),
  };
}

test('enqueues a job only if its transaction commits', async () => {
  await using workers = await startRecordingWorker();
  const rolledBack = { projectId, taskId: 'undone' };
  const failedTransaction = inTransaction(services.database, async (tx) => {
    await services.queue.enqueue(tx, 'run-write', rolledBack, { singletonKey: 'undone' });
    throw new Error('rolled back');
  });
  await expect(failedTransaction).rejects.toThrow('rolled back');
  await enqueue('done');
  await workers.waitForRuns('done');
  expect(workers.runs).toEqual(['done']);
});

test('runs a job that was enqueued while no worker ran', async () => {
  await enqueue('early');
  await using workers = await startRecordingWorker();
  await workers.waitForRuns('early');
});

test('retries a job whose handler fails', async () => {
  let failures = 0;
  await using workers = await startRecordingWorker(async () => {
    failures += 1;
    if (failures === 1) throw new Error('not this time');
  });
  await enqueue('failing');
  await workers.waitForRuns('failing', 2);
});

test('queues at most one job for a key', async () => {
  await enqueue('twice', { singletonKey: 'key' });
  await enqueue('twice', { singletonKey: 'key' });
  await enqueue('last');
  await using workers = await startRecordingWorker();
  // Both jobs run concurrently, so their order is not defined.
  await Promise.all([workers.waitForRuns('twice'), workers.waitForRuns('last')]);
  expect(workers.runs.filter((run) => run === 'twice')).toHaveLength(1);
});

test('runs a job at its start time', async () => {
  await enqueue('tomorrow', { startAfter: new Date(Date.now() + 86_400_000) });
  await enqueue('today');
  await using workers = await startRecordingWorker();
  await workers.waitForRuns('today');
  expect(workers.runs).toEqual(['today']);
});

test('reserves workers for other groups', async () => {
  const released = Promise.withResolvers<void>();
  await using workers = await startRecordingWorker((taskId) =>
    taskId === 'slow' ? released.promise : Promise.resolve(),
  );
  for (let count = 0; count < 40; count += 1) await enqueue('slow', { group: 'greedy' });
  await enqueue('quiet', { group: 'quiet' });
  await workers.waitForRuns('quiet');
  released.resolve();
  await workers.waitForRuns('slow', 40);
});

test('finishes running jobs on stop', async () => {
  const released = Promise.withResolvers<void>();
  let isFinished = false;
  const workers = await startRecordingWorker(async () => {
    await released.promise;
    isFinished = true;
  });
  await enqueue('begun');
  await workers.waitForRuns('begun');
  const stopped = workers[Symbol.asyncDispose]();
  released.resolve();
  await stopped;
  expect(isFinished).toBe(true);
});

test('refuses an invalid payload when it is enqueued', async () => {
  const invalidEnqueue = inTransaction(services.database, (tx) =>
    services.queue.enqueue(tx, 'run-write', { task: 'x' } as never, { singletonKey: 'x' }),
  );
  await expect(invalidEnqueue).rejects.toThrow('taskId');
  await expect(enqueue('x', { singletonKey: undefined })).rejects.toThrow('singletonKey');
});

test('repeats a sweep, even after a failure', async () => {
  const ranAgain = Promise.withResolvers<void>();
  let runs = 0;
  await using _workers = await startJobs(services, {
    handlers: {},
    sweeps: [
      {
        name: 'test',
        intervalMs: 1,
        run: async () => {
          runs += 1;
          if (runs === 1) throw new Error('not this time');
          ranAgain.resolve();
        },
      },
    ],
  });
  await ranAgain.promise;
});
