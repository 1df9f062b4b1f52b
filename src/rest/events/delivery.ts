import { z } from 'zod';
import { load } from '../../domain/access/batched.ts';
import type { Call } from '../../domain/access/call.ts';
import { type Read, read, readWithin } from '../../domain/access/declared-read.ts';
import type { Row } from '../../domain/access/scope.ts';
import { projectIdOrName } from '../../domain/base/names.ts';
import { computed, createdInProject, idField, jsonObject } from '../../domain/base/resource.ts';
import {
  deliveryAttemptResource,
  deliveryResource,
  deliveryStatus,
  getDelivery,
  listAttempts,
  retryDelivery,
} from '../../domain/events/delivery.ts';
import {
  deliveryFilters,
  listDestinationDeliveries,
  listEventDeliveries,
  listProjectDeliveries,
  projectDeliveryFilters,
} from '../../domain/events/delivery-list.ts';
import { getDestination } from '../../domain/events/destination.ts';
import { getNotificationEvent } from '../../domain/events/notification-event.ts';
import { readDeliveryBody, readResponseBody } from '../../domain/events/payload.ts';
import {
  retriedDeliveriesResource,
  retryDeliveries,
} from '../../domain/events/retry-deliveries.ts';
import { sendTestMessage } from '../../domain/events/test-message.ts';
import { getRequestedProject } from '../../domain/tenants/project/project.ts';
import { id } from '../../kernel/ids.ts';
import { endpoint, type RestRequest } from '../endpoint/endpoint.ts';
import {
  joinCreateTime,
  mutationEndpoint,
  pagedEndpoint,
  splitCreateTime,
} from '../endpoint/resource-endpoints.ts';
import { extendResource } from '../openapi/response-form.ts';

const tag = 'Deliveries';
const projectPath = '/projects/{projectIdOrName}';

/** A delivery, and whether its response includes the payloads. */
type Delivery = Row<'Delivery'> & { includePayload?: boolean };

const attempt = extendResource(deliveryAttemptResource, {
  responseBody: z
    .string()
    .nullable()
    .describe(
      'The beginning of the response, 4 KiB at most, or a note that it is not text; only if includePayload is true.',
    ),
});

const delivery = extendResource(deliveryResource, {
  projectId: createdInProject.projectId,
  eventId: idField
    .nullable()
    .describe('The id of the event that it carries. Absent for other messages.'),
  operationId: idField
    .nullable()
    .describe('The id of the read whose records it carries. Absent for other messages.'),
  status: deliveryStatus
    .extract(['PENDING', 'SUCCEEDED', 'FAILED'])
    .describe('Whether it is pending, has succeeded, or has failed permanently.'),
  retrying: computed(
    z.boolean().describe('True if it is pending after an attempt: it is being retried.'),
    ({ isRetrying }: Delivery) => isRetrying,
  ),
  attempts: computed(
    z.array(attempt).describe(deliveryResource.shape.attempts.description ?? ''),
    async (row: Delivery, call: Call) =>
      (await load(call, listAttempts, row)).map((attemptRow) => ({
        ...attemptRow,
        responseBody: row.includePayload ? readResponseBody(call, attemptRow) : null,
      })),
  ),
  body: computed(
    jsonObject
      .nullable()
      .describe('The body of the message, as it is posted; only if includePayload is true.'),
    (row: Delivery, call: Call) => (row.includePayload ? readDeliveryBody(call, row) : null),
  ),
});

type Status = z.output<typeof deliveryStatus>;

/** REST's `pending` includes deliveries that are being retried. */
function expandPending(status: Status | null | undefined): readonly Status[] | undefined {
  if (status == null) return undefined;
  return status === 'PENDING' ? ['PENDING', 'RETRYING'] : [status];
}

/** Adapts a list so that its filter `status` has REST's meaning. */
function expandStatus<I extends object, R>(
  list: Read<[input: I], R>,
): Read<[input: I & { status?: Status | undefined }], R> {
  return read(list.needs, list.description, (call, { status, ...input }) =>
    list(call, { ...input, status: expandPending(status) } as unknown as I),
  );
}

const getDeliveryInput = z.object({
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
    path: `${projectPath}/deliveries`,
    tag,
    input: z.object({ projectIdOrName, ...splitCreateTime(projectDeliveryFilters.shape) }),
    list: expandStatus(joinCreateTime(readWithin(getRequestedProject, listProjectDeliveries))),
    resource: delivery,
  }),
  pagedEndpoint({
    id: 'listDestinationDeliveries',
    path: `${projectPath}/destinations/{destination}/deliveries`,
    tag,
    input: z.object({
      projectIdOrName,
      destination: z.string().min(1).max(64).describe('The id or the name of the destination.'),
      ...splitCreateTime(deliveryFilters.shape),
    }),
    list: expandStatus(joinCreateTime(readWithin(getDestination, listDestinationDeliveries))),
    resource: delivery,
  }),
  pagedEndpoint({
    id: 'listEventDeliveries',
    path: `${projectPath}/notification-events/{eventId}/deliveries`,
    tag,
    input: z.object({ projectIdOrName, eventId: id.describe('The id of the event.') }),
    list: readWithin(getNotificationEvent, listEventDeliveries),
    resource: delivery,
  }),
  endpoint({
    id: 'getDelivery',
    method: 'GET',
    path: `${projectPath}/deliveries/{deliveryId}`,
    tag,
    summary: getDelivery.description,
    needs: getDelivery.needs,
    memberNeeds: { includePayload: readDeliveryBody.needs },
    input: getDeliveryInput,
    status: 200,
    resource: delivery,
    run: readDelivery,
  }),
  mutationEndpoint({
    id: 'sendTestMessage',
    method: 'POST',
    path: `${projectPath}/destinations/{destination}:test`,
    tag,
    mutation: sendTestMessage,
    locations: { destinationId: { in: 'path', name: 'destination' } },
    status: 201,
    resource: delivery,
  }),
  mutationEndpoint({
    id: 'retryDelivery',
    method: 'POST',
    path: `${projectPath}/deliveries/{deliveryId}:retry`,
    tag,
    mutation: retryDelivery,
    status: 200,
    resource: delivery,
  }),
  mutationEndpoint({
    id: 'retryDeliveries',
    method: 'POST',
    path: `${projectPath}/deliveries:retry`,
    tag,
    mutation: retryDeliveries,
    locations: {
      statuses: {
        in: 'body',
        name: 'status',
        form: {
          schema: deliveryStatus
            .default('FAILED')
            .describe(
              'Only deliveries of this status. `pending` includes deliveries that are being retried. Default: failed.',
            ),
          decode: expandPending,
          locate: () => [],
        },
      },
    },
    status: 200,
    resource: retriedDeliveriesResource,
  }),
];

async function readDelivery(
  { call }: RestRequest,
  { includePayload, ...key }: z.output<typeof getDeliveryInput>,
): Promise<Delivery> {
  return { ...(await getDelivery(call, key)), includePayload };
}
