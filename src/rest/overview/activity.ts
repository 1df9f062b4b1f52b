import { z } from 'zod';
import { readWithin } from '../../domain/access/declared-read.ts';
import { projectIdOrName } from '../../domain/base/names.ts';
import { idField } from '../../domain/base/resource.ts';
import { getDestination } from '../../domain/events/destination.ts';
import {
  activityInput,
  activityResource,
  deliveryActivityResource,
  getActivityRange,
  listDestinationActivity,
  listStreamActivity,
  streamActivityResource,
} from '../../domain/overview/activity.ts';
import { getRequestedProject } from '../../domain/tenants/project/project.ts';
import { readEndpoint } from '../endpoint/resource-endpoints.ts';
import { extendResource } from '../openapi/response-form.ts';

const tag = 'Activity';
const destinationId = idField.describe('The id of the destination.');
const deliveryActivity = extendResource(deliveryActivityResource, { destinationId });
const streamActivity = extendResource(streamActivityResource, { destinationId });

const destination = z.string().min(1).max(64).describe('The id or the name of the destination.');

export const activityEndpoints = [
  readEndpoint({
    id: 'getActivity',
    path: '/projects/{projectIdOrName}/activity',
    tag,
    input: z.object({ projectIdOrName, ...activityInput.shape }),
    read: readWithin(getRequestedProject, getActivityRange),
    resource: activityResource,
  }),
  readEndpoint({
    id: 'getDestinationActivity',
    path: '/projects/{projectIdOrName}/destinations/{destination}/activity',
    tag,
    input: z.object({ projectIdOrName, destination, ...activityInput.shape }),
    read: readWithin(getDestination, listDestinationActivity),
    resource: z
      .array(deliveryActivity)
      .describe('The counts by the start time of the attempts, oldest first.'),
  }),
  readEndpoint({
    id: 'getStreamActivity',
    path: '/projects/{projectIdOrName}/destinations/{destination}/stream-activity',
    tag,
    input: z.object({ projectIdOrName, destination, ...activityInput.shape }),
    read: readWithin(getDestination, listStreamActivity),
    resource: z
      .array(streamActivity)
      .describe('The counts by the time the messages were added, oldest first.'),
  }),
];
