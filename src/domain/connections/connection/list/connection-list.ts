/** Lists the connections of a project, a group and a consumer. */
import { z } from 'zod';
import { ConnectionStatus } from '../../../../database/generated/enums.ts';
import type { Row } from '../../../../database/statements/tables.ts';
import type { Call } from '../../../access/call.ts';
import { read } from '../../../access/declared-read.ts';
import { createdFilters, toCreateTimeRange } from '../../../access/paging/created-range.ts';
import { refuseCombinations } from '../../../access/paging/exclusive-filters.ts';
import type { FiltersOf, PageArgs } from '../../../access/paging/page.ts';
import { listPage } from '../../../access/paging/page-of-rows.ts';
import { listSearchPage, searchFilters } from '../../../access/paging/search.ts';
import { orEndUser } from '../../../access/viewer/needs.ts';
import { ref } from '../../../base/names.ts';
import { findConsumerByRef, findGroupByRef } from '../../../tenants/project/parties.ts';
import { connectionStatus } from '../connection.ts';

export const connectionFilters = z.object({
  provider: z
    .string()
    .max(128)
    .optional()
    .describe('Only connections to the provider with this name.'),
  groupRef: ref.optional().describe('Only connections of the group with this ref.'),
  consumerRef: ref.optional().describe('Only connections of the consumer with this ref.'),
  status: connectionStatus.optional().describe('Only connections with this status.'),
  ...createdFilters.shape,
  ...searchFilters.shape,
});
/** A search can't be combined with other filters, because its index has only words and determines the order. */
export const EXCLUSIVE_CONNECTION_FILTERS = Object.keys(connectionFilters.shape)
  .filter((name) => name !== 'search')
  .map((name) => ['search', name]);

export const listConnections = read(
  orEndUser('read'),
  'Lists connections, newest first.',
  async (
    call: Call,
    { id: projectId }: Row<'Project'>,
    input: PageArgs & FiltersOf<typeof connectionFilters>,
  ) => {
    refuseCombinations(input, EXCLUSIVE_CONNECTION_FILTERS);
    const list = { name: 'Project.connections', parentId: projectId, table: 'Connection' } as const;
    return listSearchPage(call, list, input, async () => {
      const { where, orderOptions } = await toConditions(call, projectId, input);
      return listPage(call, { ...list, ...orderOptions, where }, input);
    });
  },
);

async function toConditions(
  call: Call,
  projectId: string,
  { provider, groupRef, consumerRef, status, ...filters }: FiltersOf<typeof connectionFilters>,
) {
  const [group, consumer] = await Promise.all([
    groupRef == null ? undefined : findGroupByRef(call, { projectId, groupRef }),
    consumerRef == null ? undefined : findConsumerByRef(call, { projectId, consumerRef }),
  ]);
  const conditions = {
    provider: provider ?? undefined,
    groupId: toIdCondition(group),
    consumerId: toIdCondition(consumer),
  };
  // The indexes on a provider, group or consumer also contain the status. A condition with all statuses lets the
  // database use them.
  const usesIndex = Object.values(conditions).some((condition) => condition !== undefined);
  const anyStatus = usesIndex ? Object.values(ConnectionStatus) : undefined;
  const { timeCondition, orderOptions } = toCreateTimeRange('con', filters);
  return {
    where: { projectId, ...conditions, status: status ?? anyStatus, ...timeCondition },
    orderOptions,
  };
}

export const listGroupConnections = read(
  orEndUser('read'),
  'Connections of the group, newest first.',
  (call: Call, { id: groupId, projectId }: Row<'Group'>, args: PageArgs) => {
    const where = { projectId, groupId, status: Object.values(ConnectionStatus) };
    const list = { name: 'Group.connections', parentId: groupId, table: 'Connection' } as const;
    return listPage(call, { ...list, where }, args);
  },
);

export const listConsumerConnections = read(
  orEndUser('read'),
  'Connections of the consumer, newest first.',
  (call: Call, { id: consumerId, projectId }: Row<'Consumer'>, args: PageArgs) => {
    const where = { projectId, consumerId, status: Object.values(ConnectionStatus) };
    const list = {
      name: 'Consumer.connections',
      parentId: consumerId,
      table: 'Connection',
    } as const;
    return listPage(call, { ...list, where }, args);
  },
);

/** Converts a row to a condition on its id. Null, for a missing row, matches nothing. Undefined matches everything. */
function toIdCondition(row: { id: string } | null | undefined): string | never[] | undefined {
  return row === null ? [] : row?.id;
}
