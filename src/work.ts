/** What runs beside requests in a worker: deliveries and jobs. */
import { startDeliveries } from './deliveries/deliveries.ts';
import type { Services } from './domain/call.ts';
import { EVENTS_CHANNEL } from './events/channel.ts';
import { startJobs, type Work } from './jobs/worker.ts';
import { createOutbound } from './outbound/client.ts';

/** Stops in the other order: what is under way is finished and recorded first. */
export async function startWork(services: Services, work: Work): Promise<AsyncDisposable> {
  const { config, database, sandboxUrl } = services;
  await using starting = new AsyncDisposableStack();
  const outbound = starting.use(
    createOutbound({
      allowedPrivateTargets: config.ALLOWED_PRIVATE_TARGETS,
      alwaysAllowedOrigins: () => (sandboxUrl ? [sandboxUrl] : []),
    }),
  );
  const deliveries = starting.use(startDeliveries({ ...services, outbound }));
  starting.use(await database.listen(EVENTS_CHANNEL, () => deliveries.wake()));
  starting.use(await startJobs(services, work));
  return starting.move();
}
