import { z } from 'zod';
import { readWithin } from '../../../domain/access/declared-read.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import { getRequestedOrg } from '../../../domain/tenants/org/org.ts';
import {
  createProject,
  entitlementsResource,
  getRequestedProject,
  listOrgProjects,
  listProjects,
  projectResource,
  updateProject,
} from '../../../domain/tenants/project/project.ts';
import { deleteProject } from '../../../domain/upkeep/delete-project.ts';
import {
  deleteEndpoint,
  listEndpoint,
  mutationEndpoint,
  readEndpoint,
} from '../../endpoint/resource-endpoints.ts';
import { extendResource } from '../../openapi/response-form.ts';
import { orgId } from '../org/org.ts';

const tag = 'Projects';

export const project = extendResource(projectResource, {
  entitlements: entitlementsResource
    .nullable()
    .describe("The features of the project's billing plan, if includeEntitlements is true."),
});

export const projectEndpoints = [
  listEndpoint({
    id: 'listProjects',
    path: '/projects',
    tag,
    input: z.object({}),
    list: listProjects,
    resource: project,
  }),
  listEndpoint({
    id: 'listOrgProjects',
    path: '/orgs/{orgId}/projects',
    tag,
    input: z.object({ orgId }),
    list: readWithin(getRequestedOrg, listOrgProjects),
    resource: project,
  }),
  mutationEndpoint({
    id: 'createProject',
    method: 'POST',
    path: '/projects',
    tag,
    mutation: createProject,
    status: 201,
    resource: project,
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
        .describe('Whether the response has `entitlements`. Default: false.'),
    }),
    read: getRequestedProject,
    resource: project,
    show: (row, _request, { includeEntitlements }) =>
      includeEntitlements ? { ...row, entitlements: row } : row,
  }),
  mutationEndpoint({
    id: 'updateProject',
    method: 'PATCH',
    path: '/projects/{projectIdOrName}',
    tag,
    mutation: updateProject,
    mask: 'project',
    status: 200,
    resource: project,
  }),
  deleteEndpoint({
    id: 'deleteProject',
    path: '/projects/{projectIdOrName}',
    tag,
    mutation: deleteProject,
  }),
];
