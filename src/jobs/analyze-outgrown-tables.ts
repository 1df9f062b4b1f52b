import type { Database } from '../database/database.ts';
import { analyzeOutgrownTables, OUTGROWN_TABLE_DUE } from '../database/postgres/outgrown-tables.ts';
import type { Sweep } from './job-worker.ts';

/** An embedded database has an upkeep of its own, and each node of a cluster its own tables. */
const isMeant = ({ kind, isDistributed }: Database) => kind === 'postgres' && !isDistributed;

export const analyzeOutgrownTablesSweep: Sweep = {
  name: 'outgrown tables',
  intervalMs: 2_000,
  isCommon: true,
  earliest: (_isAsked, database) => (isMeant(database) ? OUTGROWN_TABLE_DUE : null),
  async run({ database }) {
    if (isMeant(database)) await analyzeOutgrownTables(database.sweeps(database.group));
  },
};
