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
let output = '';

beforeAll(async () => {
  // PostgreSQL may run as another user, who must reach its data. The bench itself starts one from the project's folder,
  // which may be closed to that user.
  chmodSync(folder, 0o755);
  const postgres = await startPostgres(join(folder, 'postgres'));
  const script = join(import.meta.dirname, 'main.ts');
  const args = [script, '--smoke', '--results', folder, '--servers', postgres.url];
  try {
    const options = { maxBuffer: 2 ** 26, timeout: RUN_MS };
    output = (await promisify(execFile)(process.execPath, args, options)).stdout;
  } finally {
    await postgres.stop();
  }
}, RUN_MS);

// biome-ignore lint/suspicious/noExplicitAny: each part has results of its own form.
const readResults = (part: Part): any =>
  JSON.parse(readFileSync(join(folder, `${part}.json`), 'utf8')).results;

/** A phrase from the title of each part's table. */
const TITLES: Record<Part, string> = {
  requests: 'W0: ',
  'fan-out': 'Fan-out to 20 subscribers',
  deliveries: 'Deliveries to webhooks',
  moving: 'Records that are moved',
  'event-log': "Events of one project's log",
  inbound: 'Events of providers',
  'scale-out': 'Processes on one PostgreSQL',
  'start-up': 'Start to the first response',
  embedded: 'On the embedded database',
  observing: 'Metrics and traces',
  callers: 'Callers, W0',
  retention: 'old deliveries removed per second',
};

/** Figures that need a longer run, or a server that the bench itself has started. */
const OPTIONAL_FIGURES = new Set([
  'databaseCpuMs',
  'databaseCpuMsPerRequest',
  'databaseMicrosPerDelivery',
  'p50Ms',
  'p99Ms',
]);

/** Figures that cannot be zero, however short the run is. */
const POSITIVE_FIGURES = new Set([
  'count',
  'idleBytes',
  'memoryBytes',
  'perSecond',
  'plainPostsPerSecond',
  'ratio',
  'requestsPerSecond',
  'startMs',
  'withWaitingBytes',
]);

/** Returns the paths of figures that are negative, missing (null in JSON), or zero although they cannot be. */
function listImpossibleFigures(value: unknown, path = ''): string[] {
  const name = path.split('.').at(-1) ?? '';
  if (value === null) return OPTIONAL_FIGURES.has(name) ? [] : [path];
  if (typeof value === 'number') {
    const isPossible = POSITIVE_FIGURES.has(name) ? value > 0 : value >= 0;
    return isPossible ? [] : [`${path}: ${value}`];
  }
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, member]) =>
    listImpossibleFigures(member, `${path}.${key}`),
  );
}

test.each(PARTS)('prints possible figures of the part %s', (part) => {
  const results = readResults(part);
  expect(Object.keys(results).length).toBeGreaterThan(0);
  expect(listImpossibleFigures(results)).toEqual([]);
  expect(output).toContain(TITLES[part]);
});

test('compares servers with and without metrics and traces', () => {
  const measured = readResults('observing').map(
    ({ workload, name }: { workload: string; name: string }) => `${workload} ${name}`,
  );
  const names = [
    'neither',
    'neither, again',
    'metrics and traces, none sampled',
    'metrics, a tenth traced',
  ];
  const expected = ['W1', 'W3'].flatMap((workload) => names.map((name) => `${workload} ${name}`));
  expect(measured).toEqual(expected);
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
