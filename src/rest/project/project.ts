import { z } from 'zod';
import { readWithin } from '../../domain/declared-read.ts';
import { deleteProject } from '../../domain/erasure/delete-project.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOwnOrg } from '../../domain/org/org.ts';
import {
  createProject,
  getOwnProject,
  listOrgProjects,
  listProjects,
  projectResource,
  updateProject,
} from '../../domain/project/project.ts';
import type { Row } from '../../domain/scope.ts';
import type { RestRequest } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { deleteEndpoint, mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { responseOf, showResource } from '../openapi/shown-resource.ts';
import { orgId } from '../org/org.ts';

const tag = 'Projects';

export const project = responseOf(projectResource, ({ entitlements, ...members }) => ({
  ...members,
  entitlements: (entitlements as z.ZodType)
    .optional()
    .describe('The features that the plan of the org has, if includeEntitlements is true.'),
}));

export function showProject(row: Row<'Project'>, request: RestRequest) {
  const { entitlements: _entitlements, ...members } = showResource(projectResource, row, request);
  return members;
}

export const projectEndpoints = [
  listEndpoint({
    id: 'listProjects',
    path: '/projects',
    tag,
    input: z.object({}),
    item: project,
    list: listProjects,
    show: showProject,
  }),
  listEndpoint({
    id: 'listOrgProjects',
    path: '/orgs/{orgId}/projects',
    tag,
    input: z.object({ orgId }),
    item: project,
    list: readWithin(getOwnOrg, listOrgProjects),
    show: showProject,
  }),
  mutationEndpoint({
    id: 'createProject',
    method: 'POST',
    path: '/projects',
    tag,
    mutation: createProject,
    status: 201,
    output: project,
    show: showProject,
  }),
  readEndpoint({
    id: 'getProject',
    path: '/projects/{projectIdOrName}',
    tag,
    input: z.object({
      projectIdOrName,
      includeEntitlements: z
        .boolean()
        .default(false)
        .describe('Whether the answer has `entitlements`. Default: false.'),
    }),
    read: getOwnProject,
    output: project,
    show: (row, request, { includeEntitlements }) =>
      includeEntitlements ? showResource(projectResource, row, request) : showProject(row, request),
  }),
  mutationEndpoint({
    id: 'updateProject',
    method: 'PATCH',
    path: '/projects/{projectIdOrName}',
    tag,
    mutation: updateProject,
    mask: 'project',
    status: 200,
    output: project,
    show: showProject,
  }),
  deleteEndpoint({
    id: 'deleteProject',
    path: '/projects/{projectIdOrName}',
    tag,
    mutation: deleteProject,
  }),
];
