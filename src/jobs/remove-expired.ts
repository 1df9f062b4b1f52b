import { dropLeft } from '../domain/event/dropped-deliveries.ts';
import { removeSurplus } from '../domain/event/stream/stream-removal.ts';
import { removeExpired } from '../domain/retention.ts';
import { HOUR_MS, MINUTE_MS } from '../work/durations.ts';
import type { Sweep } from './job-worker.ts';

export const removeExpiredSweep: Sweep = {
  name: 'what has expired',
  intervalMs: HOUR_MS,
  async run(services, signal) {
    const removed = await removeExpired(services, { signal });
    services.log.info({ removed }, 'expired.removed');
  },
};

/** Between the hourly removals: a stream can outgrow its bytes in less. */
export const trimStreamsSweep: Sweep = {
  name: 'streams that are too large',
  intervalMs: MINUTE_MS,
  async run(services, signal) {
    const removed = await removeSurplus(services, { signal });
    if (removed > 0) services.log.info({ removed }, 'streams.trimmed');
  },
};

/** What is left of those that callers have deleted. */
export const dropDeliveriesSweep: Sweep = {
  name: 'deliveries to destinations that are gone',
  intervalMs: MINUTE_MS,
  async run({ database, now, log }, signal) {
    const dropped = await dropLeft(database, { now: now(), signal });
    if (dropped > 0) log.info({ dropped }, 'deliveries.dropped');
  },
};
