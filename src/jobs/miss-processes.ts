import type { Sweep } from './job-worker.ts';

/** What a process held that has ended is free for others a moment later. */
export const missProcessesSweep: Sweep = {
  name: 'processes to miss',
  intervalMs: 1_000,
  async run({ database, log }) {
    const processIds = await database.processes.look();
    if (processIds.length > 0) log.warn({ processIds }, 'process.missed');
  },
};
