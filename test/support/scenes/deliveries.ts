/** Creates destinations of one project, pending deliveries, and workers that send them. */
import { afterAll, beforeEach } from 'vitest';

import type { Database } from '../../../src/database/database.ts';
import type { Prisma } from '../../../src/database/generated/client.ts';
import { type DeliveryDeps, DeliveryWorker } from '../../../src/deliveries/delivery-worker.ts';
import { createSigningSecret, sealSigningSecret } from '../../../src/deliveries/signing-secret.ts';
import { newId } from '../../../src/ids.ts';
import { createLog } from '../../../src/log.ts';
import { NO_METERS } from '../../../src/meters.ts';
import { createOutbound } from '../../../src/outbound/client.ts';
import { createVault } from '../../../src/secrets.ts';
import { testDatabase } from '../app.ts';
import { startReceiver } from '../receiver.ts';

export const vault = createVault([Buffer.alloc(32, 7)]);

/**
 * Creates a project that publishes `destination.webhook.disabled`, and functions that add destinations and
 * deliveries.
 */
export async function createDeliveryProject({ prisma }: Database) {
  const [orgId, projectId, topicId] = [newId('org'), newId('prj'), newId('top')];
  await prisma.org.create({ data: { id: orgId, label: 'org' } });
  await prisma.project.create({
    data: { id: projectId, orgId, name: projectId, appName: 'app', eventLog: { create: {} } },
  });
  await prisma.topic.create({ data: { id: topicId, projectId, name: 'disabled' } });
  await prisma.eventTopicRoute.create({
    data: {
      id: newId('etr'),
      projectId,
      topicId,
      eventType: 'DESTINATION_WEBHOOK_DISABLED',
    },
  });
  return {
    projectId,
    async destination(url: string, data: Partial<Prisma.DestinationUncheckedCreateInput> = {}) {
      const id = newId('dst');
      const secret = createSigningSecret();
      const sealed = sealSigningSecret(vault, { id, projectId }, secret);
      const row = { id, projectId, name: id, type: 'WEBHOOK', url, ...sealed, ...data } as const;
      await prisma.destination.create({ data: row });
      return { id, secret };
    },
    /** Enqueues `count` deliveries that are due immediately. Returns their IDs. */
    async enqueue(
      destinationId: string,
      count = 1,
      data: Partial<Prisma.DeliveryCreateManyInput> = {},
    ) {
      const rows = Array.from({ length: count }, (_, number) => ({
        id: newId('dlv'),
        projectId,
        destinationId,
        body: JSON.stringify({ notificationType: 'connection.created', data: { number } }),
        nextAttemptTime: new Date(0),
        ...data,
      }));
      await prisma.delivery.createMany({ data: rows });
      return rows.map(({ id }) => id);
    },
  };
}

const RETRY_SECONDS = [5, 300, 1800, 7200, 18_000, 36_000, 36_000];

interface TestWorker extends AsyncDisposable {
  worker: DeliveryWorker;
}

/** Starts a worker that may connect to 127.0.0.1. Tests may replace its clock and its limits. */
export function createWorker(
  database: Database,
  { now = () => new Date(), random = Math.random, ...rest }: Partial<DeliveryDeps> = {},
): TestWorker {
  const outbound = createOutbound({
    allowedPrivateTargets: ['127.0.0.1/32'],
    alwaysAllowedOrigins: () => [],
  });
  const config = { DELIVERY_RETRY_SECONDS: RETRY_SECONDS, SHUTDOWN_MS: 20_000 };
  const log = createLog('silent');
  const worker = new DeliveryWorker({
    database,
    vault,
    outbound,
    config,
    log,
    meters: NO_METERS,
    tracer: null,
    now,
    random,
    ...rest,
  });
  return {
    worker,
    async [Symbol.asyncDispose]() {
      await worker.stop();
      await outbound[Symbol.asyncDispose]();
    },
  };
}

/**
 * Returns one database and one receiver for all tests of a file. Workers send every due delivery, so each
 * test starts without deliveries.
 */
export async function sharedDeliveries() {
  const database = await testDatabase();
  const receiver = await startReceiver();
  const { prisma } = database;
  afterAll(async () => {
    await receiver[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await prisma.delivery.deleteMany();
  });
  const deliveryProject = await createDeliveryProject(database);
  let endpointCount = 0;
  const newEndpointName = () => {
    endpointCount += 1;
    return `place-${endpointCount}`;
  };
  return {
    database,
    prisma,
    receiver,
    newEndpointName,
    ...deliveryProject,
    delivery: (id = '') =>
      prisma.delivery.findFirstOrThrow({
        where: { id },
        include: { attempts: { orderBy: { attemptNumber: 'asc' } } },
      }),
    destinationRow: (id: string) => prisma.destination.findFirstOrThrow({ where: { id } }),
    succeeded: () => prisma.delivery.count({ where: { status: 'SUCCEEDED' } }),
  };
}

/** Returns a clock that stands still until the test advances it. */
export function createClock(time: string) {
  let nowMs = Date.parse(time);
  return {
    now: () => new Date(nowMs),
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}
