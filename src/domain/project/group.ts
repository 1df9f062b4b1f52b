/** Groups: sets of the builder's users who share access. Their first connection creates them, and they stay. */

import type { Row } from '../../database/rows.ts';
import type { Transaction } from '../../database/transaction.ts';
import { newId } from '../../ids.ts';
import { byName, load } from '../batched.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import type { FiltersOf, PageArgs } from '../paging/page.ts';
import { listPage } from '../paging/page-of-rows.ts';
import { pageOfSearch, type searchFilters } from '../paging/search.ts';
import { findInProject } from '../scope.ts';

type Group = Row<'Group'>;

export const listGroups = read(
  'read',
  (
    call: Call,
    { id: projectId }: Row<'Project'>,
    args: PageArgs & FiltersOf<typeof searchFilters>,
  ) => {
    const list = { name: 'Project.groups', parentId: projectId, table: 'Group' } as const;
    const ofAll = () => listPage(call, { ...list, where: { projectId } }, args);
    return pageOfSearch(call, list, args, ofAll);
  },
);

export function findGroupByRef(
  call: Call,
  { projectId, groupRef }: Pick<Group, 'projectId' | 'groupRef'>,
): Promise<Group | null> {
  return load(call, groupsByRef, { projectId, name: groupRef });
}

const groupsByRef = byName(
  (call, { projectId, name }) => findInProject(call, 'Group', { projectId, groupRef: name }),
  ({ groupRef }) => groupRef,
);

/**
 * The group with that ref, created at its first use. Its name is the ref by default; a name that is given later
 * replaces it. Its row stays locked until the commit.
 */
export async function putGroup(
  tx: Transaction,
  { projectId, groupRef, groupName }: Pick<Group, 'projectId' | 'groupRef'> & Named,
  now: Date,
): Promise<Group> {
  // With something to update, this is one INSERT ... ON CONFLICT: two first uses make one row.
  const group = await tx.group.upsert({
    where: { projectId_groupRef: { projectId, groupRef } },
    create: { id: newId('grp'), projectId, groupRef, groupName: groupName ?? groupRef },
    update: { groupRef },
  });
  if (groupName == null || groupName === group.groupName) return group;
  return tx.group.update({
    where: { projectId_id: { projectId, id: group.id } },
    data: { groupName, updateTime: now },
  });
}

interface Named {
  groupName?: string | null;
}
