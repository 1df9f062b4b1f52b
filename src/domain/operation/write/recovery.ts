/** Writes that no worker continues: their process was killed, or their job was lost. */
import { inTransaction } from '../../../database/transaction.ts';
import { isFreeSql } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';

/** Time in which a job that is due finds a worker by itself. */
const GRACE_MS = 3_000;
const TAKEN_AT_ONCE = 200;

/** Enqueues them again; one that waits already is not enqueued twice. */
export async function recoverWrites({ database, queue, now }: Services): Promise<void> {
  const time = now();
  const late = new Date(time.getTime() - GRACE_MS);
  const overdue = await database.rows.query<{ id: string; installationId: string }>(
    `select "id", "installationId" from "WriteTask" where "dueTime" <= $1 and case
       when "openGroup" is not null then true
       when "leaseToken" is null then "dueTime" <= $2 else ${isFreeSql()} end
     order by "dueTime" limit ${TAKEN_AT_ONCE}`,
    [time, late],
  );
  if (overdue.length === 0) return;
  await inTransaction(database, async (tx) => {
    for (const { id: taskId, installationId: group } of overdue) {
      await queue.enqueue(tx, 'run-write', { taskId }, { singletonKey: `${taskId}.late`, group });
    }
  });
}
