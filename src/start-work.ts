/** What a worker runs beside requests: deliveries, jobs and sweeps. */
import { EVENTS_CHANNEL } from './database/hot/notification-channels.ts';
import { startDeliveries } from './deliveries/delivery-worker.ts';
import { earliestDue } from './deliveries/outbox.ts';
import type { Services } from './domain/call.ts';
import { HANDLERS } from './jobs/handlers.ts';
import { type AdditionalWork, startJobs, type Work } from './jobs/job-worker.ts';
import { SWEEPS } from './jobs/sweeps.ts';
import { createOutbound } from './outbound/client.ts';
import { HOUR_MS } from './work/durations.ts';

/** Between looks at deliveries that are due and not begun. */
const DUE_GAP_MS = 1_000;

export const WORK: Work = { handlers: HANDLERS, sweeps: SWEEPS };

/** Disposing of it starts nothing new, and waits for the work under way. */
export async function startWork(services: Services): Promise<AsyncDisposable> {
  return await startJobs(services, { ...WORK, startAdditional: startSending });
}

/** The deliveries of a group of projects, with sockets of their own: receivers of one group don't keep those of another waiting. */
function startSending(services: Services): AdditionalWork {
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
