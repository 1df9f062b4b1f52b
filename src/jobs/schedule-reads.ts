import { startDueReads } from '../domain/operation/read/schedule.ts';
import type { Sweep } from './job-worker.ts';

export const scheduleReadsSweep: Sweep = {
  name: 'reads to start',
  intervalMs: 1_000,
  earliest: (isAsked) => `select "nextReadTime" from "InstalledObject"
    where ${isAsked('"projectId"')} and "nextReadTime" is not null and not "paused" order by "nextReadTime" limit 1`,
  run: startDueReads,
};
