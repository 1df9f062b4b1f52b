/** Measures how the removal of expired deliveries affects concurrent work. */
import type pg from 'pg';
import { newId } from '../../../src/kernel/ids.ts';
import { createBenchProject, createExecute, createProject } from '../../bench-project.ts';
import { createEmptyDatabase, usingClient, waitForDeliveries } from '../../database.ts';
import { loadRows } from '../../fill.ts';
import type { Flags } from '../../flags.ts';
import { GATEWAY_ENV, startGateway } from '../../peers.ts';
import type { Postgres } from '../../postgres.ts';
import { startChild } from '../../processes/child.ts';
import { computeMedians, computeQuantile } from '../../statistics.ts';
import { formatTable } from '../../table.ts';
import { createConnectInput, MOVING_DOCUMENTS } from '../moving/documents.ts';
import { createSteadyRequests, type RequestKind, type TimedResponse } from './steady.ts';

const REQUESTS_PER_SECOND = 30;

export interface RetentionFigures {
  kind: string;
  count: number;
  p50Ms: number;
  p99Ms: number;
  whileRemoving: { count: number; p50Ms: number; p99Ms: number };
}

export interface RetentionResults {
  oldDeliveries: number;
  removedPerSecond: number;
  figures: RetentionFigures[];
}

export async function measureRetention(
  postgres: Postgres,
  flags: Flags,
): Promise<RetentionResults> {
  const { oldDeliveries } = flags.sizes;
  const databaseUrl = await createEmptyDatabase(postgres, 'bench_retention');
  await using sandbox = await startChild('sandbox.ts');
  await using receiver = await startChild('receiver.ts');
  const sandboxUrl = String(sandbox.greeting);
  const { apiKey, projectId } = await usingClient(databaseUrl, (client) =>
    createProject(client, sandboxUrl),
  );
  console.error(`Filling ${oldDeliveries} deliveries …`);
  await usingClient(databaseUrl, (clientA) =>
    usingClient(databaseUrl, (clientB) =>
      loadRows([clientA, clientB], createOldDeliveries(projectId, oldDeliveries), flags.seed),
    ),
  );
  await using gateway = await startGateway(databaseUrl);
  const headers = { 'x-api-key': apiKey };
  await createBenchProject(createExecute(gateway, headers), String(receiver.greeting));
  await using remover = await startChild('remover.ts', {
    ...GATEWAY_ENV,
    DATABASE_URL: databaseUrl,
    RETENTION_DAYS: '30',
  });
  await using steady = createSteadyRequests(gateway, headers, KINDS);
  return await usingClient(databaseUrl, async (client) => {
    const windows: Windows = { alone: [], removing: [] };
    let removed = 0;
    const measureWindow = async (isRemoving: boolean) => {
      const fromTime = await readTime(client);
      const removal = isRemoving ? remover.request({ ms: flags.seconds * 1_000 }) : 0;
      const responses = await steady.run(flags.seconds);
      const untilTime = await readTime(client);
      removed += Number(await removal);
      await waitForDeliveries(client);
      return [...responses, ...(await listDeliveriesWithin(client, fromTime, untilTime))];
    };
    await measureWindow(false);
    await measureWindow(true);
    removed = 0;
    for (let round = 0; round < flags.rounds; round += 1) {
      // The order alternates, so that a drift of the machine affects both kinds of window equally.
      for (const isRemoving of round % 2 === 0 ? [false, true] : [true, false]) {
        windows[isRemoving ? 'removing' : 'alone'].push(await measureWindow(isRemoving));
      }
    }
    const removedPerSecond = removed / (flags.rounds * flags.seconds);
    return { oldDeliveries, removedPerSecond, figures: summarizeWindows(windows) };
  });
}

const LIST_DELIVERIES = `query ListDeliveries { project(idOrName: "bench") {
  deliveries(first: 50) { nodes { id status createTime attempts { responseStatus } } }
} }`;
const GET_LAST_EVENT = `query GetLastEvent { project(idOrName: "bench") {
  notificationEvents(first: 1) { nodes { id eventType createTime } }
} }`;

const KINDS: readonly RequestKind[] = [
  {
    name: 'generateConnection, its event to a webhook',
    perSecond: REQUESTS_PER_SECOND,
    createBody: (number) =>
      JSON.stringify({
        operationName: 'Connect',
        query: MOVING_DOCUMENTS.Connect,
        variables: { input: createConnectInput(number) },
      }),
  },
  {
    name: 'page of 50 deliveries with their attempts',
    perSecond: REQUESTS_PER_SECOND,
    createBody: () => JSON.stringify({ query: LIST_DELIVERIES }),
  },
  {
    name: 'last event',
    perSecond: REQUESTS_PER_SECOND,
    createBody: () => JSON.stringify({ query: GET_LAST_EVENT }),
  },
];

