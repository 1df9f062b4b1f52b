/**
 * Background load of projects on a cluster: they write records, query pages, run due reads, and receive
 * events of the provider.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Tenant, TestApp } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { CREATE_INSTALLATION, contentFor, integrate } from '../../support/fixtures/integrations.ts';
import {
  createSentEvent,
  eventsBody,
  SECRET,
  signRequest,
} from '../../support/fixtures/signed-events.ts';
import { ALL_EVENTS, createSandboxApp } from '../../support/fixtures/subscriptions.ts';
import type { Cluster } from './cluster.ts';
import { doneIn, type Span, type Timed } from './times.ts';

/** Without pauses, this load would dominate the measurement. */
const PAUSE_MS = 100;
const POLL_MS = 250;
const GROUP = { groupRef: 'movers' };
const INTEGRATION = 'crm';
const WAITING = { timeout: 120_000, interval: 500 };
const PAGE = 1_000;

const WRITE = `mutation ($input: WriteRecordsInput!) { writeRecords(input: $input) { result { success } } }`;
const ASK = `query ($project: String!) { project(idOrName: $project) {
  operations(first: 50) { edges { node { id status logs(first: 1) { edges { node { message } } } } } }
  connections(first: 20) { edges { node { id group { groupRef } } } } } }`;

export type Work = 'written' | 'asked' | 'read' | 'told';

export interface Mover {
  projectId: string;
  apiKey: string;
  providerAppId: string;
  /** The provider's ID of the connection. */
  account: string;
  done: Record<Work, ({ id: string } & Timed)[]>;
}

/**
 * Installs an integration that reads, writes and subscribes. The destination `records` must exist. The
 * subscription is not created at the provider.
 */
export async function prepareMoving(app: TestApp, tenant: Tenant): Promise<Mover> {
  const { projectId, apiKey } = tenant;
  const { id: providerAppId } = await createSandboxApp(tenant, { webhookSecret: SECRET });
  const write = { objects: [{ objectName: 'deals' }] };
  const content = contentFor(INTEGRATION, { write, subscribe: { objects: [ALL_EVENTS] } });
  await integrate(app, tenant, content);
  const { id: account } = await generateConnection(tenant, {
    ...{ apiKey: 'sandbox-key', consumerRef: 'mover' },
    ...GROUP,
  });
  const input = { projectIdOrName: projectId, integrationIdOrName: INTEGRATION, ...GROUP };
  await tenant.query(CREATE_INSTALLATION, { input });
  await app.app.services.database.prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { providerAppId, account, status: 'ACTIVE', dueTime: null },
  });
  const done = { written: [], asked: [], read: [], told: [] };
  return { projectId, apiKey, providerAppId, account, done };
}

export interface Moving {
  cluster: Cluster;
  gatewayUrl: string;
  isOver: () => boolean;
}

/** Repeats all kinds of work until `isOver`. */
export async function move(mover: Mover, moving: Moving): Promise<void> {
  const again = async (work: Work, once: () => Promise<string | null>) => {
    while (!moving.isOver()) {
      const beganMs = performance.now();
      const id = await once().catch(() => null);
      const atMs = performance.now();
      if (id !== null) mover.done[work].push({ id, ms: atMs - beganMs, atMs });
      await delay(PAUSE_MS);
    }
  };
  await Promise.all([
    again('written', () => write(mover, moving)),
    again('asked', () => ask(mover, moving)),
    again('told', () => tell(mover, moving)),
    again('read', () => read(mover, moving)),
  ]);
}

/** Returns the durations of the work that ended within the span. */
export function timesIn(movers: readonly Mover[], span: Span): Record<Work, number[]> {
  const times = (work: Work) =>
    doneIn(
      movers.flatMap(({ done }) => done[work]),
      span,
    ).map(({ ms }) => ms);
  return {
    written: times('written'),
    asked: times('asked'),
    read: times('read'),
    told: times('told'),
  };
}

/** Returns how often each kind of work ended within the span. */
export function doneBetween(movers: readonly Mover[], fromMs: number, toMs: number) {
  const { written, asked, read, told } = timesIn(movers, { fromMs, toMs });
  return {
    written: written.length,
    asked: asked.length,
    read: read.length,
    told: told.length,
  };
}

/** Waits until each project has done each kind of work again. */
export async function expectMovedSince(movers: readonly Mover[], sinceMs: number): Promise<void> {
  for (const mover of movers) {
    const least = () =>
      Math.min(...Object.values(doneBetween([mover], sinceMs, performance.now())));
    await expect.poll(least, WAITING).toBeGreaterThan(0);
  }
}

