/**
 * Stores the tasks and the records of writes. A worker holds a task by a lease that it renews. If its process ends or
 * freezes, another process takes over, and the older claim can store no results.
 */
import type { Database } from '../../../database/database.ts';
import { claimWrites } from '../../../database/hot/claim-writes.ts';
import type { WriteTarget } from '../../../database/hot/write-target.ts';
import { repeatIfMoved } from '../../../database/keyed-rows.ts';
import { LeasedRows } from '../../../database/leased-rows.ts';
import { acrossProjects, sweep } from '../../../database/projects/all-projects.ts';
import type { Row } from '../../../database/rows.ts';
import { inTransaction, type Transaction } from '../../../database/transaction.ts';
import type { Association } from '../../../providers/moving-records.ts';
import { LEASE, newLeaseToken } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import { castJsonColumn } from '../../storable-json.ts';
import type { StoredOutcome } from './outcome.ts';
import type { RecordVersion } from './record-version.ts';

export type WriteTask = Row<'WriteTask'>;

export const TASKS = new LeasedRows({
  table: 'WriteTask',
  key: ['projectId', 'id'],
  // Another process takes over a frozen worker's write after this time. A live worker renews the lease earlier.
  leaseMs: 10_000,
  columns: LEASE,
});

export interface Claim {
  task: WriteTask;
  /** True if the outcome of an earlier attempt is unknown: the provider may have executed the write. */
  wasUncertain: boolean;
  /** The records of the write. Absent if they must be read from the database. */
  entries?: WriteEntry[];
  /** The target of the write, if it was just read. Null if the installation has been deleted. */
  target?: WriteTarget | null;
}

export interface WriteEntry {
  position: number;
  operationId: string;
  record: Record<string, unknown>;
  associations: Association[] | null;
  /** Fields that are written only into records without a value for them. */
  ifEmpty: string[] | null;
  /** Names of the input that the write omits. Null if there are none. */
  omittedFields: string[] | null;
  /** The version that the record must have. Null if it may have any. */
  expected: RecordVersion | null;
  outcome: StoredOutcome | null;
}

/** Claims writes. Unlike with `TASKS.claim`, simultaneous claims share a statement. */
export const CLAIM_WRITES = claimWrites({
  isFree: TASKS.isFreeSql.sql,
  leaseEnd: TASKS.leaseEndSql.sql,
});

/**
 * Claims a write. Returns null if it is not due, has ended, or is held by another process. A claimed task collects no
 * more records.
 */
export async function claimWrite(
  { changes, processes }: Pick<Database, 'changes' | 'processes'>,
  key: Pick<WriteTask, 'projectId' | 'id'>,
  now: Date,
): Promise<Claim | null> {
  const leaseToken = newLeaseToken(processes.id);
  const row = await repeatIfMoved(() => changes.run(CLAIM_WRITES, { ...key, leaseToken, now }));
  // Two claims of one write may share a statement. The token identifies the claim that succeeded.
  if (row?.leaseToken !== leaseToken) return null;
  const { wasUncertain, ...task } = row;
  return { task, wasUncertain };
}

/** Bounds of the names that an operation, its log and its event repeat. Objects rarely have so many fields. */
const OMITTED_FIELDS_MAX = 200;
const NAME_LENGTH_MAX = 256;

/** Lists the first distinct names of the input that the write omits in any of the records. */
export function listOmittedFields(entries: readonly Pick<WriteEntry, 'omittedFields'>[]): string[] {
  const names = new Set(entries.flatMap(({ omittedFields }) => omittedFields ?? []));
  return [...names.values().take(OMITTED_FIELDS_MAX)].map((name) =>
    name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX - 1).toWellFormed()}…` : name,
  );
}

export async function listEntries(
  prisma: Pick<Transaction, 'writeEntry'>,
  { projectId, id: taskId }: Pick<WriteTask, 'projectId' | 'id'>,
): Promise<WriteEntry[]> {
  const rows = await prisma.writeEntry.findMany({
    where: { projectId, taskId },
    orderBy: { position: 'asc' },
  });
  return castJsonColumn(rows);
}

/** Saves the outcomes of the entries that have one. Only the holder of the task may call it. */
export async function saveOutcomes(
  tx: Transaction,
  { projectId, id }: Pick<WriteTask, 'projectId' | 'id'>,
  entries: readonly WriteEntry[],
): Promise<void> {
  const endedEntries = entries.filter(({ outcome }) => outcome !== null);
  const rows = JSON.stringify(endedEntries.map(({ position, outcome }) => ({ position, outcome })));
  await tx.$executeRaw`
    update "WriteEntry" entry set "outcome" = completed."outcome"
    from jsonb_to_recordset(${rows}::jsonb) as completed("position" int, "outcome" jsonb)
    where entry."projectId" = ${projectId} and entry."taskId" = ${id} and entry."position" = completed."position"`;
}

/** How long a worker normally takes to start a job that is due. */
const GRACE_MS = 3_000;
const SWEEP_TASKS_MAX = 200;

type OverdueTask = Pick<WriteTask, 'id' | 'projectId' | 'installationId'>;

const SELECT_OVERDUE_TASKS = acrossProjects(
  'writes that are due',
  (inProjects) => `select "id", "projectId", "installationId" from "WriteTask"
   where ${inProjects('"projectId"')} and "dueTime" <= $1 and case
     when "openGroup" is not null then true
     when "leaseToken" is null then "dueTime" <= $2 else ${TASKS.isFreeSql.sql} end
   order by "dueTime" limit ${SWEEP_TASKS_MAX}`,
);

/**
 * Enqueues overdue writes, which no worker continues because their process was killed or their job was lost. A write
 * with a waiting job is not enqueued twice.
 */
export async function recoverWrites({ database, queue, now }: Services): Promise<void> {
  const time = now();
  const graceTime = new Date(time.getTime() - GRACE_MS);
  const tasks = await sweep<OverdueTask>(database, SELECT_OVERDUE_TASKS, [time, graceTime]);
  if (tasks.length === 0) return;
  await inTransaction(database, async (tx) => {
    for (const { id: taskId, projectId, installationId: group } of tasks) {
      const options = { singletonKey: `${taskId}.late`, group };
      await queue.enqueue(tx, 'run-write', { projectId, taskId }, options);
    }
  });
}
