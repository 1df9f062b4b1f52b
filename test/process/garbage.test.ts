/**
 * The objects of a request become garbage when its response ends, so that V8 never has to move them. If an
 * object of the old generation refers to a request, V8 moves its objects to the old generation
 * (docs/decisions/048-request-object-lifetime.md).
 *
 * @module-tag all/process
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { GCProfiler } from 'node:v8';
import { expect, onTestFinished, test } from 'vitest';
import { HIGH_RATE_LIMITS } from '../support/app.ts';
import { startServerProcess } from '../support/process/server-process.ts';

/** A small young generation is collected often, so that few requests suffice. */
const YOUNG_GENERATION_MB = 4;
/** With half as many requests, the compilation of the code moves a visible share. */
const REQUEST_COUNT = 800;
/** The measured share is 0.01. With four requests at a time it is 0.01 or 0.05, depending on how they overlap. */
const MOVED_SHARE_MAX = 0.04;
const DEMO_QUERY = `query Demo { project(idOrName: "demo") {
  id name createTime
  integrations(first: 20) { edges { node { id name createTime } } }
  operations(first: 50) { edges { node { id status actionType createTime metadata { objects } } } }
  notificationEvents(first: 50) { edges { node { id } } }
} }`;

test('leaves the objects of requests in the young generation', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-garbage-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const COLLECTIONS_FILE = join(folder, 'collections.json');
  const preloadFile = join(import.meta.dirname, '../support/process/collections.ts');
  const server = await startServerProcess({
    ...HIGH_RATE_LIMITS,
    NODE_OPTIONS: `--max-semi-space-size=${YOUNG_GENERATION_MB} --import ${pathToFileURL(preloadFile).href}`,
    COLLECTIONS_FILE,
  });
  const headers = { 'x-api-key': server.demo.apiKey, 'content-type': 'application/json' };
  const body = JSON.stringify({ query: DEMO_QUERY });
  // One after the other: requests that overlap stay alive during more collections, by chance.
  for (let sentCount = 0; sentCount < REQUEST_COUNT; sentCount += 1) {
    const response = await fetch(`${server.demo.url}/graphql`, { method: 'POST', headers, body });
    expect(await response.json()).toMatchObject({ data: { project: { name: 'demo' } } });
  }
  await server.stop();

  const collections: Statistics[] = JSON.parse(readFileSync(COLLECTIONS_FILE, 'utf8'));
  const scavenges = collections.filter(({ gcType }) => gcType === 'Scavenge');
  // The first collections belong to the start, and to requests whose code is not compiled yet.
  const laterScavenges = scavenges.slice(Math.ceil(scavenges.length / 2));
  const movedBytes = sum(
    laterScavenges,
    ({ beforeGC, afterGC }) => getUsedBytes(afterGC, 'old') - getUsedBytes(beforeGC, 'old'),
  );
  const freedBytes = sum(
    laterScavenges,
    ({ beforeGC, afterGC }) => getUsedBytes(beforeGC, 'new') - getUsedBytes(afterGC, 'new'),
  );
  expect(laterScavenges.length).toBeGreaterThan(1);
  expect(movedBytes / freedBytes).toBeLessThan(MOVED_SHARE_MAX);
}, 180_000);

type Statistics = ReturnType<GCProfiler['stop']>['statistics'][number];

function getUsedBytes(
  { heapSpaceStatistics }: Statistics['beforeGC'],
  name: 'old' | 'new',
): number {
  const space = heapSpaceStatistics.find(({ spaceName }) => spaceName === `${name}_space`);
  return space?.spaceUsedSize ?? Number.NaN;
}

function sum<T>(items: readonly T[], getAmount: (item: T) => number): number {
  return items.reduce((total, item) => total + getAmount(item), 0);
}
