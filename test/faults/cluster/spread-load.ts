/**
 * Load of projects on the two workers of a cluster. Each project creates connections, whose events go to a webhook,
 * and runs the load of `record-load.ts`.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/database/open/open-database.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { readConfig } from '../../../src/settings/config.ts';
import { createTestApp } from '../../support/app.ts';
import {
  createConnectionVariables,
  GENERATE_CONNECTION,
} from '../../support/fixtures/connections.ts';
import { createConnectionWebhook, createWebhook } from '../../support/fixtures/webhooks.ts';
import { createClient, fetchFrom } from '../../support/graphql-client.ts';
import { ENCRYPTION_KEY } from '../../support/process/encryption-key.ts';
import { findFreePort } from '../../support/process/free-port.ts';
import { type ReceivedMessage, type Receiver, startReceiver } from '../../support/receiver.ts';
import { type Gateway, startGateway } from '../fixtures/gateway.ts';
import type { Cluster } from './cluster.ts';
import { computeP99, filterEndedIn, type TimedWork, type TimeSpan } from './durations.ts';
import {
  expectWorkOnce,
  expectWorkSince,
  type LoadedProject,
  listDurationsIn,
  prepareRecordLoad,
  runRecordLoad,
} from './record-load.ts';

const PROJECTS_PER_WORKER = 2;
const PROJECTS_MAX = 40;
const CALLERS_PER_PROJECT = 2;
const PAUSE_MS = 20;
const POLLING = { timeout: 120_000, interval: 500 };
const GATEWAY_ENV = { ENCRYPTION_KEY, ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32' };

export interface SpreadProject extends LoadedProject {
  /** Index of the worker that has the project's rows. */
  worker: number;
  /** Connections whose creation was acknowledged, with the duration of each request. */
  created: ({ id: string } & TimedWork)[];
  /** Time from each event to its successful delivery. Empty until the load has ended. */
  delivered: TimedWork[];
  refusedCount: number;
  /** The errors of refused requests. */
  errors: string[];
  listReceivedIds(): string[];
  /** Returns the messages of the destination of records. */
  listRecordMessages(): ReceivedMessage[];
}

export interface SpreadLoad {
  gateway: Gateway;
  projects: SpreadProject[];
  /** Stops the requests and waits until every event has arrived. */
  end(): Promise<void>;
}

/** Returns the durations of requests that ended within this time. */
export function listConnectDurations(projects: SpreadProject[], span: TimeSpan): number[] {
  return projects.flatMap(({ created }) => filterEndedIn(created, span).map(({ ms }) => ms));
}

/** Logs the p99 of each kind of work before and during a fault. Call it after the load has ended. */
export function logP99(projects: SpreadProject[], before: TimeSpan, during: TimeSpan): void {
  const listDurations = (span: TimeSpan) => ({
    connections: listConnectDurations(projects, span),
    deliveries: projects.flatMap(({ delivered }) =>
      filterEndedIn(delivered, span).map(({ ms }) => ms),
    ),
    ...listDurationsIn(projects, span),
  });
  const durationsBefore = new Map(Object.entries(listDurations(before)));
  for (const [kind, durations] of Object.entries(listDurations(during))) {
    const earlier = durationsBefore.get(kind) ?? [];
    const ratio = (computeP99(durations) / computeP99(earlier)).toFixed(2);
    console.log(
      `others, ${kind}: p99 ${computeP99(earlier)} ms of ${earlier.length} before, ${computeP99(durations)} ms of ${durations.length} during the fault: ${ratio}`,
    );
  }
}

/**
 * Starts the load. Resolves when every kind of work has succeeded once. `env` adds settings of the gateway.
 */
export async function startSpreadLoad(
  cluster: Cluster,
  env: Record<string, string> = {},
): Promise<SpreadLoad> {
  const receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const projects = await createProjects(cluster, receiver);
  const sandboxPort = await findFreePort();
  const gateway = await startGateway({
    ...GATEWAY_ENV,
    DATABASE_URL: cluster.url,
    SANDBOX_PORT: String(sandboxPort),
    ...env,
  });
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  let consumerCount = 0;
  const connectRepeatedly = async (project: SpreadProject) => {
    while (!isOver) {
      consumerCount += 1;
      await createConnection(gateway, project, `consumer-${consumerCount}`);
      await delay(PAUSE_MS);
    }
  };
  const target = { cluster, gatewayUrl: gateway.url, isOver: () => isOver };
  const load = Promise.all(
    projects.flatMap((project) => [
      ...Array.from({ length: CALLERS_PER_PROJECT }, () => connectRepeatedly(project)),
      runRecordLoad(project, target),
    ]),
  );
  // If a test fails, the gateway ends during requests, which then fail.
  load.catch(() => {});
  await waitUntilWarm(projects);
  return {
    gateway,
    projects,
    async end() {
      isOver = true;
      await load;
      const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
      for (const project of projects) {
        await expectEventsOnce(cluster, project);
        const { listRecordMessages } = project;
        await expectWorkOnce(project, { cluster, sandboxUrl, listRecordMessages });
      }
    },
  };
}

