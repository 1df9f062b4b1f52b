import { recoverWrites } from '../domain/operation/write/recovery.ts';
import type { Sweep } from './job-worker.ts';

export const recoverWritesSweep: Sweep = {
  name: 'writes to recover',
  intervalMs: 2_000,
  earliest: (isAsked) => `select min("dueTime") from "WriteTask"
    where ${isAsked('"projectId"')} and "dueTime" is not null`,
  run: recoverWrites,
};
