/**
 * Publishes new entries of logs. Each followed log has one reader in this process, which database notifications wake.
 * Notifications may be lost, so the last positions of the logs are polled as well.
 */
import type { Database } from '../database/open/database.ts';
import type { ShardGroup } from '../database/statements/projects/shard-groups.ts';
import { EVENTS_CHANNEL } from '../database/transactions/notification-channels.ts';
import type { Log } from '../kernel/log.ts';
import { Outage } from '../work/outage.ts';
import type { FeedSource, FollowedLog, LogEntry, LogItem } from './feed-source.ts';
import { Follower } from './follower.ts';
import { Tail } from './tail.ts';

/** The poll interval: the longest delay of an entry whose notification was lost. */
const POLL_MS = 1_000;

interface FollowOptions<F> {
  /** Yields only entries after this position. */
  after: bigint;
  /** The log's last position, which the caller has just read. */
  end: bigint;
  filter: F;
}

export interface Feed<E, F> extends AsyncDisposable {
  /** The number of followers that read their log on their own, because they lag behind. */
  readonly lagging: number;
  /** Yields the entries after a position, then each new one, in the log's order, without gaps or repetitions. */
  follow(log: FollowedLog, options: FollowOptions<F>): AsyncIterableIterator<LogItem<E>>;
}

interface FeedServices<E extends LogEntry, F> {
  database: Pick<Database, 'listen' | 'listShardGroups'>;
  log: Log;
  source: FeedSource<E, F>;
}

export function createFeed<E extends LogEntry, F>(
  { database, log, source }: FeedServices<E, F>,
  { pollMs = POLL_MS } = {},
): Feed<E, F> {
  const tails = new Map<string, Tail<E, F>>();
  const outage = new Outage(log, 'event_log.unreadable');
  const pollShardGroup = createPoller(log, outage, (shardGroup) =>
    advanceAll(source, listTails(shardGroup, tails)),
  );
  const poll = async () => {
    for (const [logId, tail] of tails) if (tail.followers.size === 0) tails.delete(logId);
    if (tails.size === 0) return;
    const shardGroups = await database
      .listShardGroups()
      .catch((error: unknown) => outage.recordFailure(error));
    for (const shardGroup of shardGroups ?? []) void pollShardGroup(shardGroup);
  };

  const subscription = database.listen(EVENTS_CHANNEL, (logId) => {
    if (logId === undefined) void poll();
    const tail = tails.get(logId ?? '');
    if (tail) void outage.watch(() => tail.advance());
  });
  const timer = setInterval(() => void poll(), pollMs);
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
      // Entries may have been appended between the read of the end and the first notification.
      if (isFirst) void outage.watch(() => tail.advance());
      return follower;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await subscription[Symbol.asyncDispose]();
      const followers = [...tails.values()].flatMap((tail) => [...tail.followers]);
      await Promise.all(followers.map((follower) => follower.return()));
    },
  };
}

/**
 * Returns a function that polls a shard group, at most once at a time. A database server that hangs does not delay the
 * logs of other shard groups.
 */
function createPoller(
  log: Log,
  outage: Outage,
  advance: (shardGroup: ShardGroup) => Promise<void>,
) {
  const polls = new Map<string, { isRunning: boolean; outage: Outage }>();
  return async (shardGroup: ShardGroup) => {
    const createOutage = () =>
      shardGroup.projectIds() === null ? outage : new Outage(log, 'event_log.unreadable');
    const poll = polls.get(shardGroup.name) ?? { isRunning: false, outage: createOutage() };
    polls.set(shardGroup.name, poll);
    if (poll.isRunning) return;
    poll.isRunning = true;
    await poll.outage.watch(() => advance(shardGroup));
    poll.isRunning = false;
  };
}

function listTails<E extends LogEntry, F>(
  shardGroup: ShardGroup,
  tails: Map<string, Tail<E, F>>,
): Tail<E, F>[] {
  const projectIds = shardGroup.projectIds();
  if (projectIds === null) return [...tails.values()];
  const groupProjectIds = new Set(projectIds);
  return [...tails.values()].filter(({ log }) => groupProjectIds.has(log.projectId));
}

/** Advances the tails of logs that have grown. */
async function advanceAll<E extends LogEntry, F>(
  source: FeedSource<E, F>,
  tails: readonly Tail<E, F>[],
): Promise<void> {
  if (tails.length === 0) return;
  const lastPositions = await source.readLastPositions(tails.map(({ log }) => log));
  for (const tail of tails) {
    if ((lastPositions.get(tail.log.logId) ?? 0n) > tail.position) await tail.advance();
    for (const follower of tail.followers) follower.retry();
  }
}
