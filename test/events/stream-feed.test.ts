import { afterAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/open/database.ts';
import { inTransaction } from '../../src/database/transactions/transaction.ts';
import {
  closeStream,
  removeMessages,
  removeSurplus,
} from '../../src/domain/events/stream/stream-removal.ts';
import { encodeMessageCursor } from '../../src/domain/events/stream-message.ts';
import { createFeed } from '../../src/events/feed.ts';
import { WAITING_BYTES_MAX } from '../../src/events/follower.ts';
import { BATCH_BYTES_MAX, createStreamLogSource, findStream } from '../../src/events/stream-log.ts';
import { createLog } from '../../src/kernel/log.ts';
import { createTestDatabase } from '../support/app.ts';
import {
  createEventLog,
  createNames,
  delayCommit,
  recordNamedEvent,
  takeNext,
} from '../support/event-log.ts';
import {
  appendMessages,
  createStream,
  listMessageNames,
  readMessageName,
  type TestStream,
} from '../support/fixtures/streams.ts';

const log = createLog('silent');
const database = await createTestDatabase(log);
const openFeed = (from: Database) =>
  createFeed({ database: from, log, source: createStreamLogSource(from, encodeMessageCursor) });
const feed = openFeed(database);
afterAll(async () => {
  await feed[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const config = { LIMIT_STREAM_BYTES: 1_048_576 } as never;
const services = { config, database } as never;

async function follow(
  stream: TestStream,
  { after, by = feed }: { after?: bigint; by?: typeof feed } = {},
) {
  const end = (await findStream(database, stream))?.lastPosition ?? 0n;
  const followed = { projectId: stream.projectId, logId: stream.destinationId };
  return by.follow(followed, { after: after ?? end, end, filter: null });
}

const readItemName = ({ node }: { node: { body: string } }) => readMessageName(node);

async function createTestStream(): Promise<TestStream> {
  const { projectId, createdTopicId: topicId } = await createEventLog(database);
  return createStream(database, { projectId, topicId });
}

test('delivers appended messages and routed events of a stream in one order', async () => {
  const stream = await createTestStream();
  const { projectId } = stream;
  await appendMessages(database, stream, { names: ['old'] });
  const follower = await follow(stream);
  await appendMessages(database, stream, { names: ['a', 'b'] });
  await recordNamedEvent(database, { projectId, name: 'event' });
  await recordNamedEvent(database, {
    projectId,
    name: 'elsewhere',
    eventType: 'CONNECTION_DELETED',
  });
  await appendMessages(database, stream, { names: ['c'] });
  expect((await takeNext(follower, 4)).map(readItemName)).toEqual(['a', 'b', 'event', 'c']);
  expect(await listMessageNames(database, stream)).toEqual(['old', 'a', 'b', 'event', 'c']);
  expect(await database.prisma.delivery.count({ where: { projectId } })).toBe(0);
  await follower.return?.();
});

test(
  'delivers every message to reconnecting followers while 8 writers append pages and events',
  { tags: ['all/rows'] },
  async () => {
    const stream = await createTestStream();
    const { projectId } = stream;
    const perWriter = 25;
    const total = 8 * perWriter * 3;
    const followWithReconnects = async (seed: number) => {
      const receivedNames: string[] = [];
      let after = 0n;
      let turn = seed;
      while (receivedNames.length < total) {
        const follower = await follow(stream, { after });
        turn = (turn * 7 + 3) % 31;
        for (const item of await takeNext(
          follower,
          Math.min(turn + 1, total - receivedNames.length),
        )) {
          receivedNames.push(readItemName(item));
          after = item.node.position;
        }
        await follower.return?.();
      }
      return receivedNames;
    };
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (const name of createNames(`w${writer}-`, perWriter)) {
        await appendMessages(database, stream, {
          names: [`${name}a`, `${name}b`],
          delay: delayCommit,
        });
        await recordNamedEvent(database, { projectId, name, delay: delayCommit });
      }
    });
    const followers = [1, 2, 3, 4].map(followWithReconnects);
    await Promise.all(writers);
    const list = await listMessageNames(database, stream);
    expect(list).toHaveLength(total);
    for (const receivedNames of await Promise.all(followers)) expect(receivedNames).toEqual(list);
  },
);

test(
  'reads large messages in parts, and limits the queue of a slow follower',
  { tags: ['all/rows'] },
  async () => {
    const stream = await createTestStream();
    const padding = BATCH_BYTES_MAX / 4;
    const count = (2 * WAITING_BYTES_MAX) / padding;
    await appendMessages(database, stream, { names: ['old'] });
    const slowFollower = await follow(stream);
    const firstRead = slowFollower.next();
    for (const name of createNames('m', count))
      await appendMessages(database, stream, { names: [name], padding });
    // The fast follower reads to the end, while the slow follower stops.
    const fastFollower = await follow(stream, { after: 1n });
    await takeNext(fastFollower, count);
    expect(feed.lagging).toBe(1);
    const laterItems = await takeNext(slowFollower, count - 1);
    expect([(await firstRead).value, ...laterItems].map(readItemName)).toEqual(
      createNames('m', count),
    );
    await Promise.all([slowFollower.return?.(), fastFollower.return?.()]);
  },
);

test('rejects a follower whose position was removed', async () => {
  await removeSurplus(services);
  const stream = await createTestStream();
  const padding = 300_000;
  await appendMessages(database, stream, { names: createNames('m', 8), padding });
  const [lateFollower, currentFollower] = [
    await follow(stream, { after: 1n }),
    await follow(stream, { after: 6n }),
  ];
  expect(await removeSurplus(services)).toBe(5);
  expect(await listMessageNames(database, stream)).toEqual(['m6', 'm7', 'm8']);
  expect(await findStream(database, stream)).toMatchObject({ removedPosition: 5n });
  await expect(lateFollower.next()).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    message: expect.stringContaining('too old'),
  });
  expect(await lateFollower.next()).toEqual({ done: true, value: undefined });
  expect((await takeNext(currentFollower, 2)).map(readItemName)).toEqual(['m7', 'm8']);
  // Nothing is left to remove, and the stream continues.
  expect(await removeSurplus(services)).toBe(0);
  await appendMessages(database, stream, { names: ['next'] });
  expect((await takeNext(currentFollower, 1)).map(readItemName)).toEqual(['next']);
  await currentFollower.return?.();
});

