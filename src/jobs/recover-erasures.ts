import { recoverErasures } from '../domain/erasure/lost-erasures.ts';
import type { Sweep } from './job-worker.ts';

export const recoverErasuresSweep: Sweep = {
  name: 'erasures to recover',
  intervalMs: 60_000,
  run: recoverErasures,
};
