/** Lists the deliveries of a project, a destination and an event. */
import { z } from 'zod';
import type { Row } from '../../database/statements/tables.ts';
import { id } from '../../kernel/ids.ts';
import type { Call } from '../access/call.ts';
import { read } from '../access/declared-read.ts';
import { createdFilters, toCreateTimeRange } from '../access/paging/created-range.ts';
import { refuseCombinations } from '../access/paging/exclusive-filters.ts';
import type { FiltersOf, PageArgs } from '../access/paging/page.ts';
import { listPage } from '../access/paging/page-of-rows.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  deliveryStatus,
  toStoredStatus,
} from './delivery.ts';
import { eventType } from './notification-event.ts';

export const deliveryFilters = z.object({
  status: deliveryStatus.optional().describe('Only deliveries with this status.'),
  ...createdFilters.shape,
});

export const projectDeliveryFilters = z.object({
  destinationId: id
    .optional()
    .describe(
      'Only deliveries to the destination with this id. Cannot be combined with eventType.',
    ),
  eventType: eventType
    .optional()
    .describe('Only deliveries of events of this type. Cannot be combined with destinationId.'),
  ...deliveryFilters.shape,
});

/**
 * Filters that must not be combined, because no index covers both. Instead, a client can route an event type through a
 * separate topic to a separate destination.
 */
export const EXCLUSIVE_DELIVERY_FILTERS = [['destinationId', 'eventType']] as const;

/** Several statuses must form a combination that `toStoredStatus` accepts. */
type DeliveryArgs<S extends z.ZodObject> = PageArgs &
  Omit<FiltersOf<S>, 'status'> & { status?: DeliveryStatus | readonly DeliveryStatus[] | null };

export const listProjectDeliveries = read(
  'read',
  'Lists the deliveries of a project to all destinations, newest first.',
  async (
    call: Call,
    { id: projectId }: Row<'Project'>,
    args: DeliveryArgs<typeof projectDeliveryFilters>,
  ) => {
    refuseCombinations(args, EXCLUSIVE_DELIVERY_FILTERS);
    const { destinationId, eventType, status } = args;
    const { timeCondition, orderOptions } = toCreateTimeRange('dlv', args);
    // The index for event types starts with the status, so a list without a filter names every status.
    const anyStatus = eventType == null ? undefined : DELIVERY_STATUSES;
    const statuses = status == null ? anyStatus : [status].flat();
    const where = {
      projectId,
      // The destination may have been deleted: its deliveries are kept.
      ...(destinationId != null && { destinationId }),
      eventType: eventType ?? undefined,
      ...(statuses && toStoredStatus(statuses)),
      ...timeCondition,
    };
    const list = {
      name: 'Project.deliveries',
      parentId: projectId,
      where,
      ...orderOptions,
    } as const;
    return listPage(call, { ...list, table: 'Delivery' }, args);
  },
);

export const listDestinationDeliveries = read(
  'read',
  'Lists the deliveries to a destination, oldest first.',
  (
    call: Call,
    { id: destinationId, projectId }: Row<'Destination'>,
    args: DeliveryArgs<typeof deliveryFilters>,
  ) => {
    const { timeCondition, orderOptions } = toCreateTimeRange('dlv', args);
    const where = {
      projectId,
      destinationId,
      ...(args.status && toStoredStatus([args.status].flat())),
      ...timeCondition,
    };
    const list = { name: 'Destination.deliveries', parentId: destinationId, where } as const;
    const oldestFirst = { order: 'oldest first', ...orderOptions } as const;
    return listPage(call, { ...list, ...oldestFirst, table: 'Delivery' }, args);
  },
);

export const listEventDeliveries = read(
  'read',
  'Lists the deliveries of an event, oldest first.',
  (call: Call, event: Row<'NotificationEvent'>, args: PageArgs) => {
    const where = { projectId: event.projectId, eventId: event.id };
    const list = { name: 'NotificationEvent.deliveries', parentId: event.id, where } as const;
    return listPage(call, { ...list, table: 'Delivery', order: 'oldest first' }, args);
  },
);
