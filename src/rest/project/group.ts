import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import { eraseGroup } from '../../domain/erasure/erase-subject.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { listGroups } from '../../domain/project/group.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import type { Row } from '../../domain/scope.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';

export const group = resource('Group', "A set of the builder's users who share access.", {
  ...createdShape,
  groupRef: z.string().describe("The builder's own id of the group, unique in the project."),
  groupName: z.string().describe('The name that people see. Default: the ref.'),
  ...updateTimeShape,
});

export function showGroup({ updateTime, ...row }: Row<'Group'>) {
  return { ...row, updateTime: updateTime ?? undefined };
}

export const groupEndpoints = [
  listEndpoint({
    id: 'listGroups',
    path: '/projects/{projectIdOrName}/groups',
    tag: 'Groups',
    summary: 'Lists groups, newest first. A group is created by its first connection.',
    input: z.object({ projectIdOrName, ...searchFilters.shape }),
    item: group,
    list: within(getOwnProject, listGroups),
    show: showGroup,
  }),
  mutationEndpoint({
    id: 'eraseGroup',
    method: 'DELETE',
    path: '/projects/{projectIdOrName}/groups/{groupRef}',
    tag: 'Groups',
    summary:
      'Erases a group with all that names it: connections, installations, operations, events and deliveries.',
    description:
      'Tokens are revoked at providers that take that. It disappears at once, and its rows are deleted soon after. The ref can be used again.',
    mutation: eraseGroup,
    status: 204,
    output: null,
    show: noBody,
  }),
];
