import { z } from 'zod';
import type { Call } from '../../../domain/access/call.ts';
import { readWithin } from '../../../domain/access/declared-read.ts';
import { PAGE_MAX } from '../../../domain/access/paging/page.ts';
import { listOrgIds, type Row } from '../../../domain/access/scope.ts';
import { orgRole } from '../../../domain/access/viewer/org-role.ts';
import { findRole } from '../../../domain/access/viewer/viewer.ts';
import { computed, resource } from '../../../domain/base/resource.ts';
import {
  builderResource,
  getCurrentBuilder,
  listBuilders,
} from '../../../domain/tenants/org/builder.ts';
import {
  addMember,
  listMembers,
  memberResource,
  removeMember,
  updateMember,
} from '../../../domain/tenants/org/member.ts';
import { getRequestedOrg, listOrgs } from '../../../domain/tenants/org/org.ts';
import { listProjects } from '../../../domain/tenants/project/project.ts';
import {
  deleteEndpoint,
  listEndpoint,
  mutationEndpoint,
  readEndpoint,
} from '../../endpoint/resource-endpoints.ts';
import { project } from '../project/project.ts';
import { org, orgId } from './org.ts';

const tag = 'Organizations';

/** A role in the reference API's form. A builder's role in a project is the role in the project's org. */
const roleFields = {
  role: orgRole.describe('The role of the builder in the org, or in the org of the project.'),
  principalType: computed(
    z.enum(['builder']).describe('The holder of the role: always a builder.'),
    () => 'builder' as const,
  ),
  principalId: z.string().describe('The id of the builder.'),
};

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
          edges.map(({ node: project }) => {
            const role = findRole(call.viewer, project.orgId);
            return [project.id, { role, principalId, project }];
          }),
        );
      },
    ),
    orgRole: computed(
      z
        .object({ ...roleFields, org })
        .nullable()
        .describe('Their role in the newest of their orgs. Absent if they have none.'),
      async ({ id: principalId }: Row<'Builder'>, call: Call) => {
        const { edges } = await listOrgs(call, { first: 1 });
        const [newestEdge] = edges;
        if (!newestEdge) return null;
        const { node: org } = newestEdge;
        return { role: findRole(call.viewer, org.id), principalId, org };
      },
    ),
    orgIds: computed(
      z.array(z.string()).describe('The ids of their orgs. `GET /orgs` returns the role in each.'),
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
    read: getCurrentBuilder,
    resource: builderInfo,
  }),
  listEndpoint({
    id: 'listBuilders',
    path: '/orgs/{orgId}/builders',
    tag,
    input: z.object({ orgId }),
    list: readWithin(getRequestedOrg, listBuilders),
    resource: builderResource,
  }),
  mutationEndpoint({
    id: 'addMember',
    method: 'POST',
    path: '/orgs/{orgId}/memberships',
    tag,
    summary: 'Adds a builder to an org: by an admin, or by the builder, who joins.',
    mutation: addMember,
    status: 201,
    resource: null,
  }),
  listEndpoint({
    id: 'listMembers',
    path: '/orgs/{orgId}/memberships',
    tag,
    input: z.object({ orgId }),
    list: readWithin(getRequestedOrg, listMembers),
    resource: memberResource,
  }),
  mutationEndpoint({
    id: 'updateMember',
    method: 'PATCH',
    path: '/orgs/{orgId}/memberships/{builderId}',
    tag,
    mutation: updateMember,
    mask: 'membership',
    status: 200,
    resource: memberResource,
  }),
  deleteEndpoint({
    id: 'removeMember',
    path: '/orgs/{orgId}/builders/{builderId}',
    tag,
    mutation: removeMember,
  }),
];
