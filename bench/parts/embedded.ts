/** Measures the workloads that read on the embedded database, which runs in a thread of the server's process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEngine } from '../../src/database/connect/embedded/engine.ts';
import { findFreePort } from '../../test/support/process/free-port.ts';
import { createApiKey } from '../database.ts';
import { fillDatabase } from '../fill.ts';
import type { Flags } from '../flags.ts';
import { createGatewayPeer, GATEWAY_ENV } from '../peers.ts';
import { startServer } from '../processes/server.ts';
import { createNodeQuery, type Variables, type Workload } from '../workloads.ts';
import { measureWorkload, type WorkloadResult } from './requests.ts';
import { copySnapshot } from './snapshot.ts';

/** A realistic number of operations for an embedded database, which takes 15 s to fill. */
const OPERATIONS_MAX = 50_000;
const WORKLOADS: Workload[] = ['W1', 'W1-deep', 'W2', 'W3'];

export async function measureEmbedded(flags: Flags): Promise<WorkloadResult[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-embedded-'));
  try {
    const operations = Math.min(flags.operations, OPERATIONS_MAX);
    const { apiKey, nodes } = await fillEmbedded(folder, operations, flags.seed);
    await using server = await startServer({
      script: 'src/main.ts',
      port: await findFreePort(),
      env: { ...GATEWAY_ENV, DATA_DIR: folder },
      readyPath: '/readyz',
    });
    const peer = createGatewayPeer(server, apiKey);
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
  await copySnapshot(folder);
  await using engine = await startEngine(folder, (failure) => {
    throw failure;
  });
  const client = new pg.Client(engine.address);
  await client.connect();
  const sizes = { operations, connections: operations / 50, events: operations / 10 };
  await fillDatabase([client], sizes, seed);
  const { apiKey, statements } = createApiKey();
  for (const { text, values } of statements) await client.query(text, values);
  const { text, values } = createNodeQuery(seed);
  const { rows } = await client.query<Variables>(text, values);
  await client.end();
  return { apiKey, nodes: rows };
}
