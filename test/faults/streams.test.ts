import { test } from 'vitest';
import { encodeMessageCursor } from '../../src/domain/events/stream-message.ts';
import { recordNamedEvent, routeEvents } from '../support/event-log.ts';
import {
  appendMessages,
  createStream,
  listMessageNames,
  readMessageName,
} from '../support/fixtures/streams.ts';
import {
  type CreateLog,
  followEmbedded,
  followThroughKills,
} from './fixtures/feed/followed-log.ts';

const SUBSCRIBE_TO_MESSAGES = `subscription Messages($destinationId: ID!, $after: String) {
  streamMessages(destinationId: $destinationId, after: $after) { cursor node { body } }
}`;

/** Creates a stream that receives events through a route, and appended messages. */
const createStreamLog: CreateLog = async (database, { projectId }) => {
  const { createdTopicId: topicId } = await routeEvents(database.prisma, projectId);
  const stream = await createStream(database, { projectId, topicId });
  const { destinationId } = stream;
  return {
    subscription: {
      query: SUBSCRIBE_TO_MESSAGES,
      field: 'streamMessages',
      variables: { destinationId },
      getName: ({ body }: { body: object }) => readMessageName({ body: JSON.stringify(body) }),
    },
    startCursor: encodeMessageCursor({ destinationId, position: 0n }),
    write: (name, delay) =>
      /[02468]$/.test(name)
        ? appendMessages(database, stream, { names: [name], delay })
        : recordNamedEvent(database, { projectId, name, delay }),
    listNames: () => listMessageNames(database, stream),
  };
};

test('delivers every message once and in order to followers of servers that are killed', () =>
  followThroughKills(createStreamLog));

test('delivers every message once and in order to followers of the embedded database', () =>
  followEmbedded(createStreamLog));
