import { z } from 'zod';
import type { Call } from '../../domain/call.ts';
import { readWithin } from '../../domain/declared-read.ts';
import { builderResource, getOwnBuilder, listBuilders } from '../../domain/org/builder.ts';
import { addMember, removeMember } from '../../domain/org/member.ts';
import { getOwnOrg, listOrgs } from '../../domain/org/org.ts';
import { PAGE_MAX } from '../../domain/paging/page.ts';
import { listProjects } from '../../domain/project/project.ts';
import { computed, resource } from '../../domain/resource.ts';
import { listOrgIds, type Row } from '../../domain/scope.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { deleteEndpoint, mutationEndpoint, omitBody } from '../endpoint/mutation-endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { project } from '../project/project.ts';
import { org, orgId } from './org.ts';

const tag = 'Organizations';

/** The reference API's role: a member of an org may do everything in its projects. */
const roleFields = {
  role: computed(z.string().describe('Always `admin`.'), () => 'admin'),
  principalType: computed(
    z.enum(['builder']).describe('The holder of the role: always a builder.'),
    () => 'builder' as const,
  ),
  principalId: z.string().describe('The id of the builder.'),
};

/** The caller, as a builder. */
export const builderInfo = resource(
  'BuilderInfo',
  'A builder, with their roles and the orgs that they are a member of.',
  {
    builder: computed(builderResource, (row: Row<'Builder'>) => row),
    projectRoles: computed(
      z
        .record(z.string(), z.object({ ...roleFields, project }).describe('A role in a project.'))
        .describe(`Their roles in the ${PAGE_MAX} newest projects, by project id.`),
      async ({ id: principalId }: Row<'Builder'>, call: Call) => {
        const { edges } = await listProjects(call, { first: PAGE_MAX });
        return Object.fromEntries(
          edges.map(({ node: project }) => [project.id, { principalId, project }]),
        );
      },
    ),
    orgRole: computed(
      z
        .object({ ...roleFields, org })
        .nullable()
        .describe('Their role in the newest of their orgs. Null if they have none.'),
      async ({ id: principalId }: Row<'Builder'>, call: Call) => {
        const { edges } = await listOrgs(call, { first: 1 });
        const [newest] = edges;
        return newest ? { principalId, org: newest.node } : null;
      },
    ),
    orgIds: computed(
      z
        .array(z.string())
        .describe('The ids of their orgs: they may do everything in the projects of these.'),
      (_row: Row<'Builder'>, { viewer }: Call) => listOrgIds(viewer),
    ),
  },
);

export const builderEndpoints = [
  readEndpoint({
    id: 'getMyInfo',
    path: '/my-info',
    tag,
    input: z.object({}),
    read: getOwnBuilder,
    resource: builderInfo,
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
    show: omitBody,
  }),
  deleteEndpoint({
    id: 'removeMember',
    path: '/orgs/{orgId}/builders/{builderId}',
    tag,
    mutation: removeMember,
  }),
];
