import { expect, test } from 'vitest';
import { startJobs } from '../../src/jobs/job-worker.ts';
import { sharedApp } from '../support/app.ts';

const { services } = (await sharedApp()).app;

test('sweeps begin in their order, so that a start leaves time for what is sent and answered beside them', async () => {
  const begun: string[] = [];
  const sweeps = ['first', 'second', 'third'].map((name) => ({
    name,
    intervalMs: 60_000,
    run: async () => void begun.push(name),
  }));
  await using _workers = await startJobs(services, { handlers: {}, sweeps });
  expect(begun).toEqual(['first']);
  await expect.poll(() => begun, { timeout: 20_000 }).toEqual(['first', 'second', 'third']);
});

test('what stops before a sweep has begun does not begin it', async () => {
  const begun: string[] = [];
  const sweep = (name: string) => ({ name, intervalMs: 1, run: async () => void begun.push(name) });
  const workers = await startJobs(services, {
    handlers: {},
    sweeps: [sweep('first'), sweep('second')],
  });
  await workers[Symbol.asyncDispose]();
  expect(begun).not.toContain('second');
});
