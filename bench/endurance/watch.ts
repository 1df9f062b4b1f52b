/** Samples the gateway's resource use and its latencies since the last sample. */
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { usingClient } from '../database.ts';
import type { Server } from '../processes/server.ts';
import { computeQuantile } from '../statistics.ts';

const MIB = 2 ** 20;

export interface Sample {
  /** Seconds since the work began. */
  seconds: number;
  memoryMib: number;
  /** Open descriptors, except files of an embedded database, which stay open after the first read. */
  descriptors: number;
  connections: number;
  databaseMib: number;
  /** Dead rows, in percent of all rows; null on the embedded database, which no other process can query. */
  deadPercent: number | null;
  p50Ms: number;
  p99Ms: number;
  perSecond: number;
}

export interface WatchTarget {
  server: Server;
  metricsPort: number;
  /** Null for the embedded database. */
  url: string | null;
  folder: string;
}

/** Starts sampling. Call the returned function with the latencies since its last call. */
export function createSampler(target: WatchTarget): (latencies: number[]) => Promise<Sample> {
  const startMs = performance.now();
  let lastMs = startMs;
  return (latencies) => {
    const nowMs = performance.now();
    const period = { seconds: (nowMs - startMs) / 1_000, sinceMs: nowMs - lastMs };
    lastMs = nowMs;
    return takeSample(target, latencies, period);
  };
}

async function takeSample(
  { server, metricsPort, url, folder }: WatchTarget,
  latencies: number[],
  { seconds, sinceMs }: { seconds: number; sinceMs: number },
): Promise<Sample> {
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  let connections = 0;
  for (const [, count] of metrics.matchAll(/^db_client_connection_count(?:{[^}]*})? (\S+)$/gm)) {
    connections += Number(count);
  }
  const sorted = Float64Array.from(latencies).sort();
  return {
    seconds: Math.round(seconds),
    memoryMib: server.readMemoryBytes() / MIB,
    descriptors: countDescriptors(server.pid, folder),
    connections,
    ...(url
      ? await readDatabaseFigures(url)
      : { databaseMib: measureMib(folder), deadPercent: null }),
    p50Ms: computeQuantile(sorted, 0.5),
    p99Ms: computeQuantile(sorted, 0.99),
    perSecond: latencies.length / (sinceMs / 1_000),
  };
}

function countDescriptors(pid: number, folder: string): number {
  const links = `/proc/${pid}/fd`;
  return readdirSync(links).filter((name) => !isFileIn(folder, join(links, name))).length;
}

function isFileIn(folder: string, link: string): boolean {
  try {
    return readlinkSync(link).startsWith(join(folder, 'database'));
  } catch {
    // The descriptor was closed in the meantime.
    return true;
  }
}

const DATABASE_FIGURES = `
  select pg_database_size(current_database())::float8 / ${MIB} as "databaseMib",
    (100.0 * sum(n_dead_tup) / greatest(sum(n_live_tup + n_dead_tup), 1))::float8 as "deadPercent"
  from pg_stat_user_tables`;

async function readDatabaseFigures(
  url: string,
): Promise<Pick<Sample, 'databaseMib' | 'deadPercent'>> {
  return usingClient(url, async (client) => {
    const { rows } =
      await client.query<Pick<Sample, 'databaseMib' | 'deadPercent'>>(DATABASE_FIGURES);
    const [row] = rows;
    if (!row) throw new Error('pg_stat_user_tables returned no row.');
    return row;
  });
}

/** Returns the size of the folder. A file may disappear before it is inspected. */
function measureMib(folder: string): number {
  const sizes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0) / MIB;
}
