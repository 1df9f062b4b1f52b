import { removeExpired } from '../domain/retention.ts';
import { HOUR_MS } from '../work/durations.ts';
import type { Sweep } from './job-worker.ts';

export const removeExpiredSweep: Sweep = {
  name: 'what has expired',
  intervalMs: HOUR_MS,
  async run(services, signal) {
    const removed = await removeExpired(services, signal);
    services.log.info({ removed }, 'expired.removed');
  },
};