/** Returns statements that insert a day of expired deliveries, each with its attempt. */
function createOldDeliveries(projectId: string, count: number): string[][] {
  const destinationId = newId('dst');
  const half = Math.ceil(count / 2);
  // The deliveries expired recently, so that the sweep keeps its normal pace.
  const time = `now() - interval '30 days 23 hours' + n * interval '22 hours' / ${count}`;
  return [1, half + 1]
    .map((from) => `generate_series(${from}, ${from + half - 1}) n`)
    .flatMap((rows) => [
      [
        `insert into "Delivery" (id, "projectId", "destinationId", "eventId", "eventType", status, body, "attemptCount",
         "nextAttemptTime", "createTime", "updateTime")
       select pg_temp.id_of('dlv', n), '${projectId}', '${destinationId}', pg_temp.id_of('evt', n), 'CONNECTION_CREATED',
         'SUCCEEDED', '${BODY}', 1, null, ${time}, ${time} from ${rows}`,
        `insert into "DeliveryAttempt" (id, "projectId", "deliveryId", "attemptNumber", "responseStatus", "responseBody",
         "durationMs", "createTime")
       select pg_temp.id_of('att', n), '${projectId}', pg_temp.id_of('dlv', n), 1, 200, '', 5, ${time} from ${rows}`,
      ],
    ]);
}

const BODY = JSON.stringify({
  notificationType: 'connection.created',
  data: { groupRef: 'group-1', consumerRef: 'consumer-1', consumerName: 'Consumer 1' },
});

async function readTime(client: pg.Client): Promise<Date> {
  const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as "now"');
  return rows[0]!.now;
}

/** Lists the deliveries of the period, with the time from the event to the end of the attempt. */
async function listDeliveriesWithin(
  client: pg.Client,
  fromTime: Date,
  untilTime: Date,
): Promise<TimedResponse[]> {
  const { rows } = await client.query<TimedResponse>(
    `select 'webhook, from its event to its response' as "kind",
       extract(epoch from attempt."createTime" - delivery."createTime")::float8 * 1000 + attempt."durationMs" as "ms"
     from "Delivery" delivery
     join "DeliveryAttempt" attempt
       on attempt."projectId" = delivery."projectId" and attempt."deliveryId" = delivery."id"
     where delivery."createTime" >= $1 and delivery."createTime" < $2`,
    [fromTime, untilTime],
  );
  return rows;
}

/** The responses in each window, without and with a concurrent removal. */
type Windows = Record<'alone' | 'removing', TimedResponse[][]>;

/** Summarizes the windows by their medians, because a single stall of the machine affects only one window. */
function summarizeWindows({ alone, removing }: Windows): RetentionFigures[] {
  const kinds = [...new Set(alone.flat().map(({ kind }) => kind))];
  const summarizeKind = (windows: TimedResponse[][], name: string) =>
    computeMedians(
      windows.map((responses) => {
        const times = responses.filter(({ kind }) => kind === name).map(({ ms }) => ms);
        const sorted = times.toSorted((a, b) => a - b);
        return {
          count: times.length,
          p50Ms: computeQuantile(sorted, 0.5),
          p99Ms: computeQuantile(sorted, 0.99),
        };
      }),
    );
  return kinds.map((kind) => ({
    kind,
    ...summarizeKind(alone, kind),
    whileRemoving: summarizeKind(removing, kind),
  }));
}

export function formatRetentionTable({
  oldDeliveries,
  removedPerSecond,
  figures,
}: RetentionResults): string {
  const rows = figures.map(({ kind, count, p50Ms, p99Ms, whileRemoving }) => [
    kind,
    count,
    p50Ms.toFixed(1),
    whileRemoving.p50Ms.toFixed(1),
    (whileRemoving.p50Ms / p50Ms).toFixed(2),
    p99Ms.toFixed(1),
    whileRemoving.p99Ms.toFixed(1),
    (whileRemoving.p99Ms / p99Ms).toFixed(2),
  ]);
  const head = ['', 'a window', 'p50 ms', 'removing', 'ratio', 'p99 ms', 'removing', 'ratio'];
  const title = `${Math.round(removedPerSecond)} of ${oldDeliveries} old deliveries removed per second`;
  return `${title}\n${formatTable(head, rows)}\n`;
}
