import { test } from 'vitest';
import { eventList } from '../../src/domain/event/notification-event.ts';
import { encodeCursor } from '../../src/domain/paging/list-cursor.ts';
import { listed, record, routeEvents } from '../support/event-log.ts';
import { followEmbedded, followThroughKills, type MakeLog } from './scenes/feed/followed-log.ts';

const QUERY = `subscription ($project: String!, $after: String) {
  notificationEvents(projectIdOrName: $project, after: $after) { cursor node { data } }
}`;

const eventLog: MakeLog = async (database, { projectId }) => {
  await routeEvents(database.prisma, projectId);
  return {
    subscription: {
      query: QUERY,
      field: 'notificationEvents',
      variables: { project: projectId },
      nameOf: ({ data }: { data: { connectionId: string } }) => data.connectionId,
    },
    start: encodeCursor(eventList(projectId), 0n),
    write: (name, delay) => record(database, { projectId, name, delay }),
    listed: () => listed(database, projectId),
  };
};

test('followers of servers that are killed get the list, none lost and none twice', () =>
  followThroughKills(eventLog));

test('followers of the embedded database get the list, none lost and none twice', () =>
  followEmbedded(eventLog));
