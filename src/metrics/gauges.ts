/**
 * Metrics that are computed when Prometheus scrapes them: shares, streams, connections, pending work, and the process
 * itself.
 */
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import type { Database } from '../database/open/database.ts';
import {
  acrossProjects,
  type InProjects,
  sweep,
} from '../database/statements/projects/all-projects.ts';

/** Counting stops at this number, so that it is cheap even if much work is pending. */
const COUNTED_MAX = 100_000;

interface GaugeSources {
  database: Database;
  /** Counts the open streams of this process, and the streams that lag behind the end of their log. */
  streams: () => { open: number; lagging: number };
  /** Returns the shares of this process, and the number of requests that wait for their turn. */
  shares: () => { shares: readonly ShareState[]; waiting: number };
  work: {
    /** The kinds of work on leased rows. */
    kinds: readonly WorkKind[];
    /** Returns the number of rows that this process runs, by kind. */
    countRunning: () => ReadonlyMap<string, number>;
  };
  /** True if this process counts pending work, which is the same in all processes. */
  countsWork: boolean;
}

interface WorkKind {
  kind: string;
  /** SQL: the column `time`, since when each overdue row waits. Absent if other metrics count the rows. */
  createOverdueSql?(inProjects: InProjects, countMax: number): string;
}

/** The use of a share. */
interface ShareState {
  name: string;
  held: number;
  max: number;
  /** The largest holder of each level. */
  largest: readonly { level: string; held: number }[];
}

/** Updates gauges. Call it before the registry is read. Never throws. */
export type UpdateGauges = () => Promise<void>;

export function observeGauges(register: Registry, sources: GaugeSources): UpdateGauges {
  collectDefaultMetrics({ register });
  const createGauge: CreateGauge = (name, help, labelNames = []) =>
    new Gauge({ name, help, labelNames, registers: [register] });
  const updates = [
    observeShares(createGauge, sources),
    observeStreams(createGauge, sources),
    observeConnections(createGauge, sources),
  ];
  if (sources.countsWork) updates.push(observeWork(createGauge, sources));
  return async () => {
    await Promise.all(updates.map((update) => update()));
  };
}

type CreateGauge = (name: string, help: string, labelNames?: string[]) => Gauge;

/** No label names a tenant: each level reports only its largest holder. */
function observeShares(gauge: CreateGauge, { shares }: GaugeSources): UpdateGauges {
  const requestsMax = gauge('gateway_requests_max', 'LIMIT_REQUESTS.');
  const held = gauge('gateway_share_held', 'The part of a share that callers use.', ['share']);
  const max = gauge('gateway_share_max', 'The most that all callers may hold.', ['share']);
  const largest = gauge(
    'gateway_share_largest',
    'The part of a share that the largest holder of a level uses.',
    ['share', 'level'],
  );
  const waiting = gauge('gateway_requests_waiting', 'Requests that wait for their turn.');
  return async () => {
    const state = shares();
    waiting.set(state.waiting);
    for (const { name: share, ...use } of state.shares) {
      if (share === 'requests') requestsMax.set(use.max);
      held.set({ share }, use.held);
      max.set({ share }, use.max);
      for (const holder of use.largest) largest.set({ share, level: holder.level }, holder.held);
    }
  };
}

function observeStreams(gauge: CreateGauge, { streams }: GaugeSources): UpdateGauges {
  const open = gauge('gateway_event_streams', 'Open event streams.');
  const lagging = gauge(
    'gateway_event_streams_lagging',
    'Event streams that are behind their log.',
  );
  return async () => {
    const state = streams();
    open.set(state.open);
    lagging.set(state.lagging);
  };
}

function observeConnections(gauge: CreateGauge, { database }: GaugeSources): UpdateGauges {
  const count = gauge('db_client_connection_count', 'Connections of the pool.', ['state']);
  const max = gauge('db_client_connection_max', 'Connections that the pool may have.');
  const waiting = gauge(
    'db_client_connection_pending_requests',
    'Statements and transactions that wait for a connection.',
  );
  return async () => {
    const connections = database.connections();
    count.set({ state: 'idle' }, connections.idle);
    count.set({ state: 'used' }, connections.open - connections.idle);
    max.set(connections.max);
    waiting.set(connections.waiting);
  };
}

