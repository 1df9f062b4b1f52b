/** Every endpoint, in the order of the document. */
import type { Endpoint } from './endpoint.ts';
import { deliveryEndpoints } from './event/delivery.ts';
import { destinationEndpoints } from './event/destination.ts';
import { eventTopicRouteEndpoints } from './event/event-topic-route.ts';
import { notificationEventEndpoints } from './event/notification-event.ts';
import { topicEndpoints } from './event/topic.ts';
import { topicDestinationRouteEndpoints } from './event/topic-destination-route.ts';
import { installationEndpoints } from './installation/installation.ts';
import { integrationEndpoints } from './integration/integration.ts';
import { revisionEndpoints } from './integration/revision.ts';
import { operationEndpoints } from './operation/operation.ts';
import { readEndpoints } from './operation/reads.ts';
import { writeEndpoints } from './operation/write-records.ts';
import { apiKeyEndpoints } from './project/api-key.ts';
import { consumerEndpoints } from './project/consumer.ts';
import { groupEndpoints } from './project/group.ts';
import { projectEndpoints } from './project/project.ts';

export const ENDPOINTS: Endpoint[] = [
  ...projectEndpoints,
  ...apiKeyEndpoints,
  ...groupEndpoints,
  ...consumerEndpoints,
  ...integrationEndpoints,
  ...revisionEndpoints,
  ...installationEndpoints,
  ...writeEndpoints,
  ...readEndpoints,
  ...operationEndpoints,
  ...topicEndpoints,
  ...destinationEndpoints,
  ...eventTopicRouteEndpoints,
  ...topicDestinationRouteEndpoints,
  ...notificationEventEndpoints,
  ...deliveryEndpoints,
];
