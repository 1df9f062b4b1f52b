import { recoverWrites } from '../domain/write/recovery.ts';
import type { Sweep } from './worker.ts';

export const recoverWritesSweep: Sweep = {
  name: 'writes to recover',
  intervalMs: 2_000,
  run: recoverWrites,
};
