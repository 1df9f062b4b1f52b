/**
 * Groups and consumers: the parties of a connection. A group is a set of the builder's users who share access, and a
 * consumer is one of the builder's users. The first use of a ref creates its group or consumer, which exists until it is
 * erased.
 */
import { z } from 'zod';
import { CREATE_PARTIES, type PartiesToCreate } from '../../database/hot/generate-connections.ts';
import type { Row } from '../../database/rows.ts';
import { isMissingRow } from '../../database/violations.ts';
import { notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { byName, load } from '../batched.ts';
import type { Call, Services } from '../call.ts';
import { projectMutation } from '../declared-mutation.ts';
import { read } from '../declared-read.ts';
import { boundedName, projectIdOrName, ref } from '../names.ts';
import type { FiltersOf, PageArgs } from '../paging/page.ts';
import { listPage } from '../paging/page-of-rows.ts';
import { listSearchPage, type searchFilters } from '../paging/search.ts';
import { createdInProject, resource, updateTime } from '../resource.ts';
import { findProjectRows } from '../scope.ts';

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
  (call, { projectId, name }) => findProjectRows(call, 'Group', { projectId, groupRef: name }),
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
    findProjectRows(call, 'Consumer', { projectId, consumerRef: name }),
  ({ consumerRef }) => consumerRef,
);

interface PartiesInput {
  projectId: string;
  groupRef: string;
  /** The new display name. If absent, a stored group keeps its name, and a new group gets the ref as its name. */
  groupName?: string | null | undefined;
  consumerRef: string;
  consumerName?: string | null | undefined;
}

/**
 * Returns the group and the consumer, and creates or renames them if necessary. Usually both exist with these names, and
 * nothing is written.
 */
export async function upsertParties(
  { database, now }: Pick<Services, 'database' | 'now'>,
  { projectId, groupRef, consumerRef, groupName = null, consumerName = null }: PartiesInput,
): Promise<Pick<Row<'Connection'>, 'groupId' | 'consumerId'>> {
  const [[group], [consumer]] = await Promise.all([
    database.rows.find('Group', { projectId, groupRef }),
    database.rows.find('Consumer', { projectId, consumerRef }),
  ]);
  const isCurrent = (name: string | null, storedName: string) =>
    name === null || name === storedName;
  if (
    group &&
    consumer &&
    isCurrent(groupName, group.groupName) &&
    isCurrent(consumerName, consumer.consumerName)
  ) {
    return { groupId: group.id, consumerId: consumer.id };
  }
  const parties: PartiesToCreate = {
    projectId,
    groupId: newId('grp'),
    groupRef,
    groupName,
    consumerId: newId('csm'),
    consumerRef,
    consumerName,
    now: now(),
  };
  const storedParties = await database.changes.run(CREATE_PARTIES, parties);
  if (!storedParties) throw new Error('Bug: the statement that creates parties returned no row.');
  return storedParties;
}
