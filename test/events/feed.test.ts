import { afterAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/open/database.ts';
import { encodeEventCursor } from '../../src/domain/events/notification-event.ts';
import {
  createEventLogSource,
  type EventFeed,
  type EventFilter,
  type LoggedEvent,
  readLastPositions,
} from '../../src/events/event-log.ts';
import { createFeed } from '../../src/events/feed.ts';
import { CATCH_UP_BATCH, WAITING_MAX } from '../../src/events/follower.ts';
import { createLog } from '../../src/kernel/log.ts';
import { createTestDatabase } from '../support/app.ts';
import {
  createEventLog,
  createNames,
  delayCommit,
  listEventNames,
  readEventName,
  recordNamedEvent,
  recordNamedEvents,
  takeNext,
} from '../support/event-log.ts';

const log = createLog('silent');
const database = await createTestDatabase(log);
const openFeed = (from: Database, options?: { pollMs: number }) =>
  createFeed(
    { database: from, log, source: createEventLogSource(from, encodeEventCursor) },
    options,
  );
const feed = openFeed(database);
afterAll(async () => {
  await feed[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function follow(
  projectId: string,
  { after, filter = {}, by = feed }: { after?: bigint; filter?: EventFilter; by?: EventFeed } = {},
) {
  const end = (await readLastPositions(database, [projectId])).get(projectId) ?? 0n;
  return by.follow({ projectId, logId: projectId }, { after: after ?? end, end, filter });
}

test('delivers later events to a follower in the order of the list', async () => {
  const { projectId } = await createEventLog(database);
  await recordNamedEvents(database, { projectId }, createNames('old', 3));
  const follower = await follow(projectId);
  await recordNamedEvents(database, { projectId }, createNames('new', 5));
  expect((await takeNext(follower, 5)).map(readEventName)).toEqual(createNames('new', 5));
  await follower.return?.();
});

test('delivers missed events, then new ones, to a follower that resumes', async () => {
  const { projectId } = await createEventLog(database);
  await recordNamedEvents(database, { projectId }, createNames('old', 250));
  const follower = await follow(projectId, { after: 2n });
  const [firstItem] = await takeNext(follower, 1);
  expect(firstItem?.node.position).toBe(3n);
  await recordNamedEvents(database, { projectId }, createNames('new', 5));
  const laterItems = await takeNext(follower, 252);
  expect([firstItem, ...laterItems].map((item) => readEventName(item as never))).toEqual([
    ...createNames('old', 250).slice(2),
    ...createNames('new', 5),
  ]);
  await follower.return?.();
});

test('delivers all remaining events of a topic, even if some of a batch are hidden', async () => {
  const { projectId, createdTopicId: topicId } = await createEventLog(database);
  const count = CATCH_UP_BATCH + 50;
  await recordNamedEvents(database, { projectId }, createNames('e', count));
  // Erasing a group hides its events before it removes their topics.
  const isHidden = ({ position }: LoggedEvent) => position % 7n === 3n;
  const { reads } = database;
  const find: typeof reads.find = async (table, where) => {
    const events = await reads.find(table, where);
    return table === 'NotificationEvent'
      ? events.filter((event) => !isHidden(event as unknown as LoggedEvent))
      : events;
  };
  await using hidingFeed = openFeed({ ...database, reads: { ...reads, find } });
  const follower = await follow(projectId, { after: 0n, filter: { topicId }, by: hidingFeed });
  const remaining = createNames('e', count).filter((_, index) => BigInt(index + 1) % 7n !== 3n);
  expect((await takeNext(follower, remaining.length)).map(readEventName)).toEqual(remaining);
});

test(
  'delivers each event once to reconnecting followers while 8 writers record',
  { tags: ['all/rows'] },
  async () => {
    const { projectId } = await createEventLog(database);
    const perWriter = 25;
    const total = 8 * perWriter;
    const followWithReconnects = async (seed: number) => {
      const receivedNames: string[] = [];
      let after = 0n;
      let turn = seed;
      while (receivedNames.length < total) {
        const follower = await follow(projectId, { after });
        turn = (turn * 7 + 3) % 31;
        for (const item of await takeNext(
          follower,
          Math.min(turn + 1, total - receivedNames.length),
        )) {
          receivedNames.push(readEventName(item));
          after = item.node.position;
        }
        await follower.return?.();
      }
      return receivedNames;
    };
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (const name of createNames(`w${writer}-`, perWriter)) {
        await recordNamedEvent(database, { projectId, name, delay: delayCommit });
      }
    });
    const followers = [1, 2, 3, 4].map(followWithReconnects);
    await Promise.all(writers);
    const list = await listEventNames(database, projectId);
    expect(list).toHaveLength(total);
    for (const receivedNames of await Promise.all(followers)) expect(receivedNames).toEqual(list);
  },
);

test('serves a lagging follower with separate reads until it has caught up', async () => {
  const { projectId } = await createEventLog(database);
  let catchUpReads = 0;
  const page: Database['reads']['page'] = (table, where, range) => {
    if (range.below !== undefined) catchUpReads += 1;
    return database.reads.page(table, where, range);
  };
  const countingDatabase = { ...database, reads: { ...database.reads, page } };
  await using countingFeed = openFeed(countingDatabase);
  const slowFollower = await follow(projectId, { by: countingFeed });
  const count = WAITING_MAX + 200;
  // The slow follower stops reading after its first event, while another follower reads to the end.
  const firstRead = slowFollower.next();
  await recordNamedEvents(database, { projectId }, createNames('e', count));
  const fastFollower = await follow(projectId, { after: 0n, by: countingFeed });
  await takeNext(fastFollower, count);
  const readsBefore = catchUpReads;
  const { value } = await firstRead;
  const laterItems = await takeNext(slowFollower, count - 1);
  expect([value, ...laterItems].map(readEventName)).toEqual(createNames('e', count));
  expect(catchUpReads).toBeGreaterThan(readsBefore);

  // The follower has caught up, so later events need no separate reads.
  const readsAfter = catchUpReads;
  const nextRead = slowFollower.next();
  await recordNamedEvent(database, { projectId, name: 'last' });
  expect(readEventName((await nextRead).value)).toBe('last');
  expect(catchUpReads).toBe(readsAfter);
});

test('filters by topic and by type, both for stored and for live events', async () => {
  const { projectId, deletedTopicId } = await createEventLog(database);
  const eventTypes = ['CONNECTION_DELETED', 'CONNECTION_REFRESHED'] as const;
  const recordMixed = async (prefix: string) => {
    for (const name of createNames(prefix, 4)) {
      await recordNamedEvent(database, { projectId, name: `${name}+` });
      await recordNamedEvent(database, {
        projectId,
        name: `${name}-`,
        eventType: 'CONNECTION_DELETED',
      });
    }
  };
  await recordMixed('old');
  const filters = [
    { topicId: deletedTopicId },
    { eventTypes },
    { topicId: deletedTopicId, eventTypes },
  ];
  const followers = await Promise.all(
    filters.map((filter) => follow(projectId, { after: 0n, filter })),
  );
  const oldItems = await Promise.all(followers.map((follower) => takeNext(follower, 4)));
  const newItems = followers.map((follower) => takeNext(follower, 4));
  await recordMixed('new');
  const expected = [...createNames('old', 4), ...createNames('new', 4)].map((name) => `${name}-`);
  for (const [index, events] of (await Promise.all(newItems)).entries()) {
    expect([...(oldItems[index] ?? []), ...events].map(readEventName)).toEqual(expected);
  }
  await Promise.all(followers.map((follower) => follower.return?.()));
});

test('delivers an event whose notification is lost', async () => {
  const { projectId } = await createEventLog(database);
  const withoutListener = {
    ...database,
    listen: () => ({ [Symbol.asyncDispose]: async () => {} }),
  };
  await using pollingFeed = openFeed(withoutListener, { pollMs: 10 });
  const follower = await follow(projectId, { by: pollingFeed });
  const nextRead = follower.next();
  await recordNamedEvent(database, { projectId, name: 'unheard' });
  expect(readEventName((await nextRead).value)).toBe('unheard');
});

test('delivers an event whose notification is lost while the server of another project hangs', async () => {
  const [{ projectId }, { projectId: hangingProjectId }] = [
    await createEventLog(database),
    await createEventLog(database),
  ];
  const groups = [hangingProjectId, projectId].map((id) => ({
    ...database.shardGroup,
    name: id,
    projectIds: () => [id],
  }));
  const withoutListener = {
    ...database,
    listen: () => ({ [Symbol.asyncDispose]: async () => {} }),
    listShardGroups: async () => groups,
  };
  const source = createEventLogSource(database, encodeEventCursor);
  const readEnds: typeof source.readLastPositions = (logs) =>
    logs.some((log) => log.projectId === hangingProjectId)
      ? new Promise(() => {})
      : source.readLastPositions(logs);
  const options = { pollMs: 20 };
  const feed = createFeed(
    { database: withoutListener, log, source: { ...source, readLastPositions: readEnds } },
    options,
  );
  const hangingFollower = await follow(hangingProjectId, { by: feed });
  const follower = await follow(projectId, { by: feed });
  await recordNamedEvents(database, { projectId }, createNames('new', 1));
  expect((await takeNext(follower, 1)).map(readEventName)).toEqual(createNames('new', 1));
  await Promise.all([hangingFollower.return?.(), follower.return?.()]);
  await feed[Symbol.asyncDispose]();
});

test('delays events while the database fails, and loses none', async () => {
  const { projectId } = await createEventLog(database);
  await recordNamedEvents(database, { projectId }, createNames('old', 3));
  let isUnavailable = true;
  const page: Database['reads']['page'] = (...args) =>
    isUnavailable
      ? Promise.reject(new Error('The database is not available.'))
      : database.reads.page(...args);
  const failingDatabase = { ...database, reads: { ...database.reads, page } };
  await using retryingFeed = openFeed(failingDatabase, { pollMs: 10 });
  const resumedFollower = await follow(projectId, { after: 0n, by: retryingFeed });
  const live = await follow(projectId, { by: retryingFeed });
  const [resumedRead, liveRead] = [takeNext(resumedFollower, 4), live.next()];
  await recordNamedEvent(database, { projectId, name: 'new' });
  isUnavailable = false;
  expect((await resumedRead).map(readEventName)).toEqual([...createNames('old', 3), 'new']);
  expect(readEventName((await liveRead).value)).toBe('new');
});

test('ends a waiting follower when it returns, and when the feed is disposed of', async () => {
  const { projectId } = await createEventLog(database);
  const follower = await follow(projectId);
  const nextPromise = follower.next();
  await follower.return?.();
  expect(await nextPromise).toEqual({ done: true, value: undefined });
  expect(await follower.next()).toEqual({ done: true, value: undefined });

  const otherFeed = openFeed(database);
  const secondFollower = (await follow(projectId, { by: otherFeed })).next();
  await otherFeed[Symbol.asyncDispose]();
  expect(await secondFollower).toEqual({ done: true, value: undefined });
});

test('delivers no event of another project', async () => {
  const [eventLog, otherLog] = [await createEventLog(database), await createEventLog(database)];
  const follower = await follow(eventLog.projectId, { after: 0n });
  const next = follower.next();
  await recordNamedEvent(database, { projectId: otherLog.projectId, name: 'other' });
  await recordNamedEvent(database, { projectId: eventLog.projectId, name: 'own' });
  expect(readEventName((await next).value)).toBe('own');
  await follower.return?.();
});
