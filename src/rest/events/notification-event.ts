import { z } from 'zod';
import { load } from '../../domain/access/batched.ts';
import type { Call } from '../../domain/access/call.ts';
import { readWithin } from '../../domain/access/declared-read.ts';
import type { Row } from '../../domain/access/scope.ts';
import { projectIdOrName } from '../../domain/base/names.ts';
import { computed, idField } from '../../domain/base/resource.ts';
import {
  eventFilters,
  getNotificationEvent,
  listedEventFilters,
  listNotificationEvents,
  listTopicsOfEvents,
  notificationEventResource,
} from '../../domain/events/notification-event.ts';
import { getRequestedProject } from '../../domain/tenants/project/project.ts';
import { id } from '../../kernel/ids.ts';
import {
  joinCreateTime,
  pagedEndpoint,
  readEndpoint,
  splitCreateTime,
} from '../endpoint/resource-endpoints.ts';
import { extendResource } from '../openapi/response-form.ts';

const tag = 'Events';
const path = '/projects/{projectIdOrName}/notification-events';

const subjectId = (subject: string) =>
  idField
    .nullable()
    .describe(`The id of the ${subject} that the event concerns. Absent if there is none.`);

const notificationEvent = extendResource(notificationEventResource, {
  topicIds: computed(
    z
      .array(z.string())
      .describe('The ids of the topics that the event was routed to, except deleted topics.'),
    async (event: Row<'NotificationEvent'>, call: Call) =>
      (await load(call, listTopicsOfEvents, event)).map(({ id }) => id),
  ),
  connectionId: subjectId('connection'),
  installationId: subjectId('installation'),
  operationId: subjectId('operation'),
  destinationId: subjectId('destination'),
});

export const notificationEventEndpoints = [
  pagedEndpoint({
    id: 'listNotificationEvents',
    path,
    tag,
    input: z.object({
      projectIdOrName,
      ...splitCreateTime(listedEventFilters.shape),
      eventTypes: eventFilters.shape.eventTypes.describe(
        'Only events of this type. Repeat the parameter for several types.',
      ),
    }),
    locations: { eventTypes: { in: 'query', name: 'eventType' } },
    list: joinCreateTime(readWithin(getRequestedProject, listNotificationEvents)),
    resource: notificationEvent,
  }),
  readEndpoint({
    id: 'getNotificationEvent',
    path: `${path}/{eventId}`,
    tag,
    input: z.object({ projectIdOrName, eventId: id.describe('The id of the event.') }),
    read: getNotificationEvent,
    resource: notificationEvent,
  }),
];
