import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import {
  attemptsOf,
  getDelivery,
  listDestinationDeliveries,
  listEventDeliveries,
  retryDelivery,
  retryDeliveryInput,
} from '../../domain/event/delivery.ts';
import { getDestination } from '../../domain/event/destination.ts';
import { getNotificationEvent } from '../../domain/event/notification-event.ts';
import { projectIdOrName } from '../../domain/names.ts';
import type { Relations } from '../../domain/relations.ts';
import type { Row } from '../../domain/scope.ts';
import { id } from '../../ids.ts';
import { pagedEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { createdShape, resource } from '../openapi/schemas.ts';

const tag = 'Deliveries';
const inProject = '/projects/{projectIdOrName}';
const STATUSES = ['PENDING', 'SUCCEEDED', 'FAILED'] as const;

const attempt = resource('DeliveryAttempt', 'One HTTP try of a delivery.', {
  attemptNumber: z.int().describe('Counted from 1.'),
  responseStatus: z.int().optional().describe('HTTP status; left out where no answer came.'),
  error: z.string().optional().describe('Why it failed; left out where it succeeded.'),
  durationMs: z.int().describe('How long it took, in milliseconds.'),
  createTime: z.date().describe('When it was made.'),
});

const delivery = resource('Delivery', 'A message owed to one destination.', {
  ...createdShape,
  destinationId: z.string().describe('The destination that it is owed to.'),
  eventId: z.string().optional().describe('The event that it carries, where it carries one.'),
  operationId: z.string().optional().describe('The read whose records it carries, if it does.'),
  status: words('DeliveryStatus', STATUSES).describe('What came of it.'),
  failureReason: z.string().optional().describe('Why it was given up; left out where it was not.'),
  attempts: z.array(attempt).describe('The tries so far, in order; of very many, the newest 100.'),
  nextAttemptTime: z
    .date()
    .optional()
    .describe('When it is sent next; left out when nothing is to come.'),
});

async function showDelivery(row: Row<'Delivery'>, { get }: Relations) {
  const attempts = await get(attemptsOf, row);
  return {
    ...row,
    eventId: row.eventId ?? undefined,
    operationId: row.operationId ?? undefined,
    status: wordOf('DeliveryStatus', row.status),
    failureReason: row.failureReason ?? undefined,
    attempts: attempts.map(({ responseStatus, error, ...tried }) => ({
      ...tried,
      responseStatus: responseStatus ?? undefined,
      error: error ?? undefined,
    })),
    nextAttemptTime: row.nextAttemptTime ?? undefined,
  };
}

export const deliveryEndpoints = [
  pagedEndpoint({
    id: 'listDestinationDeliveries',
    path: `${inProject}/destinations/{destination}/deliveries`,
    tag,
    summary: 'Lists what a destination was and is owed, oldest first.',
    input: z.object({
      projectIdOrName,
      destination: z.string().min(1).max(64).describe('Its name or its id.'),
      status: z
        .enum(STATUSES)
        .meta({ id: 'DeliveryStatus' })
        .optional()
        .describe('Only those of this status.'),
    }),
    item: delivery,
    list: within(getDestination, listDestinationDeliveries),
    show: showDelivery,
  }),
  pagedEndpoint({
    id: 'listEventDeliveries',
    path: `${inProject}/notification-events/{eventId}/deliveries`,
    tag,
    summary: 'Lists what destinations are owed of an event, oldest first.',
    input: z.object({ projectIdOrName, eventId: id.describe('The event.') }),
    item: delivery,
    list: within(getNotificationEvent, listEventDeliveries),
    show: showDelivery,
  }),
  readEndpoint({
    id: 'getDelivery',
    path: `${inProject}/deliveries/{deliveryId}`,
    tag,
    summary: 'Gives a delivery with its attempts.',
    input: retryDeliveryInput,
    read: getDelivery,
    output: delivery,
    show: showDelivery,
  }),
  mutationEndpoint({
    id: 'retryDelivery',
    method: 'POST',
    path: `${inProject}/deliveries/{deliveryId}:retry`,
    tag,
    summary: 'Sends a delivery again, whatever became of it.',
    mutation: retryDelivery,
    status: 200,
    output: delivery,
    show: showDelivery,
  }),
];
