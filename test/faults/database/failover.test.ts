/** The primary database server is lost, and its standby takes over. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../fixtures/gateway.ts';
import { startReplicatedServers } from './replicated-servers.ts';

/** FAULTS_SHORT=1 runs the short form, for machines with other load. */
const isShort = process.env.FAULTS_SHORT === '1';
const BACK_MS = isShort ? 20_000 : 5_000;
const UNDER_LOAD_MS = isShort ? 1_000 : 10_000;
const WRITERS = 8;
const AWAY_MS = 1_500;

test('accepts changes again after a failover and loses no acknowledged change', async () => {
  const servers = await startReplicatedServers();
  const gateway = await startGateway({ DATABASE_URL: servers.url });
  const { apiKey, projectId } = servers.tenant;
  const acknowledged: string[] = [];
  let made = 0;
  let isOver = false;
  const write = async () => {
    made += 1;
    const name = `topic-${made}`;
    const query = `mutation { createTopic(input: { projectIdOrName: "${projectId}", name: "${name}" }) { topic { id } } }`;
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: JSON.stringify({ query }),
    });
    const { data, errors } = (await response.json()) as { data?: object; errors?: Refusal[] };
    if (data && !errors) acknowledged.push(name);
    return errors?.[0]?.extensions.code ?? 'OK';
  };
  const codes = new Set<string>();
  const keepWriting = async () => {
    while (!isOver) {
      codes.add(await write());
      await delay(1);
    }
  };
  const writing = Promise.all(Array.from({ length: WRITERS }, keepWriting));
  onTestFinished(() => {
    isOver = true;
  });
  // From now on, the standby has every acknowledged change.
  await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(WRITERS);
  await delay(UNDER_LOAD_MS);

  await servers.killFirst();
  await delay(AWAY_MS);
  await servers.promoteSecond();
  const promotedMs = performance.now();
  const before = acknowledged.length;
  await expect
    .poll(() => acknowledged.length, { timeout: BACK_MS, interval: 20 })
    .toBeGreaterThan(before);
  console.log(`changes ${Math.round(performance.now() - promotedMs)} ms after the promotion`);
  const again = acknowledged.length + WRITERS;
  await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(again);
  isOver = true;
  await writing;

  expect([...codes].toSorted()).toEqual(['OK', 'SERVICE_UNAVAILABLE']);
  const kept = await servers.query<{ name: string }>('select name from "Topic"');
  const names = new Set(kept.map(({ name }) => name));
  expect(acknowledged.filter((name) => !names.has(name))).toEqual([]);
  expect(gateway.lines.map(({ msg }) => msg)).toContain('database.primary_changed');
  expect(await gateway.stop()).toBe(0);
});

interface Refusal {
  extensions: { code: string };
}
