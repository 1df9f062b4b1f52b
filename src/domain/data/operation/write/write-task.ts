/**
 * Stores the tasks and the records of writes. A worker holds a task by a lease that it renews. If its process ends or
 * freezes, another process takes over, and the older claim can store no results.
 */
import { LEASE } from '../../../../database/leases/lease.ts';
import { LeasedRows } from '../../../../database/leases/leased-rows.ts';
import type { WriteTarget } from '../../../../database/statements/hot/write-target.ts';
import { run, sql } from '../../../../database/statements/statements.ts';
import type { Row } from '../../../../database/statements/tables.ts';
import type { Transaction } from '../../../../database/transactions/transaction.ts';
import type { Association } from '../../../../providers/moving-records.ts';
import { castJsonColumn } from '../../../base/storable-json.ts';
import type { StoredOutcome } from './outcome.ts';
import type { RecordVersion } from './record-version.ts';

export type WriteTask = Row<'WriteTask'>;

/** Each claim counts an attempt. A claimed task collects no more records. */
export const WRITE_LEASES = new LeasedRows({
  table: 'WriteTask',
  key: ['projectId', 'id'],
  // Another process takes over a frozen worker's write after this time. A live worker renews the lease earlier.
  leaseMs: 10_000,
  columns: LEASE,
  onClaim: {
    createSql: (now) => sql`"batchKey" = null, "isUncertain" = true,
      "uncertainSince" = case when held."isUncertain" then coalesce(held."uncertainSince", held."createTime") else ${now} end,
      "attempts" = held."attempts" + 1, "lastAttemptTime" = ${now}`,
    previousValues: { wasUncertain: 'held."isUncertain"' },
  },
});

/** A claimed write. `wasUncertain` is true if the outcome of an earlier attempt is unknown. */
export type ClaimedWrite = WriteTask & { wasUncertain: boolean };

export interface WriteClaim {
  task: WriteTask;
  /** True if a caller waits for the write and keeps the lease between attempts. */
  isAwaited?: true;
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
  const query = sql`
    update "WriteEntry" entry set "outcome" = completed."outcome"
    from jsonb_to_recordset(${rows}::jsonb) as completed("position" int, "outcome" jsonb)
    where entry."projectId" = ${projectId} and entry."taskId" = ${id} and entry."position" = completed."position"`;
  await run(tx, query);
}
