import { z } from 'zod';
import { projectIdOrName } from '../../domain/names.ts';
import {
  createProject,
  createProjectInput,
  listProjects,
  updateProject,
  updateProjectInput,
} from '../../domain/project/project.ts';
import { getProject, type Row } from '../../domain/scope.ts';
import { endpoint } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';

const tag = 'Projects';

const entitlement = z
  .object({ value: z.boolean().describe('Whether the plan has it.') })
  .describe("The connection flow may leave out the platform's name.");

const project = resource('Project', 'One application of a builder.', {
  id: createdShape.id,
  name: z.string().describe('Unique in the whole service; lowercase.'),
  appName: z.string().describe('What end users see while they connect.'),
  orgId: z.string().describe('The org that owns it.'),
  createTime: createdShape.createTime,
  ...updateTimeShape,
  entitlements: z
    .object({ brandingRemoval: entitlement })
    .optional()
    .describe('What the plan of the org allows; only where it is asked for.'),
});

function showProject({ updateTime, ...row }: Row<'Project'>) {
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
  endpoint({
    id: 'createProject',
    method: 'POST',
    path: '/projects',
    tag,
    summary: 'Makes a project in an org of the caller.',
    needs: 'bearer',
    input: createProjectInput,
    status: 201,
    output: project,
    run: async ({ call }, input) => showProject(await createProject(call, input)),
  }),
  endpoint({
    id: 'getProject',
    method: 'GET',
    path: '/projects/{projectIdOrName}',
    tag,
    summary: 'Gives a project by id or name.',
    needs: 'read',
    input: z.object({
      projectIdOrName,
      includeEntitlements: z.boolean().default(false).describe('Whether to show entitlements.'),
    }),
    status: 200,
    output: project,
    async run({ call }, { projectIdOrName: idOrName, includeEntitlements }) {
      const found = await getProject(call, idOrName, 'read');
      return includeEntitlements ? showWithEntitlements(found) : showProject(found);
    },
  }),
  endpoint({
    id: 'updateProject',
    method: 'PATCH',
    path: '/projects/{projectIdOrName}',
    tag,
    summary: 'Changes a project.',
    needs: 'full',
    input: updateProjectInput,
    mask: 'project',
    status: 200,
    output: project,
    run: async ({ call }, input) => showProject(await updateProject(call, input)),
  }),
];
