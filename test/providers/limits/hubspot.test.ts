/** Tests reads that meet HubSpot's late search index, and its rate limits. */
import { expect, test } from 'vitest';
import { getReadTiming } from '../../../src/providers/behavior.ts';
import { createHubspotProvider } from '../../../src/providers/hubspot/hubspot-provider.ts';
import { MINUTE_MS } from '../../../src/work/durations.ts';
import { type HubspotServer, startHubspotServer } from '../../support/providers/hubspot-server.ts';
import { createHubspotError } from '../../support/providers/hubspot-store.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import { atMinute, catchFailure } from '../contract-subject.ts';

const { readPage, getBehavior } = getCapabilities();

function getCapabilities() {
  const { capabilities } = createHubspotProvider();
  return capabilities as Required<typeof capabilities>;
}

function createSession(server: HubspotServer) {
  return createPlainSession(server.url, { authorization: 'Bearer hubspot-token' });
}

const READ = { objectName: 'deals', fields: ['dealname'], pageSize: 200 };

test('reads each record that the search index shows four minutes late', async () => {
  let now = atMinute(0);
  await using server = await startHubspotServer({ now: () => now });
  server.store.indexDelayMs = 4 * MINUTE_MS;
  const { settleMs, lookBackMs } = getReadTiming(getBehavior('deals'));
  const createdIds: string[] = [];
  const readIds: string[] = [];
  let since = atMinute(-60);
  for (let minute = 1; minute <= 30; minute += 1) {
    now = atMinute(minute);
    if (minute <= 20) createdIds.push(server.store.create('deals', { dealname: 'one' }).id);
    const until = new Date(now.getTime() - settleMs);
    const { records } = await readPage(createSession(server), { ...READ, since, until });
    readIds.push(...records.map(({ id }) => id));
    since = new Date(until.getTime() - lookBackMs);
  }
  expect([...new Set(readIds)].toSorted()).toEqual(createdIds);
});

test('lists records for a full read although the search index lags', async () => {
  await using server = await startHubspotServer({ now: () => atMinute(1) });
  server.store.indexDelayMs = 10 * MINUTE_MS;
  const { id } = server.store.create('deals', { dealname: 'new' });
  const { records } = await readPage(createSession(server), READ);
  expect(records.map((record) => record.id)).toEqual([id]);
});

test.each([
  ['SECONDLY', 1_000],
  ['TEN_SECONDLY_ROLLING', 10_000],
  ['DAILY', 3_600_000],
  ['UNKNOWN_POLICY', null],
])('waits after the limit %s without Retry-After', async (policyName, retryAfterMs) => {
  await using server = await startHubspotServer();
  const error = createHubspotError('You have reached your limit.', 'RATE_LIMITS');
  server.failNext({ status: 429, body: { ...error, policyName } });
  expect(await catchFailure(readPage(createSession(server), READ))).toMatchObject({
    kind: 'RATE_LIMITED',
    retryAfterMs,
  });
});
