import { lookAtSchemas } from '../domain/schema-watch/look-at-schemas.ts';
import type { Sweep } from './job-worker.ts';

/** Schedules are by the minute. */
export const watchSchemasSweep: Sweep = {
  name: 'fields at providers',
  intervalMs: 60_000,
  earliest: (isAsked) => `select min("dueTime") from "SchemaWatch" where ${isAsked('"projectId"')}`,
  run: lookAtSchemas,
};
