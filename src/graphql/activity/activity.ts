import {
  activityInput,
  type DeliveryActivity as Deliveries,
  deliveryActivity,
  getActivityRange,
  listDestinationActivity,
  listStreamActivity,
  type OperationActivity as Operations,
  operationActivity,
  type RecordActivity as Records,
  recordActivity,
  type StreamActivity as Streams,
  streamActivity,
} from '../../domain/activity/activity.ts';
import type { ActivityRange } from '../../domain/activity/activity-series.ts';
import { operationStatus, toOperationStatus } from '../../domain/operation/operation-status.ts';
import { byId } from '../../domain/scope.ts';
import { OperationActionType } from '../operation/operation.ts';
import { enumOf, enumType } from '../schema/inputs.ts';
import { needing } from '../schema/needing.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { builder } from '../schema/schema-builder.ts';
import { Destination, Project } from '../schema/types.ts';

enumType('ActivityBucket', 'How activity is divided by time, in UTC.', {
  MINUTE: 'By minutes.',
  HOUR: 'By hours.',
  DAY: 'By days.',
});

const startTime = { type: 'DateTime', description: 'When the bucket begins.' } as const;
const DELETED = 'The destination; null if it has been deleted.';

const OperationActivity = builder.objectRef<Operations>('OperationActivity').implement({
  description: 'Operations of one type and status that were created in one bucket of time.',
  fields: (t) => ({
    startTime: t.expose('time', startTime),
    actionType: t.expose('actionType', {
      type: OperationActionType,
      description: 'Whether they read, write or subscribe.',
    }),
    status: t.field({
      type: enumOf(operationStatus),
      description: 'Their present status.',
      resolve: ({ status }) => toOperationStatus(status),
    }),
    count: t.exposeInt('count', { description: 'How many operations there are.' }),
  }),
});

const percentile = (share: number) => ({
  nullable: true as const,
  description: `The duration that ${share} % of the attempts took at most, in milliseconds; up to a fifth too long, since durations are counted in steps.`,
});

const DeliveryActivity = builder.objectRef<Deliveries>('DeliveryActivity').implement({
  description: 'Attempts to send to one destination that began in one bucket of time.',
  fields: (t) => ({
    startTime: t.expose('time', startTime),
    destination: t.field({
      type: Destination,
      nullable: true,
      description: DELETED,
      resolve: ({ destinationId }, _args, { find }) => find(byId('Destination'), destinationId),
    }),
    attempts: t.exposeInt('attempts', { description: 'How many attempts there were.' }),
    failedAttempts: t.exposeInt('failedAttempts', {
      description: 'How many of them failed: no response, or another status than 2xx.',
    }),
    p50Ms: t.exposeInt('p50Ms', percentile(50)),
    p95Ms: t.exposeInt('p95Ms', percentile(95)),
    p99Ms: t.exposeInt('p99Ms', percentile(99)),
  }),
});

const StreamActivity = builder.objectRef<Streams>('StreamActivity').implement({
  description:
    'Messages that were added to one destination of the type STREAM in one bucket of time.',
  fields: (t) => ({
    startTime: t.expose('time', startTime),
    destination: t.field({
      type: Destination,
      nullable: true,
      description: DELETED,
      resolve: ({ destinationId }, _args, { find }) => find(byId('Destination'), destinationId),
    }),
    messages: t.exposeInt('messages', {
      description: 'How many messages there were, including those that have been removed since.',
    }),
  }),
});

const RecordActivity = builder.objectRef<Records>('RecordActivity').implement({
  description: 'Records and events of providers in one bucket of time.',
  fields: (t) => ({
    startTime: t.expose('time', startTime),
    read: t.exposeInt('read', { description: 'How many records were read.' }),
    written: t.exposeInt('written', { description: 'How many records were written.' }),
    receivedEvents: t.exposeInt('receivedEvents', {
      description:
        'How many events of providers were received, for each installation that wants them.',
    }),
  }),
});

const Activity = builder.objectRef<ActivityRange>('Activity').implement({
  description: 'What a project has done in a range of time. Empty buckets are omitted.',
  fields: (t) => ({
    operations: t.field({
      type: [OperationActivity],
      description: 'Operations by when they were created, oldest first.',
      resolve: (range, _args, { call }) => operationActivity(call, range),
    }),
    deliveries: t.field({
      type: [DeliveryActivity],
      description: 'Attempts of deliveries by when they began and by destination, oldest first.',
      resolve: (range, _args, { call }) => deliveryActivity(call, range),
    }),
    records: t.field({
      type: [RecordActivity],
      description:
        'Records by when they were read or written, and events by when they were received, oldest first.',
      resolve: (range, _args, { call }) => recordActivity(call, range),
    }),
    streams: t.field({
      type: [StreamActivity],
      description: 'Messages by when they were added to a stream and by stream, oldest first.',
      resolve: (range, _args, { call }) => streamActivity(call, range),
    }),
  }),
});

builder.objectField(Project, 'activity', (t) =>
  t.field({
    ...needing(getActivityRange),
    type: Activity,
    args: parsedArgs(t.arg, activityInput),
    resolve: (project, args, { call }) => getActivityRange(call, project, args),
  }),
);

builder.objectField(Destination, 'activity', (t) =>
  t.field({
    ...needing(listDestinationActivity),
    type: [DeliveryActivity],
    args: parsedArgs(t.arg, activityInput),
    resolve: (destination, args, { call }) => listDestinationActivity(call, destination, args),
  }),
);

builder.objectField(Destination, 'streamActivity', (t) =>
  t.field({
    ...needing(listStreamActivity),
    type: [StreamActivity],
    args: parsedArgs(t.arg, activityInput),
    resolve: (destination, args, { call }) => listStreamActivity(call, destination, args),
  }),
);
