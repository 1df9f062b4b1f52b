import { z } from 'zod';
import { readWithin } from '../../domain/declared-read.ts';
import { builderResource, getOwnBuilder, listBuilders } from '../../domain/org/builder.ts';
import { addMember, removeMember } from '../../domain/org/member.ts';
import { getOwnOrg, listOrgs } from '../../domain/org/org.ts';
import { PAGE_MAX } from '../../domain/paging/page.ts';
import { listProjects } from '../../domain/project/project.ts';
import { listOrgIds, type Row } from '../../domain/scope.ts';
import type { RestRequest } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { deleteEndpoint, mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { resource } from '../openapi/schemas.ts';
import { responseOf, showResource } from '../openapi/shown-resource.ts';
import { project, showProject } from '../project/project.ts';
import { org, orgId, showOrg } from './org.ts';

/** The roles of a builder, in the reference API's terms: a member of an org may do everything in its projects. */

const roleShape = {
  role: z.string().describe('Always `admin`.'),
  principalType: z.enum(['builder']).describe('The holder of the role: always a builder.'),
  principalId: z.string().describe('The id of the builder.'),
};

const rolesShape = {
  projectRoles: z
    .record(z.string(), z.object({ ...roleShape, project }).describe('A role in a project.'))
    .describe(`Their roles in projects, by the ids of these: the ${PAGE_MAX} newest.`),
  orgRole: z
    .object({ ...roleShape, org })
    .optional()
    .describe('Their role in the newest of their orgs. Absent if they have none.'),
};

async function rolesOf(request: RestRequest, { id: principalId }: { id: string }) {
  const { call } = request;
  const role = { role: 'admin', principalType: 'builder' as const, principalId };
  const [projects, orgs] = await Promise.all([
    listProjects(call, { first: PAGE_MAX }),
    listOrgs(call, { first: 1 }),
  ]);
  const [newest] = orgs.edges;
  return {
    projectRoles: Object.fromEntries(
      projects.edges.map(({ node }) => [node.id, { ...role, project: showProject(node, request) }]),
    ),
    orgRole: newest && { ...role, org: showOrg(newest.node, request) },
  };
}

const tag = 'Organizations';

/** The caller, as a builder. */
export const builderInfo = resource(
  'BuilderInfo',
  'A builder, with their roles and the orgs that they are a member of.',
  {
    builder: responseOf(builderResource),
    ...rolesShape,
    orgIds: z
      .array(z.string())
      .describe('The ids of their orgs: they may do everything in the projects of these.'),
  },
);

export async function showBuilderInfo(row: Row<'Builder'>, request: RestRequest) {
  return {
    builder: showResource(builderResource, row, request),
    orgIds: listOrgIds(request.call.viewer),
    ...(await rolesOf(request, row)),
  };
}

export const builderEndpoints = [
  readEndpoint({
    id: 'getMyInfo',
    path: '/my-info',
    tag,
    input: z.object({}),
    read: getOwnBuilder,
    output: builderInfo,
    show: showBuilderInfo,
  }),
  listEndpoint({
    id: 'listBuilders',
    path: '/orgs/{orgId}/builders',
    tag,
    input: z.object({ orgId }),
    list: readWithin(getOwnOrg, listBuilders),
    resource: builderResource,
  }),
  mutationEndpoint({
    id: 'addMember',
    method: 'POST',
    path: '/orgs/{orgId}/memberships',
    tag,
    summary: 'Adds a builder to an org: by a member, or by the builder, who joins.',
    mutation: addMember,
    status: 201,
    output: null,
    show: noBody,
  }),
  deleteEndpoint({
    id: 'removeMember',
    path: '/orgs/{orgId}/builders/{builderId}',
    tag,
    mutation: removeMember,
  }),
];
