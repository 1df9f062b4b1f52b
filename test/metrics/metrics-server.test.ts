import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createLog } from '../../src/kernel/log.ts';
import { startMetricsServer } from '../../src/metrics/metrics.ts';

test('returns 500 and logs the error if the metrics cannot be collected', async () => {
  const lines: { msg: string }[] = [];
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const updateGauges = () => Promise.reject(new Error('The database does not respond.'));
  const options = { host: '127.0.0.1', port: 0, updateGauges, log };
  await using server = await startMetricsServer(new Registry(), options);
  const response = await fetch(server.url);
  expect(response.status).toBe(500);
  expect(lines.map(({ msg }) => msg)).toEqual(['metrics.failed']);
});
