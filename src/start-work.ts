/** Starts the background work of a worker: deliveries, jobs and sweeps. */
import { EVENTS_CHANNEL } from './database/hot/notification-channels.ts';
import { startDeliveries } from './deliveries/delivery-worker.ts';
import { selectEarliestDueSql } from './deliveries/outbox.ts';
import type { Services } from './domain/call.ts';
import { continueErasure } from './domain/erasure/continue-erasure.ts';
import { continueRead } from './domain/operation/read/continue-read.ts';
import { runWrite } from './domain/operation/write/write-run.ts';
import {
  type AdditionalWork,
  type BackgroundWork,
  type JobHandlers,
  startJobs,
} from './jobs/job-worker.ts';
import { SWEEPS } from './jobs/sweeps.ts';
import { createOutbound } from './outbound/client.ts';
import { HOUR_MS } from './work/durations.ts';

/** The interval between checks for deliveries that are due and not started. */
const DUE_GAP_MS = 1_000;

export const HANDLERS = {
  /** Attempts a write once. If the attempt fails, another job runs the next one. */
  'run-write': async (services, { projectId, taskId: id }) => {
    await runWrite(services, { projectId, id });
  },
  /** Reads some pages. Another job reads the rest. */
  'run-read': continueRead,
  /** Removes some rows. Another job removes the rest. */
  'run-erasure': continueErasure,
} satisfies JobHandlers;

const WORK: BackgroundWork = { handlers: HANDLERS, sweeps: SWEEPS };

/** Starts the work. Disposing the result stops new work and waits for running work. */
export async function startWork(services: Services): Promise<AsyncDisposable> {
  return await startJobs(services, { ...WORK, startAdditional: startSending });
}

/**
 * Starts the deliveries of a shard group. They have separate sockets, so that slow receivers in one shard group don't
 * delay deliveries in another.
 */
function startSending(services: Services): AdditionalWork {
  const outbound = createOutbound({
    allowedPrivateTargets: services.config.ALLOWED_PRIVATE_TARGETS,
    alwaysAllowedOrigins: () => [services.sandboxUrl()],
  });
  // A long interval, because due deliveries are notified.
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