test('removes messages that are too old, even if the stream is below its maximum size', async () => {
  const stream = await createTestStream();
  await appendMessages(database, stream, { names: createNames('m', 3) });
  const { destinationId } = stream;
  const data = { createTime: new Date(0) };
  await database.prisma.streamMessage.updateMany({ where: { destinationId, position: 1 }, data });
  expect(await removeSurplus(services)).toBe(0);
  expect(await removeSurplus(services, { before: new Date(1) })).toBe(1);
  expect(await listMessageNames(database, stream)).toEqual(['m2', 'm3']);
});

test('ends the followers of a closed stream, and removes its messages', async () => {
  const stream = await createTestStream();
  const { projectId, destinationId } = stream;
  await appendMessages(database, stream, { names: createNames('m', 3) });
  const [liveFollower, waitingFollower] = [
    await follow(stream),
    await follow(stream, { after: 0n }),
  ];
  const liveRead = liveFollower.next();
  await takeNext(waitingFollower, 3);
  await inTransaction(database, (tx) => closeStream(tx, stream));
  const ends = [liveRead, waitingFollower.next()].map((ended) =>
    expect(ended).rejects.toMatchObject({ code: 'NOT_FOUND' }),
  );
  await Promise.all(ends);
  // Drops the message of a statement that has read the route before the deletion.
  await recordNamedEvent(database, { projectId, name: 'late' });
  await removeMessages(services, stream);
  const where = { projectId, destinationId };
  expect(await database.prisma.streamMessage.count({ where })).toBe(0);
  expect(await database.prisma.streamLog.count({ where })).toBe(0);
});
