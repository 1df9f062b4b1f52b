import { z } from 'zod';
import { readWithin } from '../../domain/declared-read.ts';
import { eraseGroup } from '../../domain/erasure/erase-subject.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { groupResource, listGroups } from '../../domain/project/group.ts';
import { getRequestedProject } from '../../domain/project/project.ts';
import { deleteEndpoint, listEndpoint } from '../endpoint/resource-endpoints.ts';

export const groupEndpoints = [
  listEndpoint({
    id: 'listGroups',
    path: '/projects/{projectIdOrName}/groups',
    tag: 'Groups',
    input: z.object({ projectIdOrName, ...searchFilters.shape }),
    list: readWithin(getRequestedProject, listGroups),
    resource: groupResource,
  }),
  deleteEndpoint({
    id: 'eraseGroup',
    path: '/projects/{projectIdOrName}/groups/{groupRef}',
    tag: 'Groups',
    mutation: eraseGroup,
  }),
];
