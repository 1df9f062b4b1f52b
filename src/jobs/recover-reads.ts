import { recoverReads } from '../domain/operation/read/read-run.ts';
import type { Sweep } from './job-worker.ts';

export const recoverReadsSweep: Sweep = {
  name: 'reads to recover',
  intervalMs: 2_000,
  earliest: (isAsked) => `select "dueTime" from "ReadRun"
    where ${isAsked('"projectId"')} and not "paused" order by "dueTime" limit 1`,
  run: recoverReads,
};
