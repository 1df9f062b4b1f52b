/**
 * Background load of projects on a cluster: they write records, query pages, run due reads, and receive
 * events of the provider.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Tenant, TestApp } from '../../support/app.ts';
import {
  createEventsBody,
  createSentEvent,
  installForSentEvents,
  signRequest,
} from '../../support/fixtures/signed-events.ts';
import { createClient, fetchFrom } from '../../support/graphql-client.ts';
import type { ReceivedMessage } from '../../support/receiver.ts';
import type { Cluster } from './cluster.ts';
import { filterEndedIn, type TimedWork, type TimeSpan } from './durations.ts';

/** The pause after each unit of work, so that this load does not dominate the measurement. */
const PAUSE_MS = 100;
const POLL_MS = 250;
/** A group that the load of connections does not use. */
const GROUP_REF = { groupRef: 'record-load' };
const POLLING = { timeout: 120_000, interval: 500 };
const PAGE_SIZE = 1_000;

const WRITE_RECORDS = `mutation WriteRecords($input: WriteRecordsInput!) {
  writeRecords(input: $input) { result { success } } }`;
const LIST_OPERATIONS = `query Pages($project: String!) { project(idOrName: $project) {
  operations(first: 50) { edges { node { id status logs(first: 1) { edges { node { message } } } } } }
  connections(first: 20) { edges { node { id group { groupRef } } } } } }`;

type WorkKind = 'writes' | 'queries' | 'reads' | 'events';

export interface LoadedProject {
  projectId: string;
  apiKey: string;
  providerAppId: string;
  /** The provider's ID of the connection. */
  account: string;
  done: Record<WorkKind, ({ id: string } & TimedWork)[]>;
}

/** Installs an integration that reads, writes and subscribes. The destination `records` must exist. */
export async function prepareRecordLoad(app: TestApp, tenant: Tenant): Promise<LoadedProject> {
  const { projectId, apiKey } = tenant;
  const content = { write: { objects: [{ objectName: 'deals' }] } };
  const { providerAppId, account } = await installForSentEvents(app, tenant, {
    content,
    ...GROUP_REF,
  });
  const done = { writes: [], queries: [], reads: [], events: [] };
  return { projectId, apiKey, providerAppId, account, done };
}

export interface LoadTarget {
  cluster: Cluster;
  gatewayUrl: string;
  isOver: () => boolean;
}

/** Repeats all kinds of work until `isOver`. */
export async function runRecordLoad(project: LoadedProject, target: LoadTarget): Promise<void> {
  const repeat = async (kind: WorkKind, work: () => Promise<string | null>) => {
    while (!target.isOver()) {
      const startMs = performance.now();
      const id = await work().catch(() => null);
      const endMs = performance.now();
      if (id !== null) project.done[kind].push({ id, ms: endMs - startMs, endMs });
      await delay(PAUSE_MS);
    }
  };
  await Promise.all([
    repeat('writes', () => writeDeal(project, target)),
    repeat('queries', () => queryPages(project, target)),
    repeat('events', () => sendEvent(project, target)),
    repeat('reads', () => readOnSchedule(project, target)),
  ]);
}

/** Returns the durations of the work that ended within the span. */
export function listDurationsIn(
  projects: readonly LoadedProject[],
  span: TimeSpan,
): Record<WorkKind, number[]> {
  const list = (kind: WorkKind) =>
    filterEndedIn(
      projects.flatMap(({ done }) => done[kind]),
      span,
    ).map(({ ms }) => ms);
  return {
    writes: list('writes'),
    queries: list('queries'),
    reads: list('reads'),
    events: list('events'),
  };
}

/** Returns how often each kind of work ended within the span. */
export function countWorkIn(
  projects: readonly LoadedProject[],
  span: TimeSpan,
): Record<WorkKind, number> {
  const { writes, queries, reads, events } = listDurationsIn(projects, span);
  return {
    writes: writes.length,
    queries: queries.length,
    reads: reads.length,
    events: events.length,
  };
}

/** Waits until each project has done each kind of work again. */
export async function expectWorkSince(
  projects: readonly LoadedProject[],
  fromMs: number,
): Promise<void> {
  for (const project of projects) {
    const countRarestWork = () =>
      Math.min(...Object.values(countWorkIn([project], { fromMs, toMs: performance.now() })));
    await expect.poll(countRarestWork, POLLING).toBeGreaterThan(0);
  }
}

