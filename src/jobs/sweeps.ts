/** Sweeps do work that has no job, or whose job was lost. SWEEPS lists them in the order of their first runs. */
import type { Database } from '../database/database.ts';
import {
  PROVIDER_EVENTS_CHANNEL,
  SUBSCRIPTIONS_CHANNEL,
} from '../database/hot/notification-channels.ts';
import { analyzeOutgrownTables, OUTGROWN_TABLE_DUE } from '../database/postgres/outgrown-tables.ts';
import { foldActivity } from '../domain/activity/activity-deltas.ts';
import { refreshDueTokens } from '../domain/connection/connection-refresh.ts';
import { recoverErasures } from '../domain/erasure/erasure.ts';
import { dropRemainingDeliveries } from '../domain/event/dropped-deliveries.ts';
import { removeSurplus } from '../domain/event/stream/stream-removal.ts';
import { recoverReads } from '../domain/operation/read/read-run.ts';
import { startDueReads } from '../domain/operation/read/schedule.ts';
import { recoverWrites } from '../domain/operation/write/write-task.ts';
import { continueProposals } from '../domain/proposal/commit-proposal.ts';
import { deliverProviderEvents } from '../domain/provider-event/deliver-provider-events.ts';
import { maintainSubscriptions } from '../domain/provider-event/maintain-subscriptions.ts';
import { followStreams } from '../domain/provider-event/stream/follow-stream.ts';
import { removeExpired } from '../domain/retention.ts';
import { pollSchemas } from '../domain/schema-watch/poll-schemas.ts';
import { HOUR_MS, MINUTE_MS } from '../work/durations.ts';
import type { Sweep } from './run-sweeps.ts';

/** Frees the leases of processes that have ended, within seconds of their end. */
const checkProcessesSweep: Sweep = {
  name: 'ended processes',
  intervalMs: 1_000,
  createDueTimeSql: (_inProjects, { processes }) => processes.dueTimeSql,
  hasNoProject: true,
  async run({ database, log }) {
    const processIds = await database.processes.check();
    if (processIds.length > 0) log.warn({ processIds }, 'process.missed');
  },
};

export const recoverWritesSweep: Sweep = {
  name: 'writes to recover',
  intervalMs: 2_000,
  createDueTimeSql: (inProjects) => `select min("dueTime") from "WriteTask"
    where ${inProjects('"projectId"')} and "dueTime" is not null`,
  run: recoverWrites,
};

export const recoverReadsSweep: Sweep = {
  name: 'reads to recover',
  intervalMs: 2_000,
  createDueTimeSql: (inProjects) => `select "dueTime" from "ReadRun"
    where ${inProjects('"projectId"')} and not "paused" order by "dueTime" limit 1`,
  run: recoverReads,
};

const continueProposalsSweep: Sweep = {
  name: 'proposals',
  intervalMs: 5_000,
  createDueTimeSql: (inProjects) => `select min("dueTime") from "Proposal"
    where ${inProjects('"projectId"')} and "dueTime" is not null`,
  run: continueProposals,
};

const deliverProviderEventsSweep: Sweep = {
  name: 'provider events',
  intervalMs: 5_000,
  channel: PROVIDER_EVENTS_CHANNEL,
  createDueTimeSql: (inProjects) => `select now() from "ProviderEvent"
    where ${inProjects('"projectId"')} and "doneTime" is null limit 1`,
  run: deliverProviderEvents,
};

const maintainSubscriptionsSweep: Sweep = {
  name: 'subscriptions at providers',
  intervalMs: 5_000,
  channel: SUBSCRIPTIONS_CHANNEL,
  createDueTimeSql: (inProjects) => `select min("dueTime") from "ObjectSubscription"
    where ${inProjects('"projectId"')} and "dueTime" is not null`,
  run: maintainSubscriptions,
};

/** Runs while this process follows a stream. */
const followProviderStreamsSweep: Sweep = {
  name: 'streams of providers',
  intervalMs: 2_000,
  channel: SUBSCRIPTIONS_CHANNEL,
  // A stream that a process follows is due when its lease ends.
  createDueTimeSql: (
    inProjects,
  ) => `select min(greatest("dueTime", "leaseExpireTime")) from "ProviderStream"
    where ${inProjects('"projectId"')}`,
  run: followStreams,
};