async function write(mover: Mover, moving: Moving): Promise<string | null> {
  const { projectId } = mover;
  const name = crypto.randomUUID();
  const input = {
    ...{ projectIdOrName: projectId, integrationIdOrName: INTEGRATION, ...GROUP },
    ...{ objectName: 'deals', type: 'CREATE', records: { record: { name } }, idempotencyKey: name },
  };
  const { data } = await send<{ writeRecords: { result: { success: boolean } | null } | null }>(
    mover,
    moving,
    { query: WRITE, variables: { input } },
  );
  return data?.writeRecords?.result?.success ? name : null;
}

/** Queries pages of two lists with related rows. */
async function ask(mover: Mover, moving: Moving): Promise<string | null> {
  const { projectId } = mover;
  const { data, errors } = await send<{ project: object | null }>(mover, moving, {
    query: ASK,
    variables: { project: projectId },
  });
  return data?.project && !errors ? projectId : null;
}

async function send<T>(
  { apiKey }: Mover,
  { gatewayUrl }: Moving,
  body: { query: string; variables: object },
): Promise<{ data?: T; errors?: unknown[] }> {
  const response = await fetch(`${gatewayUrl}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: JSON.stringify(body),
  });
  return (await response.json()) as { data?: T; errors?: unknown[] };
}

/** Sends an event, and repeats it until the gateway accepts it, as a provider does. */
async function tell(mover: Mover, { gatewayUrl, isOver }: Moving): Promise<string | null> {
  const { providerAppId, account } = mover;
  const id = crypto.randomUUID();
  const body = eventsBody(createSentEvent(account, { id, recordId: id }));
  while (!isOver()) {
    const response = await fetch(
      `${gatewayUrl}/webhooks/sandbox/${providerAppId}`,
      signRequest(body),
    );
    if (response.status === 204) return id;
    await delay(PAUSE_MS);
  }
  return null;
}

/** Makes a scheduled read due, and returns the ID of a read that has ended since. */
async function read({ projectId, done }: Mover, { cluster }: Moving): Promise<string | null> {
  await cluster.query(
    `update "InstalledObject" set "nextReadTime" = now() where "projectId" = $1 and not exists
       (select from "Operation" o where o."projectId" = $1 and o."actionType" = 'READ' and o.status = 'IN_PROGRESS')`,
    [projectId],
  );
  await delay(POLL_MS);
  const known = new Set(done.read.map(({ id }) => id));
  const ended = await cluster.query<{ id: string }>(
    `select id from "Operation" where "projectId" = $1 and "actionType" = 'READ' and status = 'SUCCESS'`,
    [projectId],
  );
  return ended.find(({ id }) => !known.has(id))?.id ?? null;
}

/**
 * Expects that acknowledged work was done exactly once and that no operation is left in progress. `received`
 * returns the messages of the destination `records`.
 */
export async function expectMovedOnce(
  { projectId, done }: Mover,
  { cluster, sandboxUrl, received }: { cluster: Cluster; sandboxUrl: string; received(): Body[] },
): Promise<void> {
  const open = () =>
    cluster.query(`select from "Operation" where "projectId" = $1 and status = 'IN_PROGRESS'`, [
      projectId,
    ]);
  await expect.poll(async () => (await open()).length, WAITING).toBe(0);
  const missing = () => {
    const arrived = new Set(eventsIn(received()));
    return done.told.filter(({ id }) => !arrived.has(id)).length;
  };
  await expect.poll(missing, WAITING).toBe(0);
  const arrived = eventsIn(received());
  expect(new Set(arrived).size).toBe(arrived.length);
  const names = await fetchDeals(sandboxUrl);
  const counts = done.written.map(({ id }) => names.filter((name) => name === id).length);
  expect(counts.filter((count) => count !== 1)).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  const { written, asked, read, told } = done;
  console.log(
    `${written.length} written, ${asked.length} pages, ${read.length} reads, ${told.length} events told`,
  );
}

interface Body {
  id: string;
  body: string;
}

/** An interrupted message is repeated with the same ID. */
function eventsIn(received: Body[]): string[] {
  const messages = new Map(received.map(({ id, body }) => [id, body]));
  return [...messages.values()].flatMap((body) => {
    const { action, result } = JSON.parse(body) as {
      action: string;
      result: { rawEvent: { id: string } }[];
    };
    return action === 'subscribe' ? result.map(({ rawEvent }) => rawEvent.id) : [];
  });
}

async function fetchDeals(sandboxUrl: string): Promise<string[]> {
  const names: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = `limit=${PAGE}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
    const response = await fetch(`${sandboxUrl}/objects/deals/records?${query}`);
    const page = (await response.json()) as {
      records: { name: string }[];
      nextCursor: string | null;
    };
    names.push(...page.records.map(({ name }) => name));
    cursor = page.nextCursor;
  }
  return names;
}
