import { z } from 'zod';
import {
  activityInput,
  type DeliveryActivity,
  deliveryActivity,
  getActivityRange,
  listDestinationActivity,
  listStreamActivity,
  operationActivity,
  recordActivity,
  type StreamActivity,
  streamActivity,
} from '../../domain/activity/activity.ts';
import type { ActivityRange } from '../../domain/activity/activity-series.ts';
import { readWithin } from '../../domain/declared-read.ts';
import { getDestination } from '../../domain/event/destination.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { resource } from '../openapi/schemas.ts';

const tag = 'Activity';
const time = z.date().describe('When the bucket begins.');
const count = (what: string) => z.int().describe(what);
const percentile = (share: number) =>
  z
    .int()
    .optional()
    .describe(`The duration that ${share} % of the attempts took at most, in milliseconds.`);

const deliveries = resource(
  'DeliveryActivity',
  'Attempts to send to one destination that began in one bucket of time.',
  {
    time,
    destinationId: z.string().describe('The id of the destination.'),
    attempts: count('How many attempts there were.'),
    failedAttempts: count('How many of them failed: no answer, or another status than 2xx.'),
    p50Ms: percentile(50),
    p95Ms: percentile(95),
    p99Ms: percentile(99),
  },
);

const operations = resource(
  'OperationActivity',
  'Operations of one type and status that were created in one bucket of time.',
  {
    time,
    actionType: words('OperationActionType', ['READ', 'WRITE', 'SUBSCRIBE']).describe(
      'Whether they read, write or subscribe.',
    ),
    status: words('OperationStatus', ['IN_PROGRESS', 'SUCCESS', 'FAILURE']).describe(
      'What has become of them so far.',
    ),
    count: count('How many operations there are.'),
  },
);

const records = resource('RecordActivity', 'Records and events in one bucket of time.', {
  time,
  read: count('How many records were read.'),
  written: count('How many records were written.'),
  receivedEvents: count('How many events of providers were received.'),
});

const streams = resource('StreamActivity', 'Messages put into one stream in one bucket of time.', {
  time,
  destinationId: z.string().describe('The id of the destination.'),
  messages: count('How many messages there were, those included that have been removed since.'),
});

const activity = resource('Activity', 'What the project has done in some time.', {
  operations: z.array(operations).describe('By when they were created, oldest first.'),
  deliveries: z.array(deliveries).describe('By when attempts began, oldest first.'),
  records: z.array(records).describe('By when it was, oldest first.'),
  streams: z.array(streams).describe('By when messages were put in, oldest first.'),
});

function showDeliveries({
  p50Ms,
  p95Ms,
  p99Ms,
  projectId: _project,
  ...counted
}: DeliveryActivity) {
  return {
    ...counted,
    p50Ms: p50Ms ?? undefined,
    p95Ms: p95Ms ?? undefined,
    p99Ms: p99Ms ?? undefined,
  };
}

function showStream({ projectId: _project, ...counted }: StreamActivity) {
  return counted;
}

const destination = z.string().min(1).max(64).describe('The id or the name of the destination.');

export const activityEndpoints = [
  readEndpoint({
    id: 'getActivity',
    path: '/projects/{projectIdOrName}/activity',
    tag,
    input: z.object({ projectIdOrName, ...activityInput.shape }),
    read: readWithin(getOwnProject, getActivityRange),
    output: activity,
    show: async (range: ActivityRange, { call }) => {
      const counted = await operationActivity(call, range);
      return {
        operations: counted.map((one) => ({
          ...one,
          actionType: wordOf('OperationActionType', one.actionType),
          status: wordOf('OperationStatus', one.status),
        })),
        deliveries: (await deliveryActivity(call, range)).map(showDeliveries),
        records: await recordActivity(call, range),
        streams: (await streamActivity(call, range)).map(showStream),
      };
    },
  }),
  readEndpoint({
    id: 'getDestinationActivity',
    path: '/projects/{projectIdOrName}/destinations/{destination}/activity',
    tag,
    input: z.object({ projectIdOrName, destination, ...activityInput.shape }),
    read: readWithin(getDestination, listDestinationActivity),
    output: z.array(deliveries).describe('By when attempts began, oldest first.'),
    show: (found: DeliveryActivity[]) => found.map(showDeliveries),
  }),
  readEndpoint({
    id: 'getStreamActivity',
    path: '/projects/{projectIdOrName}/destinations/{destination}/stream-activity',
    tag,
    input: z.object({ projectIdOrName, destination, ...activityInput.shape }),
    read: readWithin(getDestination, listStreamActivity),
    output: z.array(streams).describe('By when messages were put in, oldest first.'),
    show: (found: StreamActivity[]) => found.map(showStream),
  }),
];
