/**
 * Live entries of logs: one reader of each log that is followed in this process, woken by hints
 * of the database and, because hints may be lost, by slow polling of the logs' ends.
 */
import type { Database } from '../database/database.ts';
import { EVENTS_CHANNEL } from '../database/hot/notification-channels.ts';
import type { ProjectGroup } from '../database/projects/project-groups.ts';
import type { Log } from '../log.ts';
import { Outage } from '../work/outage.ts';
import type { FeedSource, FollowedLog, LogEntry, LogItem } from './feed-source.ts';
import { Follower } from './follower.ts';
import { Tail } from './tail.ts';

/** The poll interval: the longest delay of an entry whose hint was lost. */
const POLL_MS = 1_000;

export interface FollowOptions<F> {
  /** Only entries after this position. */
  after: bigint;
  /** The log's last position, read just now. */
  end: bigint;
  filter: F;
}

export interface Feed<E, F> extends AsyncDisposable {
  /** Followers that read their log by themselves, behind the others. */
  readonly lagging: number;
  /** The entries after a position, then each new one: in the log's order, none missed and none twice. */
  follow(log: FollowedLog, options: FollowOptions<F>): AsyncIterableIterator<LogItem<E>>;
}

export interface FeedServices<E extends LogEntry, F> {
  database: Pick<Database, 'listen' | 'groups'>;
  log: Log;
  source: FeedSource<E, F>;
}

export function createFeed<E extends LogEntry, F>(
  { database, log, source }: FeedServices<E, F>,
  { lookMs = POLL_MS } = {},
): Feed<E, F> {
  const tails = new Map<string, Tail<E, F>>();
  const outage = new Outage(log, 'feed.unreadable');
  const lookAt = pollerOf(log, outage, (group) => advanceAll(source, tailsOf(group, tails)));
  const look = async () => {
    for (const [logId, tail] of tails) if (tail.followers.size === 0) tails.delete(logId);
    if (tails.size === 0) return;
    const groups = await database.groups().catch((error: unknown) => outage.failed(error));
    for (const group of groups ?? []) void lookAt(group);
  };

  const listening = database.listen(EVENTS_CHANNEL, (logId) => {
    if (logId === undefined) void look();
    const tail = tails.get(logId ?? '');
    if (tail) void outage.watch(() => tail.advance());
  });
  const timer = setInterval(() => void look(), lookMs);
  timer.unref();

  return {
    get lagging() {
      const followers = [...tails.values()].flatMap((tail) => [...tail.followers]);
      return followers.filter(({ isLagging }) => isLagging).length;
    },
    follow(followed, { after, end, filter }) {
      let tail = tails.get(followed.logId);
      if (!tail || tail.followers.size === 0) {
        tail = new Tail(source, followed, end);
        tails.set(followed.logId, tail);
      }
      const isFirst = tail.followers.size === 0;
      const follower = new Follower(tail, { after, filter });
      // Something may have been appended since the end was read, when nobody listened to its hint.
      if (isFirst) void outage.watch(() => tail.advance());
      return follower;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await listening[Symbol.asyncDispose]();
      const followers = [...tails.values()].flatMap((tail) => [...tail.followers]);
      await Promise.all(followers.map((follower) => follower.return()));
    },
  };
}

/** One look at a group of projects at a time: one whose server hangs keeps nobody else's logs waiting. */
function pollerOf(log: Log, outage: Outage, advance: (group: ProjectGroup) => Promise<void>) {
  const looks = new Map<string, { isOn: boolean; outage: Outage }>();
  return async (group: ProjectGroup) => {
    const own = () => (group.projectIds() === null ? outage : new Outage(log, 'feed.unreadable'));
    const look = looks.get(group.name) ?? { isOn: false, outage: own() };
    looks.set(group.name, look);
    if (look.isOn) return;
    look.isOn = true;
    await look.outage.watch(() => advance(group));
    look.isOn = false;
  };
}

function tailsOf<E extends LogEntry, F>(
  group: ProjectGroup,
  tails: Map<string, Tail<E, F>>,
): Tail<E, F>[] {
  const projectIds = group.projectIds();
  if (projectIds === null) return [...tails.values()];
  const own = new Set(projectIds);
  return [...tails.values()].filter(({ log }) => own.has(log.projectId));
}

/** Wakes the tails of logs that have grown. */
async function advanceAll<E extends LogEntry, F>(
  source: FeedSource<E, F>,
  tails: readonly Tail<E, F>[],
): Promise<void> {
  if (tails.length === 0) return;
  const ends = await source.readEnds(tails.map(({ log }) => log));
  for (const tail of tails) {
    if ((ends.get(tail.log.logId) ?? 0n) > tail.position) await tail.advance();
    for (const follower of tail.followers) follower.retry();
  }
}
