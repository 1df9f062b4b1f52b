import { foldActivity } from '../domain/activity/activity-deltas.ts';
import type { Sweep } from './job-worker.ts';

export const foldActivitySweep: Sweep = {
  name: 'activity to count',
  intervalMs: 10_000,
  earliest: (isAsked) =>
    `select now() from "ActivityDelta" where ${isAsked('"projectId"')} limit 1`,
  run: (services, signal) => foldActivity(services, signal),
};
