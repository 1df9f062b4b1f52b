/** The database: embedded PGlite in the data folder, or any PostgreSQL. */

import type { Log } from '../../kernel/log.ts';
import type { Meters } from '../../kernel/meters.ts';
import type { Outages } from '../connect/outages.ts';
import type { Processes } from '../connect/processes.ts';
import type { PrismaClient } from '../generated/client.ts';
import type { RunShared } from '../statements/hot/shared-statements.ts';
import type { SweepDatabase } from '../statements/projects/all-projects.ts';
import type { ShardGroups } from '../statements/projects/shard-groups.ts';
import type { ReadLayer } from '../statements/reads/read-layer.ts';
import type { RunStatement } from '../statements/statements.ts';
import type { Listen, Notify } from '../transactions/notifications.ts';

export interface Database extends AsyncDisposable, ShardGroups, SweepDatabase {
  kind: 'embedded' | 'postgres';
  /** True if the database was empty before this start. */
  isNew: boolean;
  /** True if its tables are distributed over several servers. */
  isDistributed: boolean;
  /** Changes of rows, and reads that no list, node or relation of the API returns. */
  prisma: PrismaClient;
  /** The read layer: pages, nodes, relations and counts. Must not be used inside a transaction. */
  reads: ReadLayer;
  /** Runs a hand-written statement. Must not be used inside a transaction. */
  run: RunStatement;
  /** Runs a statement of `statements/hot/` that concurrent callers share. Must not be used inside a transaction. */
  runShared: RunShared;
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
