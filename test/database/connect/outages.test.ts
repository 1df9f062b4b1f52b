import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Outages } from '../../../src/database/connect/outages.ts';
import { ServiceUnavailable } from '../../../src/kernel/errors.ts';

function createOutages(quietMs?: number) {
  const lines: { msg: string; kind: string; failures?: number }[] = [];
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
  return { lines, outages: new Outages(log, quietMs === undefined ? {} : { quietMs }) };
}

const createCodedError = (code: string) => Object.assign(new Error('no'), { code });
const socketError = Object.assign(new Error('connect'), {
  code: 'ECONNREFUSED',
  syscall: 'connect',
});

test('maps only failures of the database to ServiceUnavailable', () => {
  const { outages, lines } = createOutages();
  const failures = [
    ...['08006', '28P01', '3D000', '57P01', '53300', '53100', '25006', '57014', 'P2028'].map(
      createCodedError,
    ),
    socketError,
    new AggregateError([socketError]),
    new Error('Connection terminated unexpectedly'),
    new Error('timeout exceeded when trying to connect'),
  ];
  for (const cause of failures) {
    const callerError = outages.toCallerError(cause) as ServiceUnavailable;
    expect(callerError).toBeInstanceOf(ServiceUnavailable);
    expect(callerError.cause).toBe(cause);
    expect(callerError.problem).toMatchObject({
      status: 503,
      retryAfterSeconds: expect.any(Number),
    });
    expect(outages.toCallerError(callerError)).toBe(callerError);
  }
  for (const error of [
    createCodedError('23505'),
    createCodedError('42601'),
    createCodedError('P2002'),
    new Error('no'),
  ])
    expect(outages.toCallerError(error)).toBe(error);
  expect(lines.map(({ kind }) => kind)).toEqual([
    'UNREACHABLE',
    'BUSY',
    'FULL',
    'READ_ONLY',
    'SLOW',
  ]);
  outages[Symbol.dispose]();
});

test('logs the start and the end of an outage', async () => {
  const { outages, lines } = createOutages(1);
  for (let count = 0; count < 3; count += 1) outages.toCallerError(socketError);
  await expect.poll(() => lines).toHaveLength(2);
  expect(lines).toMatchObject([
    { msg: 'database.failed', kind: 'UNREACHABLE' },
    { msg: 'database.recovered', kind: 'UNREACHABLE', failures: 3 },
  ]);
});

test('replaces a timeout with ServiceUnavailable only during an outage', () => {
  const { outages } = createOutages();
  const timeout = new Error('late');
  expect(outages.replaceTimeoutError(timeout)).toBe(timeout);
  outages.toCallerError(socketError);
  expect(outages.replaceTimeoutError(timeout)).toBeInstanceOf(ServiceUnavailable);
  outages[Symbol.dispose]();
  expect(outages.replaceTimeoutError(timeout)).toBe(timeout);
});
