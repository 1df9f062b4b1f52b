import {
  type DeliveryAttempt as Attempt,
  listAttempts,
  retryDelivery,
} from '../../domain/event/delivery.ts';
import {
  DELIVERY_EXCLUSIVE,
  deliveryFilters,
  listDestinationDeliveries,
  listEventDeliveries,
  listProjectDeliveries,
  projectDeliveryFilters,
} from '../../domain/event/delivery-list.ts';
import { deliveryStatus, toDeliveryStatus } from '../../domain/event/delivery-status.ts';
import { deliveryBody, measureBodies, readResponseBody } from '../../domain/event/payload.ts';
import {
  countRetryable,
  type RetriedDeliveries,
  retryableInput,
  retryDeliveries,
} from '../../domain/event/retry-deliveries.ts';
import { sendTestMessage } from '../../domain/event/test-message.ts';
import { createdFields, linkField, listField } from '../schema/fields.ts';
import { enumOf } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { needing } from '../schema/needing.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import {
  Deliveries,
  Delivery,
  Destination,
  NotificationEvent,
  Operation,
  Project,
} from '../schema/types.ts';

const DeliveryAttempt = builder.objectRef<Attempt>('DeliveryAttempt').implement({
  description: 'One attempt to send a delivery: an HTTP request to its destination.',
  fields: (t) => ({
    attemptNumber: t.exposeInt('attemptNumber', {
      description: 'The number of the attempt, from 1.',
    }),
    responseStatus: t.exposeInt('responseStatus', {
      nullable: true,
      description: 'The HTTP status of the response; null if there was none.',
    }),
    responseBody: t.string({
      ...needing(readResponseBody),
      nullable: true,
      resolve: (attempt, _args, { call }) => readResponseBody(call, attempt),
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why the attempt failed; null if it succeeded.',
    }),
    durationMs: t.exposeInt('durationMs', {
      description: 'How long the attempt took, in milliseconds.',
    }),
    createTime: t.expose('createTime', {
      type: 'DateTime',
      description: 'When the attempt began.',
    }),
  }),
});

Delivery.implement({
  description:
    'A message to one destination: a notification event, a page of records, changed fields of an object, or a test. It is retried until it succeeds or runs out of retries.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    destinationId: t.exposeID('destinationId', {
      description: 'The id of the destination; it stays when the destination is deleted.',
    }),
    destination: linkField(t, {
      type: Destination,
      table: 'Destination',
      column: 'destinationId',
      description: 'The destination that it is sent to; null if that has been deleted.',
    }),
    event: linkField(t, {
      type: NotificationEvent,
      table: 'NotificationEvent',
      column: 'eventId',
      description: 'The event that it carries; null for other messages.',
    }),
    operation: linkField(t, {
      type: Operation,
      table: 'Operation',
      column: 'operationId',
      description: 'The read whose records it carries; null for other messages.',
    }),
    status: t.field({
      type: enumOf(deliveryStatus),
      description: 'Whether it is pending, is being retried, has succeeded, or has failed.',
      resolve: toDeliveryStatus,
    }),
    failureReason: t.exposeString('failureReason', {
      nullable: true,
      description: 'Why it failed permanently; null if it did not.',
    }),
    attempts: t.field({
      type: [DeliveryAttempt],
      description: 'The attempts so far, oldest first; if there are more than 100, the newest 100.',
      resolve: (delivery, _args, { get }) => get(listAttempts, delivery),
    }),
    nextAttemptTime: t.expose('nextAttemptTime', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt is due; null if none follows.',
    }),
  }),
});

builder.objectFields(Delivery, (t) => ({
  body: t.field({
    ...needing(deliveryBody),
    type: 'JSONObject',
    nullable: true,
    resolve: (delivery, _args, { call }) => deliveryBody(call, delivery),
  }),
  bodyBytes: t.int({
    description: 'The length of the body, in bytes.',
    resolve: (delivery, _args, { get }) => get(measureBodies, delivery),
  }),
}));

builder.objectField(Project, 'deliveries', (t) =>
  listField(t, Deliveries, {
    args: parsedArgs(t.arg, projectDeliveryFilters),
    exclusive: DELIVERY_EXCLUSIVE,
    list: listProjectDeliveries,
  }),
);

builder.objectField(Project, 'retryableDeliveryCount', (t) =>
  t.int({
    ...needing(countRetryable),
    args: parsedArgs(t.arg, retryableInput),
    resolve: (project, args, { call }) => countRetryable(call, project, args),
  }),
);

builder.objectField(Destination, 'deliveries', (t) =>
  listField(t, Deliveries, {
    args: parsedArgs(t.arg, deliveryFilters),
    list: listDestinationDeliveries,
  }),
);

builder.interfaceField(NotificationEvent, 'deliveries', (t) =>
  listField(t, Deliveries, {
    list: listEventDeliveries,
  }),
);

const RetryDeliveriesPayload = builder
  .objectRef<RetriedDeliveries>('RetryDeliveriesPayload')
  .implement({
    description: 'Result of `retryDeliveries`.',
    fields: (t) => ({
      count: t.exposeInt('count', { description: 'How many deliveries are retried.' }),
      hasMore: t.exposeBoolean('hasMore', {
        description: 'True if more deliveries match: call `retryDeliveries` again.',
      }),
    }),
  });

builder.mutationFields((t) => ({
  retryDeliveries: mutationField(t, retryDeliveries, RetryDeliveriesPayload),
  sendTestMessage: mutationField(
    t,
    sendTestMessage,
    payload('sendTestMessage', 'delivery', Delivery),
  ),
  retryDelivery: mutationField(t, retryDelivery, payload('retryDelivery', 'delivery', Delivery)),
}));
