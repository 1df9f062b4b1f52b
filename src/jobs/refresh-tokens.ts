import { refreshDue } from '../domain/connection/connection-refresh.ts';
import type { Sweep } from './job-worker.ts';

/** Of one sweep; the next one continues. */
const BATCHES_MAX = 100;

export const refreshTokensSweep: Sweep = {
  name: 'token refresh',
  intervalMs: 60_000,
  async run(services, signal) {
    for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch += 1) {
      if ((await refreshDue(services)) === 0) return;
    }
  },
};
