import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Outage } from '../../src/work/outage.ts';

function createTestLog() {
  const lines: { msg: string; err: { message: string } }[] = [];
  const log = pino({ base: undefined }, { write: (line: string) => lines.push(JSON.parse(line)) });
  return { log, lines };
}

test('logs each outage once, with its first error', () => {
  const { log, lines } = createTestLog();
  const outage = new Outage(log, 'thing.unreadable');
  for (const text of ['one', 'two', 'three']) outage.recordFailure(new Error(text));
  expect(outage.isActive).toBe(true);
  outage.end();
  expect(outage.isActive).toBe(false);
  outage.recordFailure(new Error('four'));
  expect(lines.map(({ msg, err }) => [msg, err.message])).toEqual([
    ['thing.unreadable', 'one'],
    ['thing.unreadable', 'four'],
  ]);
});

test('logs a continuing outage again after the repeat time', () => {
  const { log, lines } = createTestLog();
  const outage = new Outage(log, 'thing.failed', { repeatMs: 0 });
  for (const text of ['one', 'two']) outage.recordFailure(new Error(text));
  expect(lines).toHaveLength(2);
});

test('ends the outage when watched work succeeds', async () => {
  const { log, lines } = createTestLog();
  const outage = new Outage(log, 'thing.failed');
  const fail = () => Promise.reject(new Error('no'));
  expect(await outage.watch(fail)).toBeUndefined();
  expect(await outage.watch(fail)).toBeUndefined();
  expect(await outage.watch(async () => 1)).toBe(1);
  await outage.watch(fail);
  expect(lines).toHaveLength(2);
});
