import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import { deleteProject } from '../../domain/erasure/delete-project.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOwnOrg } from '../../domain/org/org.ts';
import {
  createProject,
  getOwnProject,
  listOrgProjects,
  listProjects,
  updateProject,
} from '../../domain/project/project.ts';
import type { Row } from '../../domain/scope.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';
import { orgId } from '../org/org.ts';

const tag = 'Projects';

const entitlement = z
  .object({ value: z.boolean().describe('Whether the plan has the feature.') })
  .describe("Whether the pages that end users connect with may leave out the platform's name.");

export const project = resource(
  'Project',
  'The project: one application of a builder, to which everything else belongs.',
  {
    id: createdShape.id,
    name: z.string().describe('Unique in the whole service, in lower case.'),
    appName: z.string().describe('The name of the app that end users see while they connect.'),
    orgId: z.string().describe('The id of the org that owns it.'),
    allowedOrigins: z
      .array(z.string())
      .describe('Origins whose pages may call the gateway with tokens of its end users.'),
    createTime: createdShape.createTime,
    ...updateTimeShape,
    entitlements: z
      .object({ brandingRemoval: entitlement })
      .optional()
      .describe('The features that the plan of the org has; only if includeEntitlements is true.'),
  },
);

export function showProject({ updateTime, ...row }: Row<'Project'>) {
  return { ...row, updateTime: updateTime ?? undefined };
}

function showWithEntitlements(row: Row<'Project'>) {
  const { brandingRemoval: value } = row;
  return { ...showProject(row), entitlements: { brandingRemoval: { value } } };
}

export const projectEndpoints = [
  listEndpoint({
    id: 'listProjects',
    path: '/projects',
    tag,
    summary: "Lists a key's project, or all projects of a builder's orgs, newest first.",
    input: z.object({}),
    item: project,
    list: listProjects,
    show: showProject,
  }),
  listEndpoint({
    id: 'listOrgProjects',
    path: '/orgs/{orgId}/projects',
    tag,
    summary: 'Lists the projects of an org that the caller may see, newest first.',
    input: z.object({ orgId }),
    item: project,
    list: within(getOwnOrg, listOrgProjects),
    show: showProject,
  }),
  mutationEndpoint({
    id: 'createProject',
    method: 'POST',
    path: '/projects',
    tag,
    summary: 'Creates a project in an org of the caller.',
    mutation: createProject,
    status: 201,
    output: project,
    show: showProject,
  }),
  readEndpoint({
    id: 'getProject',
    path: '/projects/{projectIdOrName}',
    tag,
    summary: 'Gets a project by id or name.',
    input: z.object({
      projectIdOrName,
      includeEntitlements: z
        .boolean()
        .default(false)
        .describe('Whether the answer has `entitlements`. Default: false.'),
    }),
    read: getOwnProject,
    output: project,
    show: (row, _request, { includeEntitlements }) =>
      includeEntitlements ? showWithEntitlements(row) : showProject(row),
  }),
  mutationEndpoint({
    id: 'updateProject',
    method: 'PATCH',
    path: '/projects/{projectIdOrName}',
    tag,
    summary: 'Changes the name, the app name or the allowed origins of a project.',
    mutation: updateProject,
    mask: 'project',
    status: 200,
    output: project,
    show: showProject,
  }),
  mutationEndpoint({
    id: 'deleteProject',
    method: 'DELETE',
    path: '/projects/{projectIdOrName}',
    tag,
    summary: 'Deletes a project with all that is in it.',
    description:
      'Its keys are refused within a second, and nothing is sent any more; tokens are revoked at providers that take that. It disappears at once, and its rows are deleted soon after. Its name can be used again.',
    mutation: deleteProject,
    status: 204,
    output: null,
    show: noBody,
  }),
];
