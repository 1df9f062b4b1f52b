import { startDueReads } from '../domain/read/schedule.ts';
import type { Sweep } from './worker.ts';

export const scheduleReadsSweep: Sweep = {
  name: 'reads to start',
  intervalMs: 1_000,
  run: startDueReads,
};
