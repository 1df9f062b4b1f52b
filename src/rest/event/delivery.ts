import { z } from 'zod';
import { type Read, read, readWithin } from '../../domain/declared-read.ts';
import {
  type DeliveryAttempt,
  getDelivery,
  listAttempts,
  retryDelivery,
} from '../../domain/event/delivery.ts';
import {
  deliveryFilters,
  listDestinationDeliveries,
  listEventDeliveries,
  listProjectDeliveries,
  projectDeliveryFilters,
} from '../../domain/event/delivery-list.ts';
import { deliveryStatus } from '../../domain/event/delivery-status.ts';
import { getDestination } from '../../domain/event/destination.ts';
import { getNotificationEvent } from '../../domain/event/notification-event.ts';
import { deliveryBody, measureBodies, readResponseBody } from '../../domain/event/payload.ts';
import { retryDeliveries } from '../../domain/event/retry-deliveries.ts';
import { sendTestMessage } from '../../domain/event/test-message.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import type { Relations } from '../../domain/relations.ts';
import type { Row } from '../../domain/scope.ts';
import { storedJson } from '../../domain/storable-json.ts';
import { id } from '../../ids.ts';
import { endpoint, type RestRequest } from '../endpoint/endpoint.ts';
import { pagedEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import { createdWithin, withCreatedParameters } from '../endpoint/time-parameters.ts';
import { wireForm } from '../endpoint/wire-form.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { createdShape, resource } from '../openapi/schemas.ts';

const tag = 'Deliveries';
const inProject = '/projects/{projectIdOrName}';
/** The statuses of the reference API's vocabulary: `pending` includes deliveries that are being retried. */
const STATUSES = ['PENDING', 'SUCCEEDED', 'FAILED'] as const;

const attempt = resource(
  'DeliveryAttempt',
  'One attempt to send a delivery: an HTTP request to its destination.',
  {
    attemptNumber: z.int().describe('The number of the attempt, from 1.'),
    responseStatus: z
      .int()
      .optional()
      .describe('The HTTP status of the response; absent if there was none.'),
    responseBody: z
      .string()
      .optional()
      .describe(
        'The beginning of the response, 4 KiB at most, or a note that it is not text; only if includePayload is true.',
      ),
    error: z.string().optional().describe('Why the attempt failed; absent if it succeeded.'),
    durationMs: z.int().describe('How long the attempt took, in milliseconds.'),
    createTime: z.date().describe('When the attempt began.'),
  },
);

const delivery = resource(
  'Delivery',
  'The delivery: a message to one destination, that is a notification event, a page of records, changed fields of an object, or a test.',
  {
    ...createdShape,
    destinationId: z.string().describe('The id of the destination that it is sent to.'),
    eventId: z
      .string()
      .optional()
      .describe('The id of the event that it carries; absent for other messages.'),
    operationId: z
      .string()
      .optional()
      .describe('The id of the read whose records it carries; absent for other messages.'),
    status: words('DeliveryStatus', STATUSES).describe(
      'Whether it is pending, has succeeded, or has failed permanently.',
    ),
    retrying: z.boolean().describe('True if it is pending after an attempt: it is being retried.'),
    failureReason: z
      .string()
      .optional()
      .describe('Why it failed permanently; absent if it did not.'),
    attempts: z
      .array(attempt)
      .describe('The attempts so far, oldest first; if there are more than 100, the newest 100.'),
    bodyBytes: z.int().describe('The length of the body, in bytes.'),
    body: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('The body of the message, as it is posted; only if includePayload is true.'),
    nextAttemptTime: z
      .date()
      .optional()
      .describe('When the next attempt is due; absent if none follows.'),
  },
);

async function showDelivery(sent: Row<'Delivery'>, { get }: Relations) {
  const { isRetrying: retrying, ...row } = sent;
  const [attempts, bodyBytes] = await Promise.all([
    get(listAttempts, sent),
    get(measureBodies, sent),
  ]);
  return {
    ...row,
    bodyBytes,
    eventId: row.eventId ?? undefined,
    operationId: row.operationId ?? undefined,
    status: wordOf('DeliveryStatus', row.status),
    retrying,
    failureReason: row.failureReason ?? undefined,
    attempts: attempts.map(({ responseStatus, responseBody: _payload, error, ...tried }) => ({
      ...tried,
      responseStatus: responseStatus ?? undefined,
      error: error ?? undefined,
    })),
    nextAttemptTime: row.nextAttemptTime ?? undefined,
  };
}

/** REST's `pending` includes deliveries that are being retried. */
function expand(status: Status | null | undefined): readonly Status[] | undefined {
  if (status == null) return undefined;
  return status === 'PENDING' ? ['PENDING', 'RETRYING'] : [status];
}

type Status = z.output<typeof deliveryStatus>;

/** Adapts a list so that its filter `status` has REST's meaning. */
function withRetrying<I extends object, R>(
  list: Read<[input: I], R>,
): Read<[input: I & { status?: Status | undefined }], R> {
  return read(list.needs, list.description, (call, { status, ...input }) =>
    list(call, { ...input, status: expand(status) } as unknown as I),
  );
}

const wanted = z.object({
  projectIdOrName,
  deliveryId: id.describe('The id of the delivery.'),
  includePayload: z
    .boolean()
    .default(false)
    .describe(
      'If true, the response has `body`, and `responseBody` of each attempt. Default: false.',
    ),
});

export const deliveryEndpoints = [
  pagedEndpoint({
    id: 'listProjectDeliveries',
    path: `${inProject}/deliveries`,
    tag,
    input: z.object({ projectIdOrName, ...withCreatedParameters(projectDeliveryFilters.shape) }),
    item: delivery,
    list: withRetrying(createdWithin(readWithin(getOwnProject, listProjectDeliveries))),
    show: showDelivery,
  }),
  pagedEndpoint({
    id: 'listDestinationDeliveries',
    path: `${inProject}/destinations/{destination}/deliveries`,
    tag,
    input: z.object({
      projectIdOrName,
      destination: z.string().min(1).max(64).describe('The id or the name of the destination.'),
      ...withCreatedParameters(deliveryFilters.shape),
    }),
    item: delivery,
    list: withRetrying(createdWithin(readWithin(getDestination, listDestinationDeliveries))),
    show: showDelivery,
  }),
  pagedEndpoint({
    id: 'listEventDeliveries',
    path: `${inProject}/notification-events/{eventId}/deliveries`,
    tag,
    input: z.object({ projectIdOrName, eventId: id.describe('The id of the event.') }),
    item: delivery,
    list: readWithin(getNotificationEvent, listEventDeliveries),
    show: showDelivery,
  }),
  endpoint({
    id: 'getDelivery',
    method: 'GET',
    path: `${inProject}/deliveries/{deliveryId}`,
    tag,
    summary: getDelivery.description,
    needs: getDelivery.needs,
    memberNeeds: { includePayload: deliveryBody.needs },
    input: wanted,
    status: 200,
    output: delivery,
    run: readDelivery,
  }),
  mutationEndpoint({
    id: 'sendTestMessage',
    method: 'POST',
    path: `${inProject}/destinations/{destination}:test`,
    tag,
    mutation: sendTestMessage,
    places: { destinationId: { in: 'path', name: 'destination' } },
    status: 201,
    output: delivery,
    show: showDelivery,
  }),
  mutationEndpoint({
    id: 'retryDelivery',
    method: 'POST',
    path: `${inProject}/deliveries/{deliveryId}:retry`,
    tag,
    mutation: retryDelivery,
    status: 200,
    output: delivery,
    show: showDelivery,
  }),
  mutationEndpoint({
    id: 'retryDeliveries',
    method: 'POST',
    path: `${inProject}/deliveries:retry`,
    tag,
    mutation: retryDeliveries,
    places: {
      statuses: {
        in: 'body',
        name: 'status',
        form: wireForm({
          schema: deliveryStatus
            .default('FAILED')
            .describe(
              'Only deliveries of this status. `pending` includes those that are being retried. Default: failed.',
            ),
          toDomain: expand,
          placeIn: () => '',
        }),
      },
    },
    status: 200,
    output: z
      .object({
        count: z.int().describe('How many deliveries are retried.'),
        hasMore: z.boolean().describe('True if more deliveries match: repeat the call.'),
      })
      .describe('How many deliveries are retried, and whether more match.'),
    show: (retried) => retried,
  }),
];

async function readDelivery(
  request: RestRequest,
  { includePayload, ...key }: z.output<typeof wanted>,
) {
  const { call } = request;
  const row = await getDelivery(call, key);
  const shown = await showDelivery(row, request);
  if (!includePayload) return shown;
  const [body, attempts] = await Promise.all([
    deliveryBody(call, row),
    request.get(listAttempts, row),
  ]);
  return {
    ...shown,
    body: storedJson<Record<string, unknown> | null>(body) ?? undefined,
    attempts: shown.attempts.map((attempt, index) => ({
      ...attempt,
      responseBody: readResponseBody(call, attempts[index] as DeliveryAttempt) ?? undefined,
    })),
  };
}
