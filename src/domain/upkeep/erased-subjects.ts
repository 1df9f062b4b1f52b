/** Tracks the groups and consumers that are being erased, whose rows this process hides from callers. */
import type { Database } from '../../database/open/database.ts';
import { acrossProjects, bindProjects } from '../../database/statements/projects/all-projects.ts';
import type { ShardGroup } from '../../database/statements/projects/shard-groups.ts';
import { ERASURES_CHANNEL } from '../../database/transactions/notification-channels.ts';
import type { Log } from '../../kernel/log.ts';
import { Outage } from '../../work/outage.ts';

/** The poll interval. If a notification is lost, a process may show erased rows for this long. */
const POLL_MS = 10_000;
/** The poll interval while a database server is down, so that erased rows are hidden within a second of its return. */
const OUTAGE_POLL_MS = 1_000;

export interface ErasedSubjects extends AsyncDisposable {
  ids(): readonly string[];
  /** Reads the erasures. Call it when an erasure has begun or ended. */
  refresh(): Promise<void>;
}

const SELECT_ERASED_IDS = acrossProjects<{ id: string }>(
  'erased groups and consumers to hide',
  (inProjects) =>
    `select "id" from "Erasure" where "id" <> "projectId" and ${inProjects('"projectId"')}`,
);

/** Reads the erasures from each database server that is available, and then again when they change. */
export async function watchErasedSubjects(database: Database, log: Log): Promise<ErasedSubjects> {
  const outage = new Outage(log, 'erasures.unreadable');
  const erasures = new CachedErasures(database);
  // An embedded database has one process, which starts all erasures itself.
  let isWatching = database.kind !== 'embedded';
  let timer: NodeJS.Timeout | undefined;
  const poll = () => void outage.watch(() => erasures.refresh()).then(pollLater);
  const pollLater = () => {
    clearTimeout(timer);
    if (!isWatching) return;
    timer = setTimeout(poll, erasures.isComplete ? POLL_MS : OUTAGE_POLL_MS).unref();
  };
  await erasures.refresh();
  const listening = database.listen(ERASURES_CHANNEL, poll);
  pollLater();
  return {
    ids: () => erasures.ids,
    refresh: () => erasures.refresh(),
    async [Symbol.asyncDispose]() {
      isWatching = false;
      clearTimeout(timer);
      await listening[Symbol.asyncDispose]();
    },
  };
}

class CachedErasures {
  readonly #database: Database;
  /** Erased ids by shard group. A shard group that can't be read keeps its last ids. */
  readonly #idsByShardGroup = new Map<string, readonly string[]>();
  ids: readonly string[] = [];
  /** True if all shard groups were available at the last read. */
  isComplete = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Reads the erasures of all shard groups. Throws if none is available. */
  async refresh(): Promise<void> {
    const shardGroups = await this.#database.listShardGroups();
    const reads = await Promise.allSettled(
      shardGroups.map((shardGroup) => this.#readShardGroup(shardGroup)),
    );
    const failed = reads.filter((read) => read.status === 'rejected');
    this.isComplete = failed.length === 0;
    this.ids = [...this.#idsByShardGroup.values()].flat();
    if (failed.length > 0 && failed.length === shardGroups.length) throw failed[0]?.reason;
  }

  async #readShardGroup(shardGroup: ShardGroup): Promise<void> {
    const statement = bindProjects(SELECT_ERASED_IDS, shardGroup.projectIds(), []);
    const rows = await this.#database.run(...statement);
    const ids = rows.map(({ id }) => id);
    this.#idsByShardGroup.set(shardGroup.name, ids);
  }
}
