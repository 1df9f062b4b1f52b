/** Names all work that runs without a request. Each entry leads to the function that does it. */

import type { Database } from '../database/open/database.ts';
import {
  analyzeOutgrownTables,
  OUTGROWN_TABLE_DUE,
} from '../database/statements/outgrown-tables.ts';
import { EVENTS_CHANNEL } from '../database/transactions/notification-channels.ts';
import { startDeliveries } from '../deliveries/delivery-worker.ts';
import { selectEarliestDueSql } from '../deliveries/outbox.ts';
import type { Services } from '../domain/access/call.ts';
import { proposals } from '../domain/agents/commit-proposal.ts';
import { tokenRefreshes } from '../domain/connections/connection/token/refresh-due-token.ts';
import { reads } from '../domain/data/operation/read/continue-read.ts';
import { scheduledReads } from '../domain/data/operation/read/schedule.ts';
import { writes } from '../domain/data/operation/write/write-run.ts';
import { providerEvents } from '../domain/data/provider-event/deliver-provider-events.ts';
import { subscriptions } from '../domain/data/provider-event/maintain-subscriptions.ts';
import { providerStreams } from '../domain/data/provider-event/stream/follow-provider-stream.ts';
import { schemaWatches } from '../domain/data/schema-watch/poll-schemas.ts';
import { dropRemainingDeliveries } from '../domain/events/dropped-deliveries.ts';
import { removeSurplus } from '../domain/events/stream/stream-removal.ts';
import { activityCounts } from '../domain/overview/activity-deltas.ts';
import { erasures } from '../domain/upkeep/continue-erasure.ts';
import { removeExpired } from '../domain/upkeep/retention.ts';
import type { LeasedWork } from '../jobs/leased-work.ts';
import { type AdditionalWork, type BackgroundWork, runWork } from '../jobs/run-work.ts';
import type { Upkeep } from '../jobs/upkeep-loop.ts';
import { createOutbound } from '../outbound/client.ts';
import { HOUR_MS, MINUTE_MS } from '../work/durations.ts';

/** Leased rows: a worker claims a due row, holds it, and runs it. */
export const LEASED_WORK: readonly LeasedWork<object, Services>[] = [
  writes,
  reads,
  erasures,
  proposals,
  providerEvents,
  subscriptions,
  providerStreams,
  schemaWatches,
  tokenRefreshes,
];

/** Frees the leases of processes that have ended, within seconds of their end. */
const endedProcesses: Upkeep<Services> = {
  name: 'ended processes',
  intervalMs: 1_000,
  createDueTimeSql: (_inProjects, { processes }) => processes.dueTimeSql,
  hasNoProject: true,
  async run({ database, log }) {
    const processIds = await database.processes.check();
    if (processIds.length > 0) log.warn({ processIds }, 'process.ended');
  },
};

/** Fails the pending deliveries of deleted destinations. */
export const droppedDeliveries: Upkeep<Services> = {
  name: 'deliveries to deleted destinations',
  intervalMs: MINUTE_MS,
  async run({ database, now, log }, signal) {
    const droppedCount = await dropRemainingDeliveries(database, { now: now(), signal });
    if (droppedCount > 0) log.info({ dropped: droppedCount }, 'deliveries.dropped');
  },
};

const expiredRows: Upkeep<Services> = {
  name: 'expired rows',
  intervalMs: HOUR_MS,
  async run(services, signal) {
    const removedCount = await removeExpired(services, { signal });
    services.log.info({ removed: removedCount }, 'expired_rows.removed');
  },
};

/** Runs more often than the hourly removal, because a stream can exceed its bytes sooner. */
const oversizedStreams: Upkeep<Services> = {
  name: 'oversized streams',
  intervalMs: MINUTE_MS,
  async run(services, signal) {
    const removedCount = await removeSurplus(services, { signal });
    if (removedCount > 0) services.log.info({ removed: removedCount }, 'streams.trimmed');
  },
};

/**
 * Returns whether this process maintains the statistics of the database. An embedded database and the nodes of a
 * cluster maintain their own.
 */
const maintainsStatistics = ({ kind, isDistributed }: Database) =>
  kind === 'postgres' && !isDistributed;

const outgrownTables: Upkeep<Services> = {
  name: 'outgrown tables',
  intervalMs: 2_000,
  hasNoProject: true,
  createDueTimeSql: (_inProjects, database) =>
    maintainsStatistics(database) ? OUTGROWN_TABLE_DUE : null,
  async run({ database }) {
    if (maintainsStatistics(database)) await analyzeOutgrownTables(database);
  },
};

const WORK: BackgroundWork<Services> = {
  leased: LEASED_WORK,
  // Leases of ended processes are freed first.
  upkeep: [
    endedProcesses,
    scheduledReads,
    activityCounts,
    droppedDeliveries,
    expiredRows,
    oversizedStreams,
    outgrownTables,
  ],
  startAdditional: startSending,
};

/** Starts the work. Disposing the result stops new work and waits for running work. */
export async function startWork(services: Services): Promise<AsyncDisposable> {
  return await runWork(services, WORK);
}

/** The interval between checks for deliveries that are due and not started. */
const DUE_GAP_MS = 1_000;

/**
 * Starts the deliveries of a shard group. The statement that records an event also inserts its deliveries, and notifies
 * EVENTS_CHANNEL. The notification wakes the delivery worker, which claims and sends them. Retries and lost notifications
 * are found by the alarm. The deliveries of each shard group have separate sockets, so that slow receivers in one of them don't
 * delay deliveries in another.
 */
function startSending(services: Services): AdditionalWork {
  const outbound = createOutbound({
    allowedPrivateTargets: services.config.ALLOWED_PRIVATE_TARGETS,
    alwaysAllowedOrigins: () => [services.sandboxUrl()],
  });
  // A long interval, because notifications and the alarm wake the worker.
  const limits = { pollMs: HOUR_MS };
  const deliveries = startDeliveries({ ...services, outbound, limits });
  const listening = services.database.listen(EVENTS_CHANNEL, () => deliveries.wake());
  return {
    watched: [
      {
        createDueTimeSql: selectEarliestDueSql,
        intervalMsMin: DUE_GAP_MS,
        onDue: () => deliveries.wake(),
      },
    ],
    async [Symbol.asyncDispose]() {
      await Promise.all([listening[Symbol.asyncDispose](), deliveries[Symbol.asyncDispose]()]);
      await outbound[Symbol.asyncDispose]();
    },
  };
}
