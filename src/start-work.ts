/** What a worker runs beside requests: deliveries, jobs and sweeps. */

import { EVENTS_CHANNEL } from './database/changes/hint-channels.ts';
import { startDeliveries } from './deliveries/deliveries.ts';
import { earliestDue } from './deliveries/outbox.ts';
import type { Services } from './domain/call.ts';
import { analyzeOutgrownTablesSweep } from './jobs/analyze-outgrown-tables.ts';
import { foldActivitySweep } from './jobs/fold-activity.ts';
import { startJobs, type Work, type WorkBeside } from './jobs/job-worker.ts';
import { missProcessesSweep } from './jobs/miss-processes.ts';
import { deliverProviderEventsSweep } from './jobs/provider-event/deliver-provider-events.ts';
import { followProviderStreamsSweep } from './jobs/provider-event/follow-provider-streams.ts';
import { lookAfterSubscriptionsSweep } from './jobs/provider-event/look-after-subscriptions.ts';
import { recoverErasuresSweep } from './jobs/recover-erasures.ts';
import { recoverReadsSweep } from './jobs/recover-reads.ts';
import { recoverWritesSweep } from './jobs/recover-writes.ts';
import { refreshTokensSweep } from './jobs/refresh-tokens.ts';
import {
  dropDeliveriesSweep,
  removeExpiredSweep,
  trimStreamsSweep,
} from './jobs/remove-expired.ts';
import { runErasureJob } from './jobs/run-erasure.ts';
import { runReadJob } from './jobs/run-read.ts';
import { runWriteJob } from './jobs/run-write.ts';
import { scheduleReadsSweep } from './jobs/schedule-reads.ts';
import { watchSchemasSweep } from './jobs/watch-schemas.ts';
import { createOutbound } from './outbound/client.ts';
import { HOUR_MS } from './work/durations.ts';

/** Between looks at deliveries that are due and not begun. */
const DUE_GAP_MS = 1_000;

export const WORK: Work = {
  handlers: {
    'run-write': runWriteJob,
    'run-read': runReadJob,
    'run-erasure': runErasureJob,
  },
  // First the work that processes that ended have left behind.
  sweeps: [
    missProcessesSweep,
    recoverWritesSweep,
    recoverReadsSweep,
    deliverProviderEventsSweep,
    lookAfterSubscriptionsSweep,
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
  ],
};

/** Disposing of it starts nothing new, and waits for the work under way. */
export async function startWork(services: Services): Promise<AsyncDisposable> {
  return await startJobs(services, { ...WORK, beside: startSending });
}

/** The deliveries of a group of projects, with sockets of their own: receivers of one group don't keep those of another waiting. */
function startSending(services: Services): WorkBeside {
  const outbound = createOutbound({
    allowedPrivateTargets: services.config.ALLOWED_PRIVATE_TARGETS,
    alwaysAllowedOrigins: () => [services.sandboxUrl()],
  });
  // It is told what is due.
  const limits = { pollMs: HOUR_MS };
  const deliveries = startDeliveries({ ...services, outbound, limits });
  const listening = services.database.listen(EVENTS_CHANNEL, () => deliveries.wake());
  return {
    watched: [{ earliest: earliestDue, gapMs: DUE_GAP_MS, onDue: () => deliveries.wake() }],
    async [Symbol.asyncDispose]() {
      await Promise.all([listening[Symbol.asyncDispose](), deliveries[Symbol.asyncDispose]()]);
      await outbound[Symbol.asyncDispose]();
    },
  };
}
