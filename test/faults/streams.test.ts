import { test } from 'vitest';
import { messageCursor } from '../../src/domain/event/stream-message.ts';
import { record, routeEvents } from '../support/event-log.ts';
import { createStream, messageName, namesIn, put } from '../support/scenes/streams.ts';
import { followEmbedded, followThroughKills, type MakeLog } from './scenes/feed/followed-log.ts';

const QUERY = `subscription ($destinationId: ID!, $after: String) {
  streamMessages(destinationId: $destinationId, after: $after) { cursor node { body } }
}`;

/** A stream that routes lead events to, while pages of records are put into it. */
const stream: MakeLog = async (database, { projectId }) => {
  const { createdTopicId: topicId } = await routeEvents(database.prisma, projectId);
  const made = await createStream(database, { projectId, topicId });
  const { destinationId } = made;
  return {
    subscription: {
      query: QUERY,
      field: 'streamMessages',
      variables: { destinationId },
      nameOf: ({ body }: { body: object }) => messageName({ body: JSON.stringify(body) }),
    },
    start: messageCursor({ destinationId, position: 0n }),
    write: (name, delay) =>
      /[02468]$/.test(name)
        ? put(database, made, { names: [name], delay })
        : record(database, { projectId, name, delay }),
    listed: () => namesIn(database, made),
  };
};

test('followers of servers that are killed get the stream, none lost and none twice', () =>
  followThroughKills(stream));

test('followers of the embedded database get the stream, none lost and none twice', () =>
  followEmbedded(stream));
