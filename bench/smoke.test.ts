/** Tests that every part of the bench works, with counts so small that the figures mean nothing. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPostgres } from '../test/support/database/postgres.ts';
import { PARTS, type Part } from './flags.ts';
import { MOVING_WORKLOADS } from './parts/moving/documents.ts';
import { listInstalledPeers } from './peers.ts';
import { WORKLOADS } from './workloads.ts';

const RUN_MS = 20 * 60_000;
const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-smoke-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const peers = listInstalledPeers();

beforeAll(async () => {
  // PostgreSQL may run as another user, who must reach its data. The bench itself starts one from the project's folder,
  // which may be closed to that user.
  chmodSync(folder, 0o755);
  const postgres = await startPostgres(join(folder, 'postgres'));
  const script = join(import.meta.dirname, 'main.ts');
  const args = [script, '--smoke', '--results', folder, '--servers', postgres.url];
  try {
    await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26, timeout: RUN_MS });
  } finally {
    await postgres.stop();
  }
}, RUN_MS);

// biome-ignore lint/suspicious/noExplicitAny: each part has results of its own form.
const readResults = (part: Part): any =>
  JSON.parse(readFileSync(join(folder, `${part}.json`), 'utf8')).results;

/** Figures that need a longer run, or a server that the bench itself has started. */
const OPTIONAL_FIGURES = new Set([
  'databaseCpuMs',
  'databaseCpuMsPerRequest',
  'databaseMicrosPerDelivery',
  'p50Ms',
  'p99Ms',
]);

/** Returns the paths of figures that are not finite, for which JSON has null. */
function listMissingFigures(value: unknown, path = ''): string[] {
  if (value === null) return OPTIONAL_FIGURES.has(path.split('.').at(-1) ?? '') ? [] : [path];
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, member]) =>
    listMissingFigures(member, `${path}.${key}`),
  );
}

test.each(PARTS)('measures all figures of the part %s', (part) => {
  const results = readResults(part);
  expect(Object.keys(results).length).toBeGreaterThan(0);
  expect(listMissingFigures(results)).toEqual([]);
});

describe('measures every installed peer', () => {
  test('in each workload', () => {
    const measured = readResults('requests').map(
      ({ workload, peer }: { workload: string; peer: string }) => `${workload} ${peer}`,
    );
    const expected = WORKLOADS.flatMap((workload) => peers.map((peer) => `${workload} ${peer}`));
    expect(measured.toSorted()).toEqual(expected.toSorted());
  });

  test('in the fan-out', () => {
    const measured = readResults('fan-out').map(({ subject }: { subject: string }) => subject);
    expect(measured).toEqual([
      ...(peers.includes('mercurius') ? ['WebSocket, mercurius'] : []),
      'WebSocket, gateway',
      'SSE, gateway',
      'SSE, gateway, a stream',
    ]);
  });

  test('in each workload that moves records', () => {
    const measured = readResults('moving').map(
      ({ work, peer }: { work: string; peer: string }) => `${work} ${peer}`,
    );
    const expected = MOVING_WORKLOADS.flatMap((name) => [`${name} limit`, `${name} gateway`]);
    expect(measured.toSorted()).toEqual(expected.toSorted());
  });
});
