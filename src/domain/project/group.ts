/**
 * Groups: sets of the builder's users who share access. The first use of a ref creates its group, which exists until it
 * is erased.
 */
import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import { byName, load } from '../batched.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import type { FiltersOf, PageArgs } from '../paging/page.ts';
import { listPage } from '../paging/page-of-rows.ts';
import { listSearchPage, type searchFilters } from '../paging/search.ts';
import { createdInProject, resource, updateTime } from '../resource.ts';
import { findProjectRows } from '../scope.ts';

type Group = Row<'Group'>;

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
