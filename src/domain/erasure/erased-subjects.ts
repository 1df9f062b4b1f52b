/** The groups and consumers that are being erased, as this process knows them: what is theirs is out of sight. */

import { ERASURES_CHANNEL } from '../../database/changes/hint-channels.ts';
import type { Database } from '../../database/database.ts';
import { withoutProject } from '../../database/projects/all-projects.ts';
import type { Log } from '../../log.ts';
import { Outage } from '../../work/outage.ts';

/** The longest that another process shows what was erased here, if the hint of it was lost. */
const LOOK_MS = 10_000;

export interface ErasedSubjects extends AsyncDisposable {
  ids(): readonly string[];
  /** Called when an erasure has begun or ended. */
  look(): Promise<void>;
}

const ERASED = withoutProject(
  'what is out of sight for every caller',
  'select "id" from "Erasure" where "id" <> "projectId"',
);

/** Knows them from the start. */
export async function watchErasedSubjects(database: Database, log: Log): Promise<ErasedSubjects> {
  const outage = new Outage(log, 'erasures.unreadable');
  let ids: readonly string[] = [];
  const look = async () => {
    const rows = await database.rows.query<{ id: string }>(ERASED, []);
    ids = rows.map(({ id }) => id);
  };
  await look();
  const lookAgain = () => void outage.watch(look);
  const listening = database.listen(ERASURES_CHANNEL, lookAgain);
  // The one process of an embedded database begins all erasures itself.
  const isAlone = database.kind === 'embedded';
  const timer = isAlone ? undefined : setInterval(lookAgain, LOOK_MS).unref();
  return {
    ids: () => ids,
    look,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await listening[Symbol.asyncDispose]();
    },
  };
}
