import { test } from 'vitest';
import { encodeCursor } from '../../src/domain/access/paging/list-cursor.ts';
import { createEventList } from '../../src/domain/events/notification-event.ts';
import { listEventNames, recordNamedEvent, routeEvents } from '../support/event-log.ts';
import {
  type CreateLog,
  followEmbedded,
  followThroughKills,
} from './fixtures/feed/followed-log.ts';

const SUBSCRIBE_TO_EVENTS = `subscription Events($project: String!, $after: String) {
  notificationEvents(projectIdOrName: $project, after: $after) { cursor node { data } }
}`;

const createEventLog: CreateLog = async (database, { projectId }) => {
  await routeEvents(database.prisma, projectId);
  return {
    subscription: {
      query: SUBSCRIBE_TO_EVENTS,
      field: 'notificationEvents',
      variables: { project: projectId },
      getName: ({ data }: { data: { connectionId: string } }) => data.connectionId,
    },
    startCursor: encodeCursor(createEventList(projectId), 0n),
    write: (name, delay) => recordNamedEvent(database, { projectId, name, delay }),
    listNames: () => listEventNames(database, projectId),
  };
};

test('delivers every event once and in order to followers of servers that are killed', () =>
  followThroughKills(createEventLog));

test('delivers every event once and in order to followers of the embedded database', () =>
  followEmbedded(createEventLog));
