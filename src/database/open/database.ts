/** The database: embedded PGlite in the data folder, or any PostgreSQL. */

import type { Log } from '../../kernel/log.ts';
import type { Meters } from '../../kernel/meters.ts';
import type { Outages } from '../connect/outages.ts';
import type { Processes } from '../connect/processes.ts';
import type { PrismaClient } from '../generated/client.ts';
import type { SharedChanges } from '../statements/hot/shared-statements.ts';
import type { SweepDatabase } from '../statements/projects/all-projects.ts';
import type { ShardGroups } from '../statements/projects/shard-groups.ts';
import type { Rows } from '../statements/reads/read-layer.ts';
import type { Listen, Notify } from '../transactions/notifications.ts';

export interface Database extends AsyncDisposable, ShardGroups, SweepDatabase {
  kind: 'embedded' | 'postgres';
  /** True if the database was empty before this start. */
  isNew: boolean;
  /** True if its tables are distributed over several servers. */
  isDistributed: boolean;
  /** Writes and ordinary reads. */
  prisma: PrismaClient;
  /** Frequent reads as prepared statements: pages, nodes, relations. Must not be used inside a transaction. */
  rows: Rows;
  /** Frequent changes, which share the statements of `database/hot/`. Must not be used inside a transaction. */
  changes: SharedChanges;
  /** Subscribes to the notifications of every process, which are sent after the commit and may be lost. */
  listen: Listen;
  /** Use `notifyAfterCommit` of database/transactions/transaction.ts for changes of a transaction. */
  notify: Notify;
  /** The processes that share the database. */
  processes: Processes;
  /** Counts the connections of the pool that requests and background work share. */
  connections: () => ConnectionCounts;
  /** Returns the time of the database's clock, which all processes use. */
  now: () => Date;
  /** Converts failures of the database into errors for callers. */
  outages: Outages;
  /** Throws if the database does not respond in time. */
  ping(): Promise<void>;
}

/** Receivers of the database's logs and metrics. */
export interface DatabaseObservers {
  log: Log;
  meters: Meters;
}

interface ConnectionCounts {
  open: number;
  idle: number;
  /** The number of statements and transactions that wait for a connection. */
  waiting: number;
  max: number;
}
