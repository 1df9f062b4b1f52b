/**
 * How many events per second one project's log takes, each with a topic and a webhook delivery, without other limits: by one
 * process and by several, with fast commits and with slow ones.
 */
import type pg from 'pg';
import { newId } from '../../src/ids.ts';
import { createEmptyDatabase, KEY_TEXT, usingClient } from '../database.ts';
import type { Flags } from '../flags.ts';
import { findMedianRound, quantile } from '../median.ts';
import type { Postgres } from '../postgres.ts';
import type { AppendRequest, AppendResult } from '../processes/appender.ts';
import { type Child, startChild } from '../processes/child.ts';
import { formatTable } from '../table.ts';
import { delayCommits } from './moving/moving.ts';

const PROCESSES = [1, 4];
const COMMITS_MS = [0, 5];

export interface EventLogFigures {
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

export async function measureEventLog(
  postgres: Postgres,
  flags: Flags,
): Promise<EventLogFigures[]> {
  const url = await createEmptyDatabase(postgres, 'bench_log');
  await using stack = new AsyncDisposableStack();
  const children: Child[] = [];
  for (let count = 0; count < Math.max(...PROCESSES); count += 1) {
    const env = { DATABASE_URL: url, ENCRYPTION_KEY: KEY_TEXT };
    children.push(stack.use(await startChild('appender.ts', env)));
  }
  return await usingClient(url, async (client) => {
    const projectId = await addRoutedProject(client);
    // Workers have PostgreSQL analyze new tables; here no worker runs.
    await append(postgres, children, {
      projectId,
      callers: 16,
      seconds: Math.min(1, flags.seconds),
    });
    await client.query('analyze');
    const results: EventLogFigures[] = [];
    for (const commitMs of COMMITS_MS) {
      await delayCommits(client, commitMs);
      for (const processes of PROCESSES) {
        for (const callers of flags.sizes.logCallers) {
          const rounds: EventLogFigures[] = [];
          for (let round = 0; round < flags.rounds; round += 1) {
            const request = { projectId, callers: callers / processes, seconds: flags.seconds };
            const figures = await append(postgres, children.slice(0, processes), request);
            rounds.push({ callers, processes, commitMs, ...figures });
          }
          results.push(findMedianRound(rounds));
        }
      }
    }
    await delayCommits(client, 0);
    return results;
  });
}

async function append(postgres: Postgres, children: readonly Child[], request: AppendRequest) {
  const databaseMs = postgres.cpuMs();
  const all = (await Promise.all(
    children.map((child) => child.request(request)),
  )) as AppendResult[];
  const count = all.reduce((sum, result) => sum + result.count, 0);
  const latenciesMs = Float64Array.from(all.flatMap((result) => result.latenciesMs)).sort();
  return {
    perSecond: count / request.seconds,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    cpuMs: all.reduce((sum, result) => sum + result.cpuMs, 0) / count,
    databaseCpuMs: (postgres.cpuMs() - databaseMs) / count,
  };
}

/** Routes created connections to a topic and a webhook, whose deliveries no worker sends. */
async function addRoutedProject(client: pg.Client): Promise<string> {
  const [org, project, topic, destination] = (['org', 'prj', 'top', 'dst'] as const).map(newId);
  const statements: [string, unknown[]][] = [
    ['insert into "Org" (id, label) values ($1, $1)', [org]],
    [
      'insert into "Project" (id, "orgId", name, "appName") values ($1, $2, $3, $3)',
      [project, org, 'log'],
    ],
    ['insert into "Topic" (id, "projectId", name) values ($1, $2, $3)', [topic, project, 'all']],
    [
      `insert into "Destination" (id, "projectId", name, type, url, "signingSecretSealed")
       values ($1, $2, $3, 'WEBHOOK', $4, 'none')`,
      [destination, project, 'receiver', 'https://receiver.example'],
    ],
    [
      `insert into "EventTopicRoute" (id, "projectId", "eventType", "topicId")
       values ($1, $2, 'CONNECTION_CREATED', $3)`,
      [newId('etr'), project, topic],
    ],
    [
      `insert into "TopicDestinationRoute" (id, "projectId", "topicId", "destinationId")
       values ($1, $2, $3, $4)`,
      [newId('tdr'), project, topic, destination],
    ],
  ];
  for (const [text, values] of statements) await client.query(text, values);
  return project as string;
}

export function formatEventLogTable(results: EventLogFigures[]): string {
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
