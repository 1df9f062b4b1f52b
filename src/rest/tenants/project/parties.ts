import { z } from 'zod';
import { readWithin } from '../../../domain/access/declared-read.ts';
import { searchFilters } from '../../../domain/access/paging/search.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import {
  consumerResource,
  groupResource,
  listConsumers,
  listGroups,
  updateConsumer,
  updateGroup,
} from '../../../domain/tenants/project/parties.ts';
import { getRequestedProject } from '../../../domain/tenants/project/project.ts';
import { eraseConsumer, eraseGroup } from '../../../domain/upkeep/erase-subject.ts';
import {
  deleteEndpoint,
  listEndpoint,
  mutationEndpoint,
} from '../../endpoint/resource-endpoints.ts';

export const groupEndpoints = [
  listEndpoint({
    id: 'listGroups',
    path: '/projects/{projectIdOrName}/groups',
    tag: 'Groups',
    input: z.object({ projectIdOrName, ...searchFilters.shape }),
    list: readWithin(getRequestedProject, listGroups),
    resource: groupResource,
  }),
  mutationEndpoint({
    id: 'updateGroup',
    method: 'PATCH',
    path: '/projects/{projectIdOrName}/groups/{groupRef}',
    tag: 'Groups',
    mutation: updateGroup,
    status: 200,
    resource: groupResource,
  }),
  deleteEndpoint({
    id: 'eraseGroup',
    path: '/projects/{projectIdOrName}/groups/{groupRef}',
    tag: 'Groups',
    mutation: eraseGroup,
  }),
];

export const consumerEndpoints = [
  listEndpoint({
    id: 'listConsumers',
    path: '/projects/{projectIdOrName}/consumers',
    tag: 'Consumers',
    input: z.object({ projectIdOrName, ...searchFilters.shape }),
    list: readWithin(getRequestedProject, listConsumers),
    resource: consumerResource,
  }),
  mutationEndpoint({
    id: 'updateConsumer',
    method: 'PATCH',
    path: '/projects/{projectIdOrName}/consumers/{consumerRef}',
    tag: 'Consumers',
    mutation: updateConsumer,
    status: 200,
    resource: consumerResource,
  }),
  deleteEndpoint({
    id: 'eraseConsumer',
    path: '/projects/{projectIdOrName}/consumers/{consumerRef}',
    tag: 'Consumers',
    mutation: eraseConsumer,
  }),
];
