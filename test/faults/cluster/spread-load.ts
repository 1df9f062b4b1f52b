/**
 * Load of projects on both workers of a cluster: each creates connections, whose events go to a webhook, and
 * does the work of `moving.ts`.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { openDatabase } from '../../../src/database/database.ts';
import { createLog } from '../../../src/log.ts';
import { type Tenant, testApp } from '../../support/app.ts';
import { findFreePort } from '../../support/process/free-port.ts';
import { type ReceivedMessage, type Receiver, startReceiver } from '../../support/receiver.ts';
import { ENCRYPTION_KEY, type Gateway, startGateway } from '../fixtures/gateway.ts';
import type { Cluster } from './cluster.ts';
import {
  expectMovedOnce,
  expectMovedSince,
  type Mover,
  move,
  prepareMoving,
  timesIn,
} from './moving.ts';
import { doneIn, p99, type Span, type Timed } from './times.ts';

const PROJECTS_OF_EACH = 2;
const PROJECTS_MAX = 40;
const CALLERS_OF_EACH = 2;
const PAUSE_MS = 20;
const QUIET_MS_MAX = 120_000;
const OWN_NETWORK = { ENCRYPTION_KEY, ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32' };

const MAKE_DESTINATION = `mutation ($input: CreateDestinationInput!) {
  createDestination(input: $input) { destination { id } } }`;
const MAKE_TOPIC = `mutation ($input: CreateTopicInput!) { createTopic(input: $input) { topic { id } } }`;
const ROUTE_EVENT = `mutation ($input: CreateEventTopicRouteInput!) {
  createEventTopicRoute(input: $input) { eventTopicRoute { id } } }`;
const ROUTE_TOPIC = `mutation ($input: CreateTopicDestinationRouteInput!) {
  createTopicDestinationRoute(input: $input) { topicDestinationRoute { id } } }`;
const CONNECT = `mutation ($input: GenerateConnectionInput!) {
  generateConnection(input: $input) { connection { id } } }`;

export interface SpreadProject extends Mover {
  /** Index of the worker that has the project's rows. */
  worker: number;
  /** Connections whose creation was acknowledged, with the duration of each request. */
  answered: ({ id: string } & Timed)[];
  /** Time from each event to its successful delivery. Empty until the load has ended. */
  delivered: Timed[];
  refused: number;
  /** The errors of failed requests. */
  refusals: string[];
  received(): string[];
  /** Messages of the destination of records. */
  records(): ReceivedMessage[];
}

export interface SpreadLoad {
  gateway: Gateway;
  projects: SpreadProject[];
  /** Stops the requests and waits until every event has arrived. */
  end(): Promise<void>;
}

/** Returns the durations of requests that ended within this time. */
export function between(projects: SpreadProject[], fromMs: number, toMs: number): number[] {
  return projects.flatMap(({ answered }) => doneIn(answered, { fromMs, toMs }).map(({ ms }) => ms));
}

