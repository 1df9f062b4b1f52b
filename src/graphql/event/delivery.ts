import {
  type DeliveryAttempt as Attempt,
  attemptsOf,
  listDestinationDeliveries,
  listEventDeliveries,
  retryDelivery,
} from '../../domain/event/delivery.ts';
import { createdFields, linkField, listField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { answer } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import {
  Deliveries,
  Delivery,
  Destination,
  NotificationEvent,
  Operation,
} from '../schema/types.ts';

const DeliveryStatus = enumType('DeliveryStatus', 'What came of a delivery.', {
  PENDING: 'It is to be sent, or sent again.',
  SUCCEEDED: 'The destination has taken it.',
  FAILED: 'It is given up.',
});

const DeliveryAttempt = builder.objectRef<Attempt>('DeliveryAttempt').implement({
  description: 'One HTTP try of a delivery.',
  fields: (t) => ({
    attemptNumber: t.exposeInt('attemptNumber', { description: 'Counted from 1.' }),
    responseStatus: t.exposeInt('responseStatus', {
      nullable: true,
      description: 'HTTP status of the answer; null when there was none.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why it failed; null where it succeeded.',
    }),
    durationMs: t.exposeInt('durationMs', { description: 'How long it took, in milliseconds.' }),
    createTime: t.expose('createTime', { type: 'DateTime', description: 'When it was made.' }),
  }),
});

Delivery.implement({
  description: 'A message owed to one destination: a notification event or a page of records.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    destinationId: t.exposeID('destinationId', { description: 'The destination it is owed to.' }),
    destination: linkField(t, {
      type: Destination,
      table: 'Destination',
      column: 'destinationId',
      description: 'The destination that it is owed to; null when it has been deleted.',
    }),
    event: linkField(t, {
      type: NotificationEvent,
      table: 'NotificationEvent',
      column: 'eventId',
      description: 'The event that it carries; null for a page of records.',
    }),
    operation: linkField(t, {
      type: Operation,
      table: 'Operation',
      column: 'operationId',
      description: 'The read whose records it carries; null for an event.',
    }),
    status: t.expose('status', { type: DeliveryStatus, description: 'What came of it.' }),
    failureReason: t.exposeString('failureReason', {
      nullable: true,
      description: 'Why it was given up; null where it was not.',
    }),
    attempts: t.field({
      type: [DeliveryAttempt],
      description: 'The tries so far, in their order; of very many, the newest 100.',
      resolve: (delivery, _args, { get }) => get(attemptsOf, delivery),
    }),
    nextAttemptTime: t.expose('nextAttemptTime', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is sent next; null when nothing is to come.',
    }),
  }),
});

builder.objectField(Destination, 'deliveries', (t) =>
  listField(t, Deliveries, {
    description: 'What it was and is owed, oldest first.',
    args: { status: t.arg({ type: DeliveryStatus, description: 'Only those of this status.' }) },
    list: listDestinationDeliveries,
  }),
);

builder.objectField(NotificationEvent, 'deliveries', (t) =>
  listField(t, Deliveries, {
    description: 'What destinations are owed of it, oldest first.',
    list: listEventDeliveries,
  }),
);

builder.mutationFields((t) => ({
  retryDelivery: mutationField(t, retryDelivery, {
    type: answer('RetryDeliveryPayload', 'delivery', Delivery, 'The delivery, due now.'),
    description: 'Sends a delivery again, whatever became of it.',
  }),
}));
