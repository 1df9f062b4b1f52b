/** The one database: embedded PGlite in the data folder, or any PostgreSQL. */
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { type Meters, NO_METERS } from '../meters.ts';
import { openEmbedded } from './embedded/embedded.ts';
import type { PrismaClient } from './generated/client.ts';
import type { SharedChanges } from './hot/shared-changes.ts';
import type { JobDatabase } from './job-database.ts';
import type { Listen, Notify } from './notifications/notifications.ts';
import type { Outages } from './outages.ts';
import { openPostgres } from './postgres/postgres.ts';
import type { Processes } from './processes.ts';
import type { ProjectGroup } from './projects/project-groups.ts';
import type { Rows, RunQuery } from './rows.ts';

export { openEngine } from './embedded/embedded.ts';

export interface Database extends AsyncDisposable {
  kind: 'embedded' | 'postgres';
  /** It was empty before this start. */
  isNew: boolean;
  /** Its tables are spread over several servers. */
  isDistributed: boolean;
  /** Writes and ordinary reads. */
  prisma: PrismaClient;
  /** Hot reads: pages, nodes, relations. Never inside a transaction. */
  rows: Rows;
  /** The projects that are meant where all are asked. */
  group: ProjectGroup;
  /** All groups of projects: one, unless they are spread over several servers. */
  groups(): Promise<readonly ProjectGroup[]>;
  /**
   * For `sweep` alone: what asks a group of projects has connections and a time limit of its own (LIMIT_SWEEP_MS). An
   * embedded database has one connection.
   */
  sweeps: (group: ProjectGroup) => RunQuery;
  /** Hot changes, each by a statement of `database/hot/`. Never inside a transaction. */
  changes: SharedChanges;
  /** Listens to the hints of every process, which come after the commit. They may be lost. */
  listen: Listen;
  /** For what a transaction changes: `notifyAfterCommit` of database/transaction.ts. */
  tell: Notify;
  /** What the job queue runs on. */
  jobs: JobDatabase;
  /** The processes that share it. */
  processes: Processes;
  /** The pool that requests and work share. */
  connections: () => Connections;
  /** Its clock, which all processes use. */
  now: () => Date;
  /** Turns its failures into errors for callers. */
  outages: Outages;
  /** Throws if the database doesn't answer, or not soon. */
  ping(): Promise<void>;
}

export interface Connections {
  open: number;
  idle: number;
  /** Statements and transactions that wait for one. */
  waiting: number;
  max: number;
}

/** Opens the database and brings it to the newest migration. */
export async function openDatabase(
  config: Config,
  log: Log,
  meters: Meters = NO_METERS,
): Promise<Database> {
  return config.DATABASE_URL
    ? openPostgres(config, { log, meters })
    : openEmbedded(config.DATA_DIR, { log, meters });
}
