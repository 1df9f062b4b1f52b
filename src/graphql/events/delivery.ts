import {
  type DeliveryAttempt as DeliveryAttemptRow,
  deliveryAttemptResource,
  deliveryResource,
  retryDelivery,
} from '../../domain/events/delivery.ts';
import {
  deliveryFilters,
  EXCLUSIVE_DELIVERY_FILTERS,
  listDestinationDeliveries,
  listEventDeliveries,
  listProjectDeliveries,
  projectDeliveryFilters,
} from '../../domain/events/delivery-list.ts';
import { readDeliveryBody, readResponseBody } from '../../domain/events/payload.ts';
import {
  countRetryable,
  type RetriedDeliveries,
  retriedDeliveriesResource,
  retryableInput,
  retryDeliveries,
} from '../../domain/events/retry-deliveries.ts';
import { sendTestMessage } from '../../domain/events/test-message.ts';
import { describeField, linkField } from '../schema/fields.ts';
import { createArgs } from '../schema/inputs.ts';
import { addList } from '../schema/lists.ts';
import { addMutation, addMutations } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { builder } from '../schema/schema-builder.ts';
import {
  Delivery,
  Destination,
  Group,
  NotificationEvent,
  Operation,
  Project,
} from '../schema/types.ts';

objectType(
  builder.objectRef<DeliveryAttemptRow>('DeliveryAttempt'),
  deliveryAttemptResource,
  (t) => ({
    responseBody: t.string({
      ...describeField(readResponseBody),
      nullable: true,
      resolve: (attempt, _args, { call }) => readResponseBody(call, attempt),
    }),
  }),
);

objectType(Delivery, deliveryResource, (t) => ({
  destination: linkField(t, {
    type: Destination,
    table: 'Destination',
    column: 'destinationId',
    description: 'The destination that it is sent to. Null if it was deleted.',
  }),
  group: linkField(t, {
    type: Group,
    table: 'Group',
    column: 'groupId',
    description: 'The group that the message concerns. Null if it concerns none.',
  }),
  event: linkField(t, {
    type: NotificationEvent,
    table: 'NotificationEvent',
    column: 'eventId',
    description: 'The event that it carries. Null for other messages.',
  }),
  operation: linkField(t, {
    type: Operation,
    table: 'Operation',
    column: 'operationId',
    description: 'The read whose records it carries. Null for other messages.',
  }),
  body: t.field({
    ...describeField(readDeliveryBody),
    type: 'JSONObject',
    nullable: true,
    resolve: (delivery, _args, { call }) => readDeliveryBody(call, delivery),
  }),
}));

addList(Project, 'deliveries', Delivery, listProjectDeliveries, {
  filters: projectDeliveryFilters,
  exclusive: EXCLUSIVE_DELIVERY_FILTERS,
});

builder.objectField(Project, 'retryableDeliveryCount', (t) =>
  t.int({
    ...describeField(countRetryable),
    nullable: true,
    args: createArgs(t.arg, retryableInput),
    resolve: (project, args, { call }) => countRetryable(call, project, args),
  }),
);

addList(Destination, 'deliveries', Delivery, listDestinationDeliveries, {
  filters: deliveryFilters,
});

addList(NotificationEvent, 'deliveries', Delivery, listEventDeliveries);

const RetryDeliveriesPayload = objectType(
  builder.objectRef<RetriedDeliveries>('RetryDeliveriesPayload'),
  retriedDeliveriesResource,
);

addMutations('delivery', Delivery, { sendTestMessage, retryDelivery });
addMutation('retryDeliveries', retryDeliveries, RetryDeliveriesPayload);
