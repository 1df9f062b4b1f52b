/** The reading workloads on the embedded database, which is in the server's own process. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { openPglite } from '../../src/database/database.ts';
import { createLog } from '../../src/log.ts';
import { newApiKey } from '../database.ts';
import { fill } from '../fill.ts';
import type { Flags } from '../flags.ts';
import { GATEWAY_ENV, type Peer } from '../peers.ts';
import { freePort } from '../processes/port.ts';
import { startServer } from '../processes/server.ts';
import { DOCUMENTS, nodeVariables, type Variables, type Workload } from '../workloads.ts';
import { measureWorkload, type Result } from './requests.ts';

/** What someone may well have in an embedded database, and what fills in a quarter of a minute. */
const MOST_OPERATIONS = 50_000;
const WORKLOADS: Workload[] = ['W1', 'W1-deep', 'W2', 'W3'];

export async function measureEmbedded(flags: Flags): Promise<Result[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-embedded-'));
  try {
    const operations = Math.min(flags.operations, MOST_OPERATIONS);
    const { apiKey, nodes } = await fillEmbedded(folder, operations, flags.seed);
    await using server = await startServer({
      script: 'src/main.ts',
      port: await freePort(),
      env: { ...GATEWAY_ENV, DATA_DIR: folder },
      readyPath: '/readyz',
    });
    const peer: Peer = {
      name: 'gateway',
      server,
      documents: DOCUMENTS,
      headers: { 'x-api-key': apiKey },
      [Symbol.asyncDispose]: async () => {},
    };
    const results = [];
    for (const workload of WORKLOADS) {
      results.push(
        await measureWorkload([peer], workload, { nodes, flags: { ...flags, operations } }),
      );
    }
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fillEmbedded(folder: string, operations: number, seed: number) {
  const dataDir = join(folder, 'database');
  mkdirSync(dataDir, { recursive: true });
  const pglite = await PGlite.create({ dataDir });
  await using _database = await openPglite(pglite, createLog('error'));
  const sizes = { operations, connections: operations / 50, events: operations / 10 };
  await fill((sql) => pglite.exec(sql), sizes, seed);
  const { apiKey, statements } = newApiKey();
  for (const { text, values } of statements) await pglite.query(text, values);
  const { text, values } = nodeVariables(seed);
  const { rows } = await pglite.query<Variables>(text, values);
  return { apiKey, nodes: rows };
}
