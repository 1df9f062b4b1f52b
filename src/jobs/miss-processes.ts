import type { Sweep } from './job-worker.ts';

/** Frees the leases of processes that have ended, soon after they end. */
export const missProcessesSweep: Sweep = {
  name: 'processes to miss',
  intervalMs: 1_000,
  earliest: (_isAsked, { processes }) => processes.earliest,
  isCommon: true,
  async run({ database, log }) {
    const processIds = await database.processes.look();
    if (processIds.length > 0) log.warn({ processIds }, 'process.missed');
  },
};