/** Logs the p99 of each kind of work in both spans. Call it after the load has ended. */
export function tellP99(projects: SpreadProject[], before: Span, meanwhile: Span): void {
  const listTimes = (span: Span) => ({
    connected: between(projects, span.fromMs, span.toMs),
    delivered: projects.flatMap(({ delivered }) => doneIn(delivered, span).map(({ ms }) => ms)),
    ...timesIn(projects, span),
  });
  const [then, now] = [listTimes(before), listTimes(meanwhile)];
  for (const [work, times] of Object.entries(now)) {
    const [a, b] = [then[work as keyof typeof then], times];
    const ratio = (p99(b) / p99(a)).toFixed(2);
    console.log(
      `others, ${work}: p99 ${p99(a)} ms of ${a.length} before, ${p99(b)} ms of ${b.length} meanwhile: ${ratio}`,
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
  const projects = await makeProjects(cluster, receiver);
  const sandboxPort = await findFreePort();
  const gateway = await startGateway({
    ...OWN_NETWORK,
    DATABASE_URL: cluster.url,
    SANDBOX_PORT: String(sandboxPort),
    ...env,
  });
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  let made = 0;
  const callAgainAndAgain = async (project: SpreadProject) => {
    while (!isOver) {
      made += 1;
      await connect(gateway, project, `consumer-${made}`);
      await delay(PAUSE_MS);
    }
  };
  const moving = { cluster, gatewayUrl: gateway.url, isOver: () => isOver };
  const calling = Promise.all(
    projects.flatMap((project) => [
      ...Array.from({ length: CALLERS_OF_EACH }, () => callAgainAndAgain(project)),
      move(project, moving),
    ]),
  );
  // If a test fails, the gateway ends while requests are running.
  calling.catch(() => {});
  await allBegan(projects);
  return {
    gateway,
    projects,
    async end() {
      isOver = true;
      await calling;
      const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
      for (const project of projects) {
        await expectAllOnce(cluster, project);
        await expectMovedOnce(project, { cluster, sandboxUrl, received: project.records });
      }
    },
  };
}

/** The first request of each kind is slower than later ones. */
async function allBegan(projects: SpreadProject[]): Promise<void> {
  await expectMovedSince(projects, 0);
  const silent = () => projects.filter(({ received }) => received().length === 0).length;
  await expect.poll(silent, { timeout: QUIET_MS_MAX, interval: 500 }).toBe(0);
}

/** Expects that every acknowledged request has an event, and that every event has arrived. */
async function expectAllOnce(cluster: Cluster, project: SpreadProject) {
  const { projectId, answered, received, delivered } = project;
  const owed = () =>
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
  const left = async () => (await owed()).filter(({ status }) => status !== 'SUCCEEDED').length;
  await expect.poll(left, { timeout: QUIET_MS_MAX, interval: 500 }).toBe(0);
  const events = await owed();
  for (const { ms, endTime } of events) {
    delivered.push({ ms, atMs: endTime.getTime() - performance.timeOrigin });
  }
  const connections = events.map(({ connectionId }) => connectionId);
  expect(new Set(connections).size).toBe(connections.length);
  expect(answered.filter(({ id }) => !connections.includes(id))).toEqual([]);
  const arrived = received();
  console.log(`${answered.length} answered, ${events.length} events, ${arrived.length} webhooks`);
  expect(new Set(arrived).size).toBe(events.length);
}

/** Creates one connection, and records the duration or the error. */
export async function connect(
  { url }: Gateway,
  project: SpreadProject,
  consumerRef: string,
): Promise<void> {
  const { projectId, apiKey, answered } = project;
  const input = {
    ...{ projectIdOrName: projectId, provider: 'sandbox' },
    credentials: { apiKey: 'sandbox-key' },
    ...{ groupRef: 'acme', consumerRef },
  };
  const beganMs = performance.now();
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: JSON.stringify({ query: CONNECT, variables: { input } }),
  });
  const { data, errors } = (await response.json()) as {
    data?: { generateConnection: { connection: { id: string } } };
    errors?: unknown[];
  };
  const atMs = performance.now();
  if (data && !errors) {
    const { id } = data.generateConnection.connection;
    answered.push({ id, ms: atMs - beganMs, atMs });
  } else {
    project.refused += 1;
    project.refusals.push(JSON.stringify(errors));
  }
}

/** Creates projects until each worker has some. */
async function makeProjects(cluster: Cluster, receiver: Receiver): Promise<SpreadProject[]> {
  const env = { ...OWN_NETWORK, DATABASE_URL: cluster.url };
  const database = await openDatabase(readConfig(env), createLog('silent'));
  await using app = await testApp({ env: OWN_NETWORK, database });
  const projects: SpreadProject[] = [];
  for (let made = 0; made < PROJECTS_MAX; made += 1) {
    const tenant = await app.tenant();
    const { projectId } = tenant;
    const worker = await findWorker(cluster, projectId);
    if (projects.filter((project) => project.worker === worker).length === PROJECTS_OF_EACH)
      continue;
    const ofRecords = `${projectId}-records`;
    await leadToReceiver(tenant, {
      url: receiver.url(projectId),
      recordsUrl: receiver.url(ofRecords),
    });
    const mover = await prepareMoving(app, tenant);
    const received = () => receiver.received(projectId).map(({ id }) => id);
    const records = () => receiver.received(ofRecords);
    const empty = { answered: [], delivered: [], refused: 0, refusals: [] };
    projects.push({ ...mover, ...empty, worker, received, records });
    if (projects.length === PROJECTS_OF_EACH * cluster.workers.length) return projects;
  }
  throw new Error('The projects are not spread over the workers.');
}

async function leadToReceiver(
  tenant: Tenant,
  { url, recordsUrl }: { url: string; recordsUrl: string },
): Promise<void> {
  const projectIdOrName = tenant.projectId;
  const make = (mutation: string, input: object) =>
    tenant.query(mutation, { input: { projectIdOrName, ...input } });
  await make(MAKE_DESTINATION, { name: 'records', type: 'WEBHOOK', url: recordsUrl });
  const made = await make(MAKE_DESTINATION, { name: 'hook', type: 'WEBHOOK', url });
  const destinationId = made.createDestination.destination.id;
  const topicId = (await make(MAKE_TOPIC, { name: 'made' })).createTopic.topic.id;
  await make(ROUTE_EVENT, { topicId, eventType: 'CONNECTION_CREATED' });
  await make(ROUTE_TOPIC, { topicId, destinationId });
}

async function findWorker({ query, workers }: Cluster, projectId: string): Promise<number> {
  const [node] = await query<{ port: number }>(
    `select n.nodeport as "port" from pg_dist_placement p join pg_dist_node n using (groupid)
     where p.shardid = get_shard_id_for_distribution_column('"EventLog"', $1::text)`,
    [projectId],
  );
  return workers.findIndex(({ port }) => port === node?.port);
}
