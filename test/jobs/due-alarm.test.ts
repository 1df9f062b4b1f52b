import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WORK_CHANNEL } from '../../src/database/transactions/notification-channels.ts';
import { DueAlarm, type DueWork } from '../../src/jobs/due-alarm.ts';
import { createLog } from '../../src/kernel/log.ts';
import { HOUR_MS } from '../../src/work/durations.ts';
import { getSharedApp } from '../support/app.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import { createInstallation, createIntegration } from '../support/fixtures/integrations.ts';

const app = await getSharedApp();
const { services } = app.app;
const POLLING = { interval: 10 };

/** Records each time at which the work is reported as due. */
function createSource(sql: string, intervalMsMin = 50) {
  const reportedMs: number[] = [];
  return {
    createDueTimeSql: () => sql,
    intervalMsMin,
    reportedMs,
    onDue: () => void reportedMs.push(performance.now()),
  };
}

function startAlarm(sources: DueWork[], log = services.log): void {
  const alarm = new DueAlarm({ ...services, log }, sources, { idleMs: HOUR_MS });
  alarm.start();
  onTestFinished(() => alarm[Symbol.asyncDispose]());
}

test('reports work when it is due, and not before', async () => {
  const startMs = performance.now();
  const time = new Date(services.now().getTime() + 500).toISOString();
  const laterWork = createSource(`select timestamptz '${time}'`, HOUR_MS);
  const neverDue = createSource('select null::timestamptz');
  startAlarm([neverDue, laterWork]);
  await expect.poll(() => laterWork.reportedMs.length, POLLING).toBe(1);
  expect(laterWork.reportedMs[0]).toBeGreaterThan(startMs + 450);
  expect(neverDue.reportedMs).toEqual([]);
});

test('reports due work repeatedly, at the interval of each source', async () => {
  const frequentWork = createSource('select now()', 20);
  const slowWork = createSource('select now()', HOUR_MS);
  startAlarm([frequentWork, slowWork]);
  await expect.poll(() => frequentWork.reportedMs.length, POLLING).toBeGreaterThan(3);
  expect(slowWork.reportedMs).toHaveLength(1);
});

test('checks after a notification instead of waiting an hour', async () => {
  const name = crypto.randomUUID();
  const { prisma } = services.database;
  const orgWork = createSource(
    `select now() from "Org" where "label" = '${name}' limit 1`,
    HOUR_MS,
  );
  const alwaysDue = createSource('select now()', HOUR_MS);
  startAlarm([orgWork, alwaysDue]);
  await expect.poll(() => alwaysDue.reportedMs.length, POLLING).toBe(1);
  await prisma.$transaction([
    prisma.$executeRaw`insert into "Org" ("id", "label", "createTime", "updateTime")
      values (${name}, ${name}, now(), now())`,
    prisma.$executeRaw`select pg_notify('gateway_events', '')`,
  ]);
  await expect.poll(() => orgWork.reportedMs.length, POLLING).toBe(1);
});

test('notifies of the first read of an installation, even if no topic routes its events', async () => {
  const tenant = await app.createTenant();
  await generateConnection(tenant);
  await createIntegration(app, tenant);
  const payloads: (string | undefined)[] = [];
  await using _listening = services.database.listen(WORK_CHANNEL, (payload) => {
    payloads.push(payload);
  });
  await expect.poll(() => payloads).toContain(undefined);
  await createInstallation(tenant);
  await expect.poll(() => payloads).toContain('upkeep');
});

test('logs a failing check once, and retries it', async () => {
  const lines: string[] = [];
  const log = createLog('warn', { write: (line: string) => void lines.push(line) });
  const name = `broken_${crypto.randomUUID().replaceAll('-', '')}`;
  const brokenWork = createSource(`select now() from ${name} limit 1`);
  startAlarm([brokenWork], log);
  await expect.poll(() => lines.length, POLLING).toBe(1);
  expect(lines[0]).toContain('due_work.unreadable');
  await services.database.prisma.$executeRawUnsafe(`create table ${name} as select 1`);
  onTestFinished(async () => {
    await services.database.prisma.$executeRawUnsafe(`drop table ${name}`);
  });
  await expect.poll(() => brokenWork.reportedMs.length, POLLING).toBeGreaterThan(0);
  await delay(0);
  expect(lines).toHaveLength(1);
});
