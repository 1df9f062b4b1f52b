/**
 * Live events: one reader of the log for each project that is followed in this process, woken by hints
 * of the database and, because hints may be lost, by slow polling of the logs' ends.
 */

import { EVENTS_CHANNEL } from '../database/changes/hint-channels.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import { Outage } from '../work/outage.ts';
import { type EventFilter, type LoggedItem, readEnds } from './event-log.ts';
import { Follower } from './follower.ts';
import { type CursorOf, Tail } from './tail.ts';

/** The poll interval: the longest delay of an event whose hint was lost. */
const LOOK_MS = 1_000;

export interface FollowOptions {
  /** Only events after this position. */
  after: bigint;
  /** The log's last position, read just now. */
  end: bigint;
  filter: EventFilter;
}

export interface Feed extends AsyncDisposable {
  /** Followers that read the log by themselves, behind the others. */
  readonly lagging: number;
  /** The events after a position, then each new one: in the log's order, none missed and none twice. */
  follow(projectId: string, options: FollowOptions): AsyncIterableIterator<LoggedItem>;
}

export interface FeedServices {
  database: Database;
  log: Log;
  cursorOf: CursorOf;
}

export function createFeed(
  { database, log, cursorOf }: FeedServices,
  { lookMs = LOOK_MS } = {},
): Feed {
  const tails = new Map<string, Tail>();
  const outage = new Outage(log, 'feed.unreadable');
  let isLooking = false;

  const look = async () => {
    if (isLooking || tails.size === 0) return;
    isLooking = true;
    await outage.watch(() => advanceAll(database, tails));
    isLooking = false;
  };

  const listening = database.listen(EVENTS_CHANNEL, (projectId) => {
    if (projectId === undefined) void look();
    const tail = tails.get(projectId ?? '');
    if (tail) void outage.watch(() => tail.advance());
  });
  const timer = setInterval(() => void look(), lookMs);
  timer.unref();

  return {
    get lagging() {
      const followers = [...tails.values()].flatMap((tail) => [...tail.followers]);
      return followers.filter(({ isLagging }) => isLagging).length;
    },
    follow(projectId, { after, end, filter }) {
      let tail = tails.get(projectId);
      if (!tail || tail.followers.size === 0) {
        tail = new Tail({ database, projectId, position: end, cursorOf });
        tails.set(projectId, tail);
      }
      const isFirst = tail.followers.size === 0;
      const follower = new Follower(tail, { after, filter });
      // An event may have been recorded since the end was read, when nobody listened to its hint.
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

/** Wakes the tails of logs that have grown, and forgets those that nobody follows any more. */
async function advanceAll(database: Database, tails: Map<string, Tail>): Promise<void> {
  for (const [projectId, tail] of tails) {
    if (tail.followers.size === 0) tails.delete(projectId);
  }
  const ends = await readEnds(database, [...tails.keys()]);
  for (const tail of tails.values()) {
    if ((ends.get(tail.projectId) ?? 0n) > tail.position) await tail.advance();
    for (const follower of tail.followers) follower.retry();
  }
}
