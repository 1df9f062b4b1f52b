/**
 * Measures how many events per second one project can record, each with a topic and a webhook delivery: from one process
 * and from several, with fast commits and with slow commits.
 */
import type pg from 'pg';
import { newId } from '../../src/kernel/ids.ts';
import { insertProject } from '../bench-project.ts';
import { createEmptyDatabase, delayCommits, KEY_TEXT, usingClient } from '../database.ts';
import type { Flags } from '../flags.ts';
import type { Postgres } from '../postgres.ts';
import type { AppendRequest, AppendResult } from '../processes/appender.ts';
import { type Child, startChild } from '../processes/child.ts';
import { computeMedians, computeQuantile } from '../statistics.ts';
import { formatTable } from '../table.ts';

const COMMITS_MS = [0, 5];

export interface EventLogResult {
  callers: number;
  processes: number;
  commitMs: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time of the processes and of the database, per event. */
  cpuMs: number;
  databaseCpuMs: number;
}

export async function measureEventLog(postgres: Postgres, flags: Flags): Promise<EventLogResult[]> {
  const url = await createEmptyDatabase(postgres, 'bench_log');
  await using stack = new AsyncDisposableStack();
  const { logProcesses, logCallers } = flags.sizes;
  const children: Child[] = [];
  for (let count = 0; count < Math.max(...logProcesses); count += 1) {
    const env = { DATABASE_URL: url, ENCRYPTION_KEY: KEY_TEXT };
    children.push(stack.use(await startChild('appender.ts', env)));
  }
  return await usingClient(url, async (client) => {
    const projectId = await addRoutedProject(client);
    // This part analyzes the new tables itself, because it runs no worker.
    await appendEvents(postgres, children, {
      projectId,
      callers: 16,
      seconds: Math.min(1, flags.seconds),
    });
    await client.query('analyze');
    const results: EventLogResult[] = [];
    for (const commitMs of COMMITS_MS) {
      await delayCommits(client, commitMs);
      for (const processes of logProcesses) {
        for (const callers of logCallers) {
          const rounds: EventLogResult[] = [];
          for (let round = 0; round < flags.rounds; round += 1) {
            const request = { projectId, callers: callers / processes, seconds: flags.seconds };
            const figures = await appendEvents(postgres, children.slice(0, processes), request);
            rounds.push({ callers, processes, commitMs, ...figures });
          }
          results.push(computeMedians(rounds));
        }
      }
    }
    await delayCommits(client, 0);
    return results;
  });
}

async function appendEvents(
  postgres: Postgres,
  children: readonly Child[],
  request: AppendRequest,
) {
  const databaseMs = postgres.readCpuMs();
  const results = (await Promise.all(
    children.map((child) => child.request(request)),
  )) as AppendResult[];
  const count = results.reduce((sum, result) => sum + result.count, 0);
  const latenciesMs = Float64Array.from(results.flatMap((result) => result.latenciesMs)).sort();
  return {
    perSecond: count / request.seconds,
    p50Ms: computeQuantile(latenciesMs, 0.5),
    p99Ms: computeQuantile(latenciesMs, 0.99),
    cpuMs: results.reduce((sum, result) => sum + result.cpuMs, 0) / count,
    databaseCpuMs: (postgres.readCpuMs() - databaseMs) / count,
  };
}

/** Routes created connections to a topic and a webhook, whose deliveries no worker sends. */
async function addRoutedProject(client: pg.Client): Promise<string> {
  const projectId = await insertProject(client);
  const [topicId, destinationId] = [newId('top'), newId('dst')];
  const statements: [string, unknown[]][] = [
    [
      'insert into "Topic" (id, "projectId", name) values ($1, $2, $3)',
      [topicId, projectId, 'all'],
    ],
    [
      `insert into "Destination" (id, "projectId", name, type, url, "signingSecretSealed")
       values ($1, $2, $3, 'WEBHOOK', $4, 'none')`,
      [destinationId, projectId, 'receiver', 'https://receiver.example'],
    ],
    [
      `insert into "EventTopicRoute" (id, "projectId", "eventType", "topicId")
       values ($1, $2, 'CONNECTION_CREATED', $3)`,
      [newId('etr'), projectId, topicId],
    ],
    [
      `insert into "TopicDestinationRoute" (id, "projectId", "topicId", "destinationId")
       values ($1, $2, $3, $4)`,
      [newId('tdr'), projectId, topicId, destinationId],
    ],
  ];
  for (const [text, values] of statements) await client.query(text, values);
  return projectId;
}

export function formatEventLogTable(results: EventLogResult[]): string {
  const rows = results.map((result) => [
    `${result.callers} callers of ${result.processes === 1 ? 'one process' : `${result.processes} processes`}, commits ${result.commitMs === 0 ? 'quick' : `of ${result.commitMs} ms`}`,
    Math.round(result.perSecond),
    result.p50Ms.toFixed(1),
    result.p99Ms.toFixed(1),
    result.cpuMs.toFixed(3),
    result.databaseCpuMs.toFixed(3),
  ]);
  const head = ['', 'events/s', 'p50 ms', 'p99 ms', 'cpu ms', 'database'];
  return `Events of one project's log\n${formatTable(head, rows)}\n`;
}
