/** Measures the time from the start of the process to its first response, and its idle memory. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../test/support/process/free-port.ts';
import type { FilledDatabase } from '../database.ts';
import type { Flags } from '../flags.ts';
import { GATEWAY_ENV } from '../peers.ts';
import { startServer } from '../processes/server.ts';
import { computeMedians } from '../statistics.ts';
import { formatTable } from '../table.ts';
import { copySnapshot } from './snapshot.ts';

const QUERY = JSON.stringify({ query: 'query GetViewer { viewer { __typename } }' });

export interface StartUpResult {
  database: string;
  startMs: number;
  memoryBytes: number;
}

export async function measureStartUp(
  filled: FilledDatabase,
  flags: Flags,
): Promise<StartUpResult[]> {
  const results: StartUpResult[] = [];
  for (let round = 0; round < flags.rounds; round += 1)
    results.push(...(await measureRound(filled, flags)));
  return [...Map.groupBy(results, ({ database }) => database).values()].map(computeMedians);
}

async function measureRound(
  { url, apiKey }: FilledDatabase,
  { smoke, sizes: { idleMs } }: Flags,
): Promise<StartUpResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-start-'));
  const readDemoKey = () => JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')).apiKey;
  const embedded = { env: { DATA_DIR: folder }, readApiKey: readDemoKey, idleMs };
  const postgres = {
    env: { ...GATEWAY_ENV, DATABASE_URL: url },
    readApiKey: () => apiKey,
    idleMs,
  };
  try {
    // A smoke run does not create a database, which takes longer than the rest of the part.
    if (smoke) await copySnapshot(folder);
    return [
      await measureStart('embedded, new, with the demo', embedded),
      // A smoke run starts each kind of database once.
      ...(smoke ? [] : [await measureStart('embedded, existing', embedded)]),
      await measureStart('PostgreSQL, existing', postgres),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface StartSettings {
  env: Record<string, string>;
  /** Returns the key of the first request. The first start with the demo creates it. */
  readApiKey(): string;
  idleMs: number;
}

async function measureStart(
  database: string,
  { env, readApiKey, idleMs }: StartSettings,
): Promise<StartUpResult> {
  const port = await findFreePort();
  const beginMs = performance.now();
  await using server = await startServer({
    script: 'src/main.ts',
    port,
    env,
    readyPath: '/readyz',
  });
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': readApiKey() },
    body: QUERY,
  });
  const text = await response.text();
  if (!text.startsWith('{"data":')) throw new Error(`The response to the first query is ${text}`);
  const startMs = performance.now() - beginMs;
  await sleep(idleMs);
  return { database, startMs, memoryBytes: server.readMemoryBytes() };
}

export function formatStartUpTable(results: StartUpResult[]): string {
  const rows = results.map(({ database, startMs, memoryBytes }) => [
    database,
    Math.round(startMs),
    Math.round(memoryBytes / 2 ** 20),
  ]);
  return `Start to the first response, and idle memory\n${formatTable(['', 'ms', 'MB'], rows)}\n`;
}