/** Returns the name of the created deal, or null if the write failed. */
async function writeDeal(
  { projectId, apiKey }: LoadedProject,
  { gatewayUrl }: LoadTarget,
): Promise<string | null> {
  const name = crypto.randomUUID();
  const input = {
    ...{ projectIdOrName: projectId, integrationIdOrName: 'crm', ...GROUP_REF },
    ...{ objectName: 'deals', type: 'CREATE', records: { record: { name } }, idempotencyKey: name },
  };
  const client = createClient(fetchFrom(gatewayUrl), { 'x-api-key': apiKey });
  const { data } = await client.request(WRITE_RECORDS, { input });
  return data?.writeRecords?.result?.success ? name : null;
}

/** Queries pages of two lists with related rows. */
async function queryPages(
  { projectId, apiKey }: LoadedProject,
  { gatewayUrl }: LoadTarget,
): Promise<string | null> {
  const client = createClient(fetchFrom(gatewayUrl), { 'x-api-key': apiKey });
  const { data, errors } = await client.request(LIST_OPERATIONS, { project: projectId });
  return data?.project && !errors ? projectId : null;
}

/** Sends an event, and repeats it until the gateway accepts it, as a provider does. */
async function sendEvent(
  { providerAppId, account }: LoadedProject,
  { gatewayUrl, isOver }: LoadTarget,
): Promise<string | null> {
  const id = crypto.randomUUID();
  const body = createEventsBody(createSentEvent(account, { id, recordId: id }));
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

/** Makes a scheduled read due. Returns the ID of an ended read that was not counted yet, or null. */
async function readOnSchedule(
  { projectId, done }: LoadedProject,
  { cluster }: LoadTarget,
): Promise<string | null> {
  await cluster.query(
    `update "InstalledObject" set "nextReadTime" = now() where "projectId" = $1 and not exists
       (select from "Operation" o where o."projectId" = $1 and o."actionType" = 'READ' and o.status = 'IN_PROGRESS')`,
    [projectId],
  );
  await delay(POLL_MS);
  const countedIds = new Set(done.reads.map(({ id }) => id));
  const endedReads = await cluster.query<{ id: string }>(
    `select id from "Operation" where "projectId" = $1 and "actionType" = 'READ' and status = 'SUCCESS'`,
    [projectId],
  );
  return endedReads.find(({ id }) => !countedIds.has(id))?.id ?? null;
}

interface WorkEvidence {
  cluster: Cluster;
  sandboxUrl: string;
  /** Returns the messages that arrived at the destination `records`. */
  listRecordMessages(): ReceivedMessage[];
}

/** Expects that acknowledged work was done exactly once and that no operation is left in progress. */
export async function expectWorkOnce(
  { projectId, done }: LoadedProject,
  { cluster, sandboxUrl, listRecordMessages }: WorkEvidence,
): Promise<void> {
  const countOpen = async () => {
    const text = `select from "Operation" where "projectId" = $1 and status = 'IN_PROGRESS'`;
    return (await cluster.query(text, [projectId])).length;
  };
  await expect.poll(countOpen, POLLING).toBe(0);
  const countMissing = () => {
    const arrivedIds = new Set(listEventIds(listRecordMessages()));
    return done.events.filter(({ id }) => !arrivedIds.has(id)).length;
  };
  await expect.poll(countMissing, POLLING).toBe(0);
  const arrivedIds = listEventIds(listRecordMessages());
  expect(new Set(arrivedIds).size).toBe(arrivedIds.length);
  const names = await fetchDealNames(sandboxUrl);
  const counts = done.writes.map(({ id }) => names.filter((name) => name === id).length);
  expect(counts.filter((count) => count !== 1)).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  const { writes, queries, reads, events } = done;
  console.log(
    `${writes.length} writes, ${queries.length} pages, ${reads.length} reads, ${events.length} events`,
  );
}

/** Returns the IDs of events. Counts a repeated message, which has the same ID, once. */
function listEventIds(messages: readonly ReceivedMessage[]): string[] {
  const bodies = new Map(messages.map(({ id, body }) => [id, body])).values();
  return [...bodies].flatMap((body) => {
    const { action, result } = JSON.parse(body) as {
      action: string;
      result: { rawEvent: { id: string } }[];
    };
    return action === 'subscribe' ? result.map(({ rawEvent }) => rawEvent.id) : [];
  });
}

async function fetchDealNames(sandboxUrl: string): Promise<string[]> {
  const names: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = `limit=${PAGE_SIZE}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
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
