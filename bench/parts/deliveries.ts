/** Measures signed and recorded messages to webhooks, compared with plain POSTs to the same receiver. */
import type pg from 'pg';
import { createSigningSecret, sealSigningSecret } from '../../src/deliveries/signing-secret.ts';
import { newId } from '../../src/kernel/ids.ts';
import { createVault } from '../../src/kernel/secrets.ts';
import { insertProject } from '../bench-project.ts';
import { createEmptyDatabase, usingClient } from '../database.ts';
import { ENCRYPTION_KEY } from '../fill.ts';
import type { Flags } from '../flags.ts';
import { startGateway } from '../peers.ts';
import type { Postgres } from '../postgres.ts';
import { type Child, startChild } from '../processes/child.ts';
import type { PostsToSend } from '../processes/plain-posts.ts';
import type { Server } from '../processes/server.ts';
import { computeMedians } from '../statistics.ts';
import { formatNumber, formatTable } from '../table.ts';
import { waitUntil } from '../wait-until.ts';

const DESTINATIONS = 10;
/** Maximum number of deliveries that a worker has in flight. */
const SOCKETS = 64;
/** Messages per requested second of a round. */
const PER_SECOND = 5_000;
const WAIT = { pollMs: 20, timeoutMs: 60_000, subject: 'Deliveries' };
const BODY = JSON.stringify({
  notificationType: 'connection.created',
  data: {
    projectId: newId('prj'),
    connectionId: newId('con'),
    provider: 'hubspot',
    groupRef: 'group-1',
    consumerRef: 'consumer-1',
    consumerName: 'Consumer 1',
  },
});

export interface DeliveriesResult {
  plainPostsPerSecond: number;
  deliveriesPerSecond: number;
  cpuMicrosPerDelivery: number;
  databaseMicrosPerDelivery: number;
}

export async function measureDeliveries(
  postgres: Postgres,
  flags: Flags,
): Promise<DeliveriesResult> {
  const databaseUrl = await createEmptyDatabase(postgres, 'bench_deliveries');
  await using receiver = await startChild('receiver.ts');
  await using poster = await startChild('plain-posts.ts');
  const url = String(receiver.greeting);
  const projectId = await usingClient(databaseUrl, (client) =>
    createProjectWithDestinations(client, url),
  );
  await using worker = await startGateway(databaseUrl, {
    env: { ROLES: 'worker' },
    profile: flags.profile,
  });
  const count = Math.ceil(PER_SECOND * flags.seconds);
  const measureMessages = (messages: number) =>
    usingClient(databaseUrl, (client) =>
      timeDeliveries(client, receiver, { projectId, count: messages, worker, postgres }),
    );
  const measurePosts = async (messages: number) =>
    (messages / Number(await poster.request(createPosts(url, messages)))) * 1000;
  await measureMessages(flags.sizes.deliveriesWarmUp);
  await measurePosts(flags.sizes.deliveriesWarmUp);
  const rounds: DeliveriesResult[] = [];
  for (let round = 0; round < flags.rounds; round += 1) {
    rounds.push({
      plainPostsPerSecond: await measurePosts(count),
      ...(await measureMessages(count)),
    });
  }
  return computeMedians(rounds);
}

const createPosts = (url: string, count: number): PostsToSend => ({
  url,
  body: BODY,
  count,
  sockets: SOCKETS,
});

interface DeliveryRun {
  projectId: string;
  count: number;
  worker: Server;
  postgres: Postgres;
}

/** Measures the time from the first arrival to the last record. It does not include the creation of the deliveries. */
async function timeDeliveries(
  client: pg.Client,
  receiver: Child,
  { projectId, count, worker, postgres }: DeliveryRun,
) {
  const countReceived = async () => Number(await receiver.request({}));
  const countBefore = await countReceived();
  const cpuMs = worker.readCpuMs();
  await createDeliveries(client, projectId, count);
  const databaseMs = postgres.readCpuMs();
  await waitUntil(async () => (await countReceived()) > countBefore, WAIT);
  const startMs = performance.now();
  const earlyCount = (await countReceived()) - countBefore;
  await waitUntil(async () => (await countReceived()) - countBefore >= count, WAIT);
  await waitUntil(async () => {
    const { rows } = await client.query(
      `select 1 from "Delivery" where status <> 'SUCCEEDED' limit 1`,
    );
    return rows.length === 0;
  }, WAIT);
  const tookMs = performance.now() - startMs;
  return {
    deliveriesPerSecond: ((count - earlyCount) / tookMs) * 1000,
    cpuMicrosPerDelivery: ((worker.readCpuMs() - cpuMs) * 1000) / count,
    databaseMicrosPerDelivery: ((postgres.readCpuMs() - databaseMs) * 1000) / (count - earlyCount),
  };
}

async function createProjectWithDestinations(client: pg.Client, url: string): Promise<string> {
  const projectId = await insertProject(client);
  const vault = createVault([ENCRYPTION_KEY]);
  for (let number = 0; number < DESTINATIONS; number += 1) {
    const id = newId('dst');
    const sealed = sealSigningSecret(vault, { id, projectId }, createSigningSecret());
    await client.query(
      `insert into "Destination" (id, "projectId", name, type, url, "signingSecretSealed")
       values ($1, $2, $1, 'WEBHOOK', $3, $4)`,
      [id, projectId, url, sealed.signingSecretSealed],
    );
  }
  return projectId;
}

/** Creates the deliveries in one statement, evenly for all destinations, and notifies as the gateway does. */
async function createDeliveries(
  client: pg.Client,
  projectId: string,
  count: number,
): Promise<void> {
  const ids = Array.from({ length: count }, () => newId('dlv'));
  await client.query('truncate "Delivery" cascade');
  await client.query(
    `with destination as (
       select id, row_number() over (order by id) - 1 as number from "Destination")
     insert into "Delivery" (id, "projectId", "destinationId", body, "nextAttemptTime")
     select input.id, $1, destination.id, $2, now()
     from unnest($3::text[]) with ordinality as input (id, n)
     join destination on destination.number = input.n % ${DESTINATIONS}`,
    [projectId, BODY, ids],
  );
  await client.query(`select pg_notify('gateway_events', $1)`, [projectId]);
}

export function formatDeliveriesTable(result: DeliveriesResult): string {
  const { plainPostsPerSecond: plain, deliveriesPerSecond: signed } = result;
  const rows = [
    ['plain POSTs', Math.round(plain), '1.00', '', ''],
    [
      'signed and recorded',
      Math.round(signed),
      (signed / plain).toFixed(2),
      result.cpuMicrosPerDelivery.toFixed(0),
      formatNumber(result.databaseMicrosPerDelivery, 0),
    ],
  ];
  return `Deliveries to webhooks\n${formatTable(['', 'each second', 'ratio', 'cpu µs', 'database µs'], rows)}\n`;
}
