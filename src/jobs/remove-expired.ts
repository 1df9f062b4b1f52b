import { removeExpired } from '../domain/retention.ts';
import type { Sweep } from './worker.ts';

const HOUR_MS = 60 * 60 * 1_000;

export const removeExpiredSweep: Sweep = {
  name: 'what has expired',
  intervalMs: HOUR_MS,
  async run(services, signal) {
    const removed = await removeExpired(services, signal);
    services.log.info({ removed }, 'what has expired is removed');
  },
};
