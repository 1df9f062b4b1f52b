/** Recovers writes that no worker continues, because their process was killed or their job was lost. */
import { acrossProjects, sweep } from '../../../database/projects/all-projects.ts';
import type { Row } from '../../../database/rows.ts';
import { inTransaction } from '../../../database/transaction.ts';
import type { Services } from '../../call.ts';
import { TASKS } from './task.ts';

/** Time in which a worker normally starts a job that is due. */
const GRACE_MS = 3_000;
const SWEEP_TASKS_MAX = 200;

type Overdue = Pick<Row<'WriteTask'>, 'id' | 'projectId' | 'installationId'>;

const OVERDUE = acrossProjects(
  'writes that are due',
  (inProjects) => `select "id", "projectId", "installationId" from "WriteTask"
   where ${inProjects('"projectId"')} and "dueTime" <= $1 and case
     when "openGroup" is not null then true
     when "leaseToken" is null then "dueTime" <= $2 else ${TASKS.isFree.sql} end
   order by "dueTime" limit ${SWEEP_TASKS_MAX}`,
);

/** Enqueues overdue writes. A write with a waiting job is not enqueued twice. */
export async function recoverWrites({ database, queue, now }: Services): Promise<void> {
  const time = now();
  const late = new Date(time.getTime() - GRACE_MS);
  const overdue = await sweep<Overdue>(database, OVERDUE, [time, late]);
  if (overdue.length === 0) return;
  await inTransaction(database, async (tx) => {
    for (const { id: taskId, projectId, installationId: group } of overdue) {
      const options = { singletonKey: `${taskId}.late`, group };
      await queue.enqueue(tx, 'run-write', { projectId, taskId }, options);
    }
  });
}
