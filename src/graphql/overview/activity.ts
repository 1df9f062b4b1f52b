import { byId } from '../../domain/access/scope.ts';
import {
  activityInput,
  activityResource,
  type DeliveryActivity as DeliveryActivityRow,
  deliveryActivityResource,
  getActivityRange,
  listDestinationActivity,
  listStreamActivity,
  type StreamActivity as StreamActivityRow,
  streamActivityResource,
} from '../../domain/overview/activity.ts';
import type { ActivityRange } from '../../domain/overview/activity-series.ts';
import { describeField } from '../schema/fields.ts';
import { createArgs } from '../schema/inputs.ts';
import { objectType } from '../schema/object-type.ts';
import { builder } from '../schema/schema-builder.ts';
import { Destination, Project } from '../schema/types.ts';

const DeliveryActivity = objectType(
  builder.objectRef<DeliveryActivityRow>('DeliveryActivity'),
  deliveryActivityResource,
);
const StreamActivity = objectType(
  builder.objectRef<StreamActivityRow>('StreamActivity'),
  streamActivityResource,
);
const Activity = objectType(builder.objectRef<ActivityRange>('Activity'), activityResource);

for (const type of [DeliveryActivity, StreamActivity]) {
  builder.objectField(type, 'destination', (t) =>
    t.field({
      type: Destination,
      nullable: true,
      description: 'The destination. Null if it has been deleted.',
      resolve: ({ destinationId }, _args, { find }) => find(byId('Destination'), destinationId),
    }),
  );
}

builder.objectField(Project, 'activity', (t) =>
  t.field({
    ...describeField(getActivityRange),
    type: Activity,
    args: createArgs(t.arg, activityInput),
    resolve: (project, args, { call }) => getActivityRange(call, project, args),
  }),
);

builder.objectField(Destination, 'activity', (t) =>
  t.field({
    ...describeField(listDestinationActivity),
    type: [DeliveryActivity],
    args: createArgs(t.arg, activityInput),
    resolve: (destination, args, { call }) => listDestinationActivity(call, destination, args),
  }),
);

builder.objectField(Destination, 'streamActivity', (t) =>
  t.field({
    ...describeField(listStreamActivity),
    type: [StreamActivity],
    args: createArgs(t.arg, activityInput),
    resolve: (destination, args, { call }) => listStreamActivity(call, destination, args),
  }),
);