function observeWork(gauge: CreateGauge, { database, work }: GaugeSources): UpdateGauges {
  const pending = gauge('gateway_deliveries_pending', 'Deliveries that are pending.');
  const due = gauge('gateway_deliveries_due', 'Deliveries that are due.');
  const oldest = gauge('gateway_delivery_oldest_due_seconds', 'How long the oldest has been due.');
  const events = gauge('gateway_provider_events_waiting', 'Events of providers that wait.');
  const oldestEvent = gauge(
    'gateway_provider_event_oldest_seconds',
    'How long the oldest event of a provider has waited.',
  );
  const updateLeasedWork = observeLeasedWork(gauge, { database, work });
  const databaseUp = gauge(
    'gateway_database_up',
    '1 if the last query of the database for waiting work succeeded, else 0.',
  );
  return async () => {
    // A failed query must leave no old values, which would look current.
    for (const outdated of [pending, due, oldest, events, oldestEvent]) outdated.remove();
    try {
      // In a cluster, each shard returns a row.
      const [outboxes, providerEvents] = await Promise.all([
        sweep(database, OUTBOX),
        sweep(database, PROVIDER_EVENTS),
        updateLeasedWork(),
      ]);
      pending.set(sum(outboxes.map((outbox) => outbox.pending)));
      due.set(sum(outboxes.map((outbox) => outbox.due)));
      oldest.set(Math.max(0, ...outboxes.map(({ oldestSeconds }) => oldestSeconds)));
      events.set(sum(providerEvents.map(({ waiting }) => waiting)));
      oldestEvent.set(Math.max(0, ...providerEvents.map(({ oldestSeconds }) => oldestSeconds)));
      databaseUp.set(1);
    } catch {
      // The outage of the database is already logged.
      databaseUp.set(0);
    }
  };
}

/** Returns a function that updates the gauges, and throws the error of its query. */
function observeLeasedWork(
  gauge: CreateGauge,
  { database, work }: Pick<GaugeSources, 'database' | 'work'>,
): () => Promise<void> {
  const due = gauge('gateway_work_due', 'Rows that wait for a worker, by kind.', ['kind']);
  const running = gauge('gateway_work_running', 'Rows that this process runs, by kind.', ['kind']);
  const oldest = gauge(
    'gateway_work_oldest_due_seconds',
    'How long the oldest row that waits for a worker has been due, by kind.',
    ['kind'],
  );
  const overdue = createOverdueStatement(work.kinds);
  return async () => {
    for (const outdated of [due, running, oldest]) outdated.reset();
    for (const [kind, count] of work.countRunning()) running.set({ kind }, count);
    const overdueRows = await sweep(database, overdue);
    for (const [kind, rows] of Map.groupBy(overdueRows, (row) => row.kind)) {
      due.set({ kind }, sum(rows.map((row) => row.due)));
      oldest.set({ kind }, Math.max(0, ...rows.map(({ oldestSeconds }) => oldestSeconds)));
    }
  };
}

/** SQL: the seconds since the oldest time in a column. 0 if there is no row, or if the time is in the future. */
function secondsSinceOldestSql(column: string): string {
  return `coalesce(greatest(extract(epoch from now() - min("${column}")), 0), 0)::float8`;
}

const OUTBOX = acrossProjects<OutboxState>(
  'a metric of pending deliveries',
  (inProjects) => `
  select count(*)::int as "pending",
    (count(*) filter (where "nextAttemptTime" <= now()))::int as "due",
    ${secondsSinceOldestSql('nextAttemptTime')} as "oldestSeconds"
  from (
    select delivery."nextAttemptTime" from "Delivery" delivery
    join "Destination" destination on destination."projectId" = delivery."projectId"
      and destination."id" = delivery."destinationId" and destination."status" = 'ENABLED'
    where ${inProjects('delivery."projectId"')} and delivery."nextAttemptTime" is not null
    limit ${COUNTED_MAX}
  ) waiting`,
);

interface OutboxState {
  pending: number;
  due: number;
  /** How long the oldest delivery has been due. 0 if none is due. */
  oldestSeconds: number;
}

const PROVIDER_EVENTS = acrossProjects<ProviderEventsState>(
  'a metric of waiting provider events',
  (inProjects) => `
  select count(*)::int as "waiting",
    ${secondsSinceOldestSql('receiveTime')} as "oldestSeconds"
  from (
    select "receiveTime" from "ProviderEvent"
    where ${inProjects('"projectId"')} and "doneTime" is null limit ${COUNTED_MAX}
  ) waiting`,
);

interface ProviderEventsState {
  waiting: number;
  /** How long the oldest event has waited. 0 if none waits. */
  oldestSeconds: number;
}

/** SQL: the overdue rows of each kind, at most COUNTED_MAX. In a cluster, each shard returns rows. */
function createOverdueStatement(kinds: readonly WorkKind[]) {
  return acrossProjects<OverdueState>('a metric of overdue work', (inProjects) =>
    kinds
      .flatMap(({ kind, createOverdueSql }) => {
        const overdueSql = createOverdueSql?.(inProjects, COUNTED_MAX);
        if (!overdueSql) return [];
        return `select '${kind}' as "kind", count(*)::int as "due", ${secondsSinceOldestSql('time')} as "oldestSeconds"
          from (${overdueSql}) overdue`;
      })
      .join(' union all '),
  );
}

interface OverdueState {
  kind: string;
  due: number;
  /** How long the oldest row has been due. 0 if none is due. */
  oldestSeconds: number;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
