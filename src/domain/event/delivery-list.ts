import { z } from 'zod';
import { DeliveryStatus } from '../../database/generated/enums.ts';
import type { Row } from '../../database/rows.ts';
import { id } from '../../ids.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import { createdFilters, createdRange } from '../paging/created-range.ts';
import { refuseTogether } from '../paging/exclusive-filters.ts';
import type { FiltersOf, PageArgs } from '../paging/page.ts';
import { listPage } from '../paging/page-of-rows.ts';
import { eventType } from './notification-event.ts';

export const deliveryFilters = z.object({
  status: z
    .enum(DeliveryStatus)
    .meta({ id: 'DeliveryStatus' })
    .optional()
    .describe('Only deliveries of this status.'),
  ...createdFilters.shape,
});

export const projectDeliveryFilters = z.object({
  destinationId: id
    .optional()
    .describe('Only deliveries to the destination with this id. Not together with eventType.'),
  eventType: eventType
    .optional()
    .describe('Only deliveries of events of this type. Not together with destinationId.'),
  ...deliveryFilters.shape,
});
/**
 * Filters that must not be combined, because no index covers both. A client can route an event type to a destination
 * through a topic of its own instead.
 */
export const DELIVERY_EXCLUSIVE = [['destinationId', 'eventType']] as const;

/** Lists deliveries of a project, newest first. */
export const listProjectDeliveries = read(
  'read',
  'Lists the deliveries of a project to all destinations, newest first.',
  async (
    call: Call,
    { id: projectId }: Row<'Project'>,
    args: PageArgs & FiltersOf<typeof projectDeliveryFilters>,
  ) => {
    refuseTogether(args, DELIVERY_EXCLUSIVE);
    const { destinationId, eventType, status } = args;
    const { inTime, ordered } = createdRange('dlv', args);
    // The index for event types contains the status. Without a filter, each status is a range of it.
    const anyStatus = eventType == null ? undefined : Object.values(DeliveryStatus);
    const where = {
      projectId,
      // Matches also a deleted destination, whose deliveries are kept.
      ...(destinationId != null && { destinationId }),
      eventType: eventType ?? undefined,
      status: status ?? anyStatus,
      ...inTime,
    };
    const list = { name: 'Project.deliveries', parentId: projectId, where, ...ordered } as const;
    return listPage(call, { ...list, table: 'Delivery' }, args);
  },
);

/** Lists deliveries of a destination, oldest first. */
export const listDestinationDeliveries = read(
  'read',
  'Lists the deliveries to a destination, oldest first.',
  (
    call: Call,
    { id: destinationId, projectId }: Row<'Destination'>,
    args: PageArgs & FiltersOf<typeof deliveryFilters>,
  ) => {
    const { inTime, ordered } = createdRange('dlv', args);
    const where = {
      projectId,
      destinationId,
      ...(args.status && { status: args.status }),
      ...inTime,
    };
    const list = { name: 'Destination.deliveries', parentId: destinationId, where } as const;
    const oldestFirst = { order: 'oldest first', ...ordered } as const;
    return listPage(call, { ...list, ...oldestFirst, table: 'Delivery' }, args);
  },
);

/** Lists deliveries of an event, oldest first. */
export const listEventDeliveries = read(
  'read',
  'Lists the deliveries that carry an event, oldest first.',
  (call: Call, event: Row<'NotificationEvent'>, args: PageArgs) => {
    const where = { projectId: event.projectId, eventId: event.id };
    const list = { name: 'NotificationEvent.deliveries', parentId: event.id, where } as const;
    return listPage(call, { ...list, table: 'Delivery', order: 'oldest first' }, args);
  },
);
