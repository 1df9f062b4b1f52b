/** The groups and consumers that are being erased, as this process knows them: what is theirs is out of sight. */
import type { Database } from '../../database/database.ts';
import type { Log } from '../../log.ts';
import { Outage } from '../../work/outage.ts';

/** Another process hides what was erased here after this time at most. */
const LOOK_MS = 500;

export interface ErasedSubjects extends AsyncDisposable {
  ids(): readonly string[];
  /** Called when an erasure has begun or ended. */
  look(): Promise<void>;
}

const ERASED = `select "id" from "Erasure" where "id" <> "projectId"`;

/** Knows them from the start. */
export async function watchErasedSubjects(database: Database, log: Log): Promise<ErasedSubjects> {
  const outage = new Outage(log, 'erasures.unreadable');
  let ids: readonly string[] = [];
  const look = async () => {
    const rows = await database.rows.query<{ id: string }>(ERASED, []);
    ids = rows.map(({ id }) => id);
  };
  await look();
  // The one process of an embedded database begins all erasures itself.
  const isAlone = database.kind === 'embedded';
  const timer = isAlone ? undefined : setInterval(() => void outage.watch(look), LOOK_MS).unref();
  return {
    ids: () => ids,
    look,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
    },
  };
}
