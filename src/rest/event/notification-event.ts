import { z } from 'zod';
import { readWithin } from '../../domain/declared-read.ts';
import {
  eventFilters,
  getNotificationEvent,
  listedEventFilters,
  listNotificationEvents,
  listTopicsOfEvents,
} from '../../domain/event/notification-event.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import type { Relations } from '../../domain/relations.ts';
import type { Row } from '../../domain/scope.ts';
import { storedJson } from '../../domain/storable-json.ts';
import { id } from '../../ids.ts';
import { pagedEndpoint } from '../endpoint/list.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { createdWithin, withCreatedParameters } from '../endpoint/time-parameters.ts';
import { eventTypeWords, wordOf } from '../endpoint/words.ts';
import { createdShape, resource } from '../openapi/schemas.ts';

const tag = 'Events';
const path = '/projects/{projectIdOrName}/notification-events';

const notificationEvent = resource(
  'NotificationEvent',
  'The event: something that happened in the project and was routed to at least one topic.',
  {
    ...createdShape,
    eventType: eventTypeWords.describe('What happened.'),
    data: z
      .record(z.string(), z.unknown())
      .describe("The payload. A webhook's body contains it as `data`, next to `notificationType`."),
    topicIds: z
      .array(z.string())
      .describe('The ids of the topics that the event was routed to, except deleted topics.'),
    connectionId: z
      .string()
      .optional()
      .describe('The id of the connection that the event concerns. Absent if there is none.'),
    installationId: z
      .string()
      .optional()
      .describe('The id of the installation that the event concerns. Absent if there is none.'),
    operationId: z
      .string()
      .optional()
      .describe('The id of the operation that the event concerns. Absent if there is none.'),
    destinationId: z
      .string()
      .optional()
      .describe('The id of the destination that the event concerns. Absent if there is none.'),
  },
);

async function showNotificationEvent(row: Row<'NotificationEvent'>, { get }: Relations) {
  const topics = await get(listTopicsOfEvents, row);
  return {
    ...row,
    eventType: wordOf('NotificationEventType', row.eventType),
    data: storedJson<Record<string, unknown>>(row.data),
    topicIds: topics.map((topic) => topic.id),
    connectionId: row.connectionId ?? undefined,
    installationId: row.installationId ?? undefined,
    operationId: row.operationId ?? undefined,
    destinationId: row.destinationId ?? undefined,
  };
}

export const notificationEventEndpoints = [
  pagedEndpoint({
    id: 'listNotificationEvents',
    path,
    tag,
    input: z.object({
      projectIdOrName,
      ...withCreatedParameters(listedEventFilters.shape),
      eventTypes: eventFilters.shape.eventTypes.describe(
        'Only events of this type; give it several times for several types.',
      ),
    }),
    places: { eventTypes: { in: 'query', name: 'eventType' } },
    item: notificationEvent,
    list: createdWithin(readWithin(getOwnProject, listNotificationEvents)),
    show: showNotificationEvent,
  }),
  readEndpoint({
    id: 'getNotificationEvent',
    path: `${path}/{eventId}`,
    tag,
    input: z.object({ projectIdOrName, eventId: id.describe('The id of the event.') }),
    read: getNotificationEvent,
    output: notificationEvent,
    show: showNotificationEvent,
  }),
];