/** Resolves when each kind of work was done once, because the first request of a kind is slow. */
async function waitUntilWarm(projects: SpreadProject[]): Promise<void> {
  await expectWorkSince(projects, 0);
  const countSilent = () =>
    projects.filter(({ listReceivedIds }) => listReceivedIds().length === 0).length;
  await expect.poll(countSilent, POLLING).toBe(0);
}

/** Expects that every acknowledged request has an event, and that every event has arrived. */
async function expectEventsOnce(cluster: Cluster, project: SpreadProject) {
  const { projectId, created, listReceivedIds, delivered } = project;
  const listDeliveries = () =>
    cluster.query<{ connectionId: string; status: string; ms: number; endTime: Date }>(
      `select e."connectionId", d."status"::text as "status", a."endTime",
         extract(epoch from a."endTime" - e."createTime")::float8 * 1000 as "ms"
       from "NotificationEvent" e
       join "Delivery" d on d."projectId" = e."projectId" and d."eventId" = e."id"
       left join (select "projectId", "deliveryId", max("createTime") as "endTime" from "DeliveryAttempt"
         where "projectId" = $1 group by 1, 2) a on a."projectId" = d."projectId" and a."deliveryId" = d."id"
       where e."projectId" = $1`,
      [projectId],
    );
  const countPending = async () =>
    (await listDeliveries()).filter(({ status }) => status !== 'SUCCEEDED').length;
  await expect.poll(countPending, POLLING).toBe(0);
  const deliveries = await listDeliveries();
  for (const { ms, endTime } of deliveries) {
    delivered.push({ ms, endMs: endTime.getTime() - performance.timeOrigin });
  }
  const connectionIds = deliveries.map(({ connectionId }) => connectionId);
  expect(new Set(connectionIds).size).toBe(connectionIds.length);
  expect(created.filter(({ id }) => !connectionIds.includes(id))).toEqual([]);
  const receivedIds = listReceivedIds();
  console.log(
    `${created.length} connections, ${deliveries.length} events, ${receivedIds.length} webhooks`,
  );
  expect(new Set(receivedIds).size).toBe(deliveries.length);
}

/** Creates one connection, and records the duration or the error. */
export async function createConnection(
  { url }: Gateway,
  project: SpreadProject,
  consumerRef: string,
): Promise<void> {
  const client = createClient(fetchFrom(url), { 'x-api-key': project.apiKey });
  const startMs = performance.now();
  const variables = createConnectionVariables(project, { apiKey: 'sandbox-key', consumerRef });
  const { data, errors } = await client.request(GENERATE_CONNECTION, variables);
  const endMs = performance.now();
  if (data && !errors) {
    const { id } = data.generateConnection.connection;
    project.created.push({ id, ms: endMs - startMs, endMs });
  } else {
    project.refusedCount += 1;
    project.errors.push(JSON.stringify(errors));
  }
}

/** Creates projects until each worker has some. */
async function createProjects(cluster: Cluster, receiver: Receiver): Promise<SpreadProject[]> {
  const env = { ...GATEWAY_ENV, DATABASE_URL: cluster.url };
  const database = await openDatabase(readConfig(env), createLog('silent'));
  await using app = await createTestApp({ env: GATEWAY_ENV, database });
  const projects: SpreadProject[] = [];
  for (let count = 0; count < PROJECTS_MAX; count += 1) {
    const tenant = await app.createTenant();
    const { projectId } = tenant;
    const worker = await findWorker(cluster, projectId);
    if (projects.filter((project) => project.worker === worker).length === PROJECTS_PER_WORKER)
      continue;
    const recordEndpoint = `${projectId}-records`;
    await createWebhook(tenant, { name: 'records', url: receiver.getUrl(recordEndpoint) });
    await createConnectionWebhook(tenant, { name: 'hook', url: receiver.getUrl(projectId) });
    projects.push({
      ...(await prepareRecordLoad(app, tenant)),
      ...{ created: [], delivered: [], refusedCount: 0, errors: [], worker },
      listReceivedIds: () => receiver.listMessages(projectId).map(({ id }) => id),
      listRecordMessages: () => receiver.listMessages(recordEndpoint),
    });
    if (projects.length === PROJECTS_PER_WORKER * cluster.workers.length) return projects;
  }
  throw new Error('The projects are not spread over the workers.');
}

async function findWorker({ query, workers }: Cluster, projectId: string): Promise<number> {
  const [node] = await query<{ port: number }>(
    `select n.nodeport as "port" from pg_dist_placement p join pg_dist_node n using (groupid)
     where p.shardid = get_shard_id_for_distribution_column('"EventLog"', $1::text)`,
    [projectId],
  );
  return workers.findIndex(({ port }) => port === node?.port);
}
