/** The primary database server is lost, and its standby takes over. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { HIGH_RATE_LIMITS } from '../../support/app.ts';
import { CREATE_TOPIC } from '../../support/fixtures/webhooks.ts';
import { createClient, fetchFrom } from '../../support/graphql-client.ts';
import { startGateway } from '../fixtures/gateway.ts';
import { IS_SHORT } from '../fixtures/settings.ts';
import { startReplicatedServers } from './replicated-servers.ts';

// The short form runs on machines with other load.
const RECOVERY_MS_MAX = IS_SHORT ? 20_000 : 5_000;
const UNDER_LOAD_MS = IS_SHORT ? 1_000 : 10_000;
const WRITER_COUNT = 8;
const PROMOTION_DELAY_MS = 1_500;

test('accepts changes after a failover, and loses no acknowledged change', async () => {
  const servers = await startReplicatedServers();
  const gateway = await startGateway({
    DATABASE_URL: servers.url,
    // The writers of a fast machine would exceed the rate of one caller.
    ...HIGH_RATE_LIMITS,
  });
  const { apiKey, projectId } = servers.tenant;
  const client = createClient(fetchFrom(gateway.url), { 'x-api-key': apiKey });
  const acknowledgedNames: string[] = [];
  let writeCount = 0;
  let isOver = false;
  const write = async () => {
    writeCount += 1;
    const name = `topic-${writeCount}`;
    const input = { projectIdOrName: projectId, name };
    const { data, errors } = await client.request(CREATE_TOPIC, { input });
    if (data && !errors) acknowledgedNames.push(name);
    return errors?.[0]?.extensions.code ?? 'OK';
  };
  const codes = new Set<string>();
  const keepWriting = async () => {
    while (!isOver) {
      codes.add(await write());
      await delay(1);
    }
  };
  const writing = Promise.all(Array.from({ length: WRITER_COUNT }, keepWriting));
  onTestFinished(() => {
    isOver = true;
  });
  // By then, the standby is synchronous, so it has every acknowledged change.
  await expect
    .poll(() => acknowledgedNames.length, { timeout: 20_000 })
    .toBeGreaterThan(WRITER_COUNT);
  await delay(UNDER_LOAD_MS);

  await servers.killFirst();
  await delay(PROMOTION_DELAY_MS);
  await servers.promoteSecond();
  const promotedMs = performance.now();
  const acknowledgedCount = acknowledgedNames.length;
  await expect
    .poll(() => acknowledgedNames.length, { timeout: RECOVERY_MS_MAX, interval: 20 })
    .toBeGreaterThan(acknowledgedCount);
  console.log(`changes ${Math.round(performance.now() - promotedMs)} ms after the promotion`);
  const expectedCount = acknowledgedNames.length + WRITER_COUNT;
  await expect
    .poll(() => acknowledgedNames.length, { timeout: 20_000 })
    .toBeGreaterThan(expectedCount);
  isOver = true;
  await writing;

  expect([...codes].toSorted()).toEqual(['OK', 'SERVICE_UNAVAILABLE']);
  const topics = await servers.query<{ name: string }>('select name from "Topic"');
  const storedNames = new Set(topics.map(({ name }) => name));
  expect(acknowledgedNames.filter((name) => !storedNames.has(name))).toEqual([]);
  expect(gateway.lines.map(({ msg }) => msg)).toContain('database.primary_changed');
  expect(await gateway.stop()).toBe(0);
});
