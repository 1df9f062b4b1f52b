import { recoverReads } from '../domain/read/run.ts';
import type { Sweep } from './worker.ts';

export const recoverReadsSweep: Sweep = {
  name: 'reads to recover',
  intervalMs: 2_000,
  run: recoverReads,
};
