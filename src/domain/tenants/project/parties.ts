/**
 * Groups and consumers: the parties of a connection. A group is a set of the builder's users who share access, and a
 * consumer is one of the builder's users. The first use of a ref creates its group or consumer, which exists until it is
 * erased.
 */
import { z } from 'zod';
import { isMissingRow } from '../../../database/connect/violations.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { notFound } from '../../../kernel/errors.ts';
import { byName, load } from '../../access/batched.ts';
import type { Call } from '../../access/call.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { read } from '../../access/declared-read.ts';
import type { FiltersOf, PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import { listSearchPage, type searchFilters } from '../../access/paging/search.ts';
import { listVisibleRows } from '../../access/scope.ts';
import { boundedName, projectIdOrName, ref } from '../../base/names.ts';
import { createdInProject, resource, updateTime } from '../../base/resource.ts';

type Group = Row<'Group'>;
type Consumer = Row<'Consumer'>;

export const groupResource = resource(
  'Group',
  "A set of the builder's users who share connections: a customer or a team.",
  {
    ...createdInProject,
    groupRef: z.string().describe("The builder's own id for the group, unique in the project."),
    groupName: z.string().describe('The display name. Default: the ref.'),
    updateTime,
  },
);

export const listGroups = read(
  'read',
  'Lists groups, newest first. The first connection of a group creates it.',
  (
    call: Call,
    { id: projectId }: Row<'Project'>,
    args: PageArgs & FiltersOf<typeof searchFilters>,
  ) => {
    const list = { name: 'Project.groups', parentId: projectId, table: 'Group' } as const;
    const listAll = () => listPage(call, { ...list, where: { projectId } }, args);
    return listSearchPage(call, list, args, listAll);
  },
);

export function findGroupByRef(
  call: Call,
  { projectId, groupRef }: Pick<Group, 'projectId' | 'groupRef'>,
): Promise<Group | null> {
  return load(call, groupsByRef, { projectId, name: groupRef });
}

const groupsByRef = byName(
  (call, { projectId, name }) => listVisibleRows(call, 'Group', { projectId, groupRef: name }),
  ({ groupRef }) => groupRef,
);

const updateGroupInput = z
  .object({
    projectIdOrName,
    groupRef: ref.describe('The ref of the group.'),
    groupName: boundedName.describe('The new display name.'),
  })
  .meta({ id: 'UpdateGroupInput', description: 'The new name of a group.' });

export const updateGroup = projectMutation({
  description: 'Renames a group. Its ref does not change.',
  needs: 'connections:write',
  input: updateGroupInput,
  async run(call, { groupRef, groupName }, { id: projectId }): Promise<Group> {
    const where = { projectId_groupRef: { projectId, groupRef } };
    const data = { groupName, updateTime: call.now() };
    return requireParty('Group', groupRef, call.database.prisma.group.update({ where, data }));
  },
});

const updateConsumerInput = z
  .object({
    projectIdOrName,
    consumerRef: ref.describe('The ref of the consumer.'),
    consumerName: boundedName.describe('The new display name.'),
  })
  .meta({ id: 'UpdateConsumerInput', description: 'The new name of a consumer.' });

export const updateConsumer = projectMutation({
  description: 'Renames a consumer. Its ref does not change.',
  needs: 'connections:write',
  input: updateConsumerInput,
  async run(call, { consumerRef, consumerName }, { id: projectId }): Promise<Consumer> {
    const where = { projectId_consumerRef: { projectId, consumerRef } };
    const data = { consumerName, updateTime: call.now() };
    const { consumer } = call.database.prisma;
    return requireParty('Consumer', consumerRef, consumer.update({ where, data }));
  },
});

/** Throws NOT_FOUND if there is no such party. The ref of a party that is being erased names no row. */
async function requireParty<T>(noun: string, partyRef: string, update: Promise<T>): Promise<T> {
  try {
    return await update;
  } catch (error) {
    if (isMissingRow(error)) throw notFound(noun, partyRef);
    throw error;
  }
}

export const consumerResource = resource(
  'Consumer',
  "One of the builder's users, who has connected an account.",
  {
    ...createdInProject,
    consumerRef: z
      .string()
      .describe("The builder's own id for the consumer, unique in the project."),
    consumerName: z.string().describe('The display name. Default: the ref.'),
    updateTime,
  },
);

export const listConsumers = read(
  'read',
  'Lists consumers, newest first. The first connection of a consumer creates it.',
  (
    call: Call,
    { id: projectId }: Row<'Project'>,
    args: PageArgs & FiltersOf<typeof searchFilters>,
  ) => {
    const list = { name: 'Project.consumers', parentId: projectId, table: 'Consumer' } as const;
    const listAll = () => listPage(call, { ...list, where: { projectId } }, args);
    return listSearchPage(call, list, args, listAll);
  },
);

export function findConsumerByRef(
  call: Call,
  { projectId, consumerRef }: Pick<Consumer, 'projectId' | 'consumerRef'>,
): Promise<Consumer | null> {
  return load(call, consumersByRef, { projectId, name: consumerRef });
}

const consumersByRef = byName(
  (call, { projectId, name }) =>
    listVisibleRows(call, 'Consumer', { projectId, consumerRef: name }),
  ({ consumerRef }) => consumerRef,
);
