import { test } from 'vitest';
import { encodeMessageCursor } from '../../src/domain/event/stream-message.ts';
import { recordNamedEvent, routeEvents } from '../support/event-log.ts';
import {
  appendMessages,
  createStream,
  listMessageNames,
  messageName,
} from '../support/fixtures/streams.ts';
import { followEmbedded, followThroughKills, type MakeLog } from './fixtures/feed/followed-log.ts';

const QUERY = `subscription ($destinationId: ID!, $after: String) {
  streamMessages(destinationId: $destinationId, after: $after) { cursor node { body } }
}`;

/** A stream that receives events by a route, and pages of records. */
const stream: MakeLog = async (database, { projectId }) => {
  const { createdTopicId: topicId } = await routeEvents(database.prisma, projectId);
  const made = await createStream(database, { projectId, topicId });
  const { destinationId } = made;
  return {
    subscription: {
      query: QUERY,
      field: 'streamMessages',
      variables: { destinationId },
      getName: ({ body }: { body: object }) => messageName({ body: JSON.stringify(body) }),
    },
    start: encodeMessageCursor({ destinationId, position: 0n }),
    write: (name, delay) =>
      /[02468]$/.test(name)
        ? appendMessages(database, made, { names: [name], delay })
        : recordNamedEvent(database, { projectId, name, delay }),
    listed: () => listMessageNames(database, made),
  };
};

test('followers of killed servers receive every message once and in order', () =>
  followThroughKills(stream));

test('followers of the embedded database receive every message once and in order', () =>
  followEmbedded(stream));
