/** The groups and consumers that are being erased, as this process knows them: what is theirs is out of sight. */
import type { Database } from '../../database/database.ts';
import { ERASURES_CHANNEL } from '../../database/hot/notification-channels.ts';
import { acrossProjects, sent } from '../../database/projects/all-projects.ts';
import type { ProjectGroup } from '../../database/projects/project-groups.ts';
import type { Log } from '../../log.ts';
import { Outage } from '../../work/outage.ts';

/** The longest that another process shows what was erased here, if the hint of it was lost. */
const POLL_MS = 10_000;
/** While a server is away: what is erased there is out of sight soon after its return. */
const AWAY_POLL_MS = 1_000;

export interface ErasedSubjects extends AsyncDisposable {
  ids(): readonly string[];
  /** Called when an erasure has begun or ended. */
  look(): Promise<void>;
}

const ERASED = acrossProjects(
  'what is out of sight for every caller',
  (inProjects) =>
    `select "id" from "Erasure" where "id" <> "projectId" and ${inProjects('"projectId"')}`,
);

/** Knows them from the start: of each server of the database that answers then. */
export async function watchErasedSubjects(database: Database, log: Log): Promise<ErasedSubjects> {
  const outage = new Outage(log, 'erasures.unreadable');
  const known = new KnownErasures(database);
  // The one process of an embedded database begins all erasures itself.
  let isFollowed = database.kind !== 'embedded';
  let timer: NodeJS.Timeout | undefined;
  const scheduleMaintenance = () => void outage.watch(() => known.look()).then(lookLater);
  const lookLater = () => {
    clearTimeout(timer);
    if (!isFollowed) return;
    timer = setTimeout(scheduleMaintenance, known.isWhole ? POLL_MS : AWAY_POLL_MS).unref();
  };
  await known.look();
  const listening = database.listen(ERASURES_CHANNEL, scheduleMaintenance);
  lookLater();
  return {
    ids: () => known.ids,
    look: () => known.look(),
    async [Symbol.asyncDispose]() {
      isFollowed = false;
      clearTimeout(timer);
      await listening[Symbol.asyncDispose]();
    },
  };
}

/** By groups of projects. Those of a group that can't be asked now stay as they were. */
class KnownErasures {
  readonly #database: Database;
  readonly #ids = new Map<string, readonly string[]>();
  ids: readonly string[] = [];
  /** All groups answered when they were asked last. */
  isWhole = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Throws if no group answers. */
  async look(): Promise<void> {
    const groups = await this.#database.groups();
    const looks = await Promise.allSettled(groups.map((group) => this.#lookIn(group)));
    const failed = looks.filter((look) => look.status === 'rejected');
    this.isWhole = failed.length === 0;
    this.ids = [...this.#ids.values()].flat();
    if (failed.length > 0 && failed.length === groups.length) throw failed[0]?.reason;
  }

  async #lookIn(group: ProjectGroup): Promise<void> {
    const { query } = this.#database.rows;
    const rows = await query<{ id: string }>(...sent(ERASED, group.projectIds(), []));
    this.#ids.set(
      group.name,
      rows.map(({ id }) => id),
    );
  }
}