export const scheduleReadsSweep: Sweep = {
  name: 'reads to start',
  intervalMs: 1_000,
  createDueTimeSql: (inProjects) => `select "nextReadTime" from "InstalledObject"
    where ${inProjects('"projectId"')} and "nextReadTime" is not null and not "paused" order by "nextReadTime" limit 1`,
  run: startDueReads,
};

/** Runs every minute, which is the resolution of schedules. */
const watchSchemasSweep: Sweep = {
  name: 'fields at providers',
  intervalMs: 60_000,
  createDueTimeSql: (inProjects) =>
    `select min("dueTime") from "SchemaWatch" where ${inProjects('"projectId"')}`,
  run: pollSchemas,
};

/** The maximum number of batches in one run. The next run continues. */
const BATCHES_MAX = 100;

export const refreshTokensSweep: Sweep = {
  name: 'token refresh',
  intervalMs: 60_000,
  async run(services, signal) {
    for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch += 1) {
      if ((await refreshDueTokens(services)) === 0) return;
    }
  },
};

const foldActivitySweep: Sweep = {
  name: 'activity counts',
  intervalMs: 10_000,
  createDueTimeSql: (inProjects) =>
    `select now() from "ActivityDelta" where ${inProjects('"projectId"')} limit 1`,
  run: (services, signal) => foldActivity(services, signal),
};

const recoverErasuresSweep: Sweep = {
  name: 'erasures to recover',
  intervalMs: 60_000,
  run: recoverErasures,
};

const removeExpiredSweep: Sweep = {
  name: 'expired rows',
  intervalMs: HOUR_MS,
  async run(services, signal) {
    const removedCount = await removeExpired(services, { signal });
    services.log.info({ removed: removedCount }, 'expired.removed');
  },
};

/** Runs more often than the hourly removal, because a stream can exceed its bytes sooner. */
const trimStreamsSweep: Sweep = {
  name: 'oversized streams',
  intervalMs: MINUTE_MS,
  async run(services, signal) {
    const removedCount = await removeSurplus(services, { signal });
    if (removedCount > 0) services.log.info({ removed: removedCount }, 'streams.trimmed');
  },
};

/** Fails the pending deliveries of deleted destinations. */
export const dropDeliveriesSweep: Sweep = {
  name: 'deliveries to deleted destinations',
  intervalMs: MINUTE_MS,
  async run({ database, now, log }, signal) {
    const droppedCount = await dropRemainingDeliveries(database, { now: now(), signal });
    if (droppedCount > 0) log.info({ dropped: droppedCount }, 'deliveries.dropped');
  },
};

/**
 * Returns whether this process maintains the statistics of the database. An embedded database and the nodes of a
 * cluster maintain their own.
 */
const maintainsStatistics = ({ kind, isDistributed }: Database) =>
  kind === 'postgres' && !isDistributed;

const analyzeOutgrownTablesSweep: Sweep = {
  name: 'outgrown tables',
  intervalMs: 2_000,
  hasNoProject: true,
  createDueTimeSql: (_inProjects, database) =>
    maintainsStatistics(database) ? OUTGROWN_TABLE_DUE : null,
  async run({ database }) {
    if (maintainsStatistics(database))
      await analyzeOutgrownTables(database.sweeps(database.shardGroup));
  },
};

/** Work of ended processes comes first. */
export const SWEEPS: readonly Sweep[] = [
  checkProcessesSweep,
  recoverWritesSweep,
  recoverReadsSweep,
  continueProposalsSweep,
  deliverProviderEventsSweep,
  maintainSubscriptionsSweep,
  followProviderStreamsSweep,
  scheduleReadsSweep,
  watchSchemasSweep,
  refreshTokensSweep,
  foldActivitySweep,
  recoverErasuresSweep,
  dropDeliveriesSweep,
  removeExpiredSweep,
  trimStreamsSweep,
  analyzeOutgrownTablesSweep,
];
