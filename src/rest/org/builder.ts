import { z } from 'zod';
import type { Call } from '../../domain/call.ts';
import { within } from '../../domain/declared-read.ts';
import { getOwnBuilder, listBuilders } from '../../domain/org/builder.ts';
import { addMember, removeMember } from '../../domain/org/member.ts';
import { getOwnOrg, listOrgs } from '../../domain/org/org.ts';
import { PAGE_MAX } from '../../domain/paging/page.ts';
import { listProjects } from '../../domain/project/project.ts';
import { orgIdsOf, type Row } from '../../domain/scope.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { createdShape, resource } from '../openapi/schemas.ts';
import { project, showProject } from '../project/project.ts';
import { org, orgId, showOrg } from './org.ts';

/** The roles of a builder, in the reference API's terms: a member of an org may do everything in its projects. */

const roleShape = {
  role: z.string().describe('Always `admin`.'),
  principalType: z.enum(['builder']).describe('Whom the role was given to: always a builder.'),
  principalId: z.string().describe('The id of the builder.'),
};

const rolesShape = {
  projectRoles: z
    .record(z.string(), z.object({ ...roleShape, project }).describe('A role in a project.'))
    .describe(`Their roles in projects, by the ids of these: the ${PAGE_MAX} newest.`),
  orgRole: z
    .object({ ...roleShape, org })
    .optional()
    .describe('Their role in the newest of their orgs; left out if they have none.'),
};

async function rolesOf(call: Call, { id: principalId }: { id: string }) {
  const role = { role: 'admin', principalType: 'builder' as const, principalId };
  const [projects, orgs] = await Promise.all([
    listProjects(call, { first: PAGE_MAX }),
    listOrgs(call, { first: 1 }),
  ]);
  const [newest] = orgs.edges;
  return {
    projectRoles: Object.fromEntries(
      projects.edges.map(({ node }) => [node.id, { ...role, project: showProject(node) }]),
    ),
    orgRole: newest && { ...role, org: showOrg(newest.node) },
  };
}

const tag = 'Organizations';

const builder = resource(
  'Builder',
  'A person who builds with the gateway, identified by the tokens of an identity provider.',
  {
    id: createdShape.id,
    idpProvider: z.string().describe('The issuer (`iss`) of their tokens.'),
    idpRef: z.string().describe('The subject (`sub`) of their tokens.'),
    firstName: z
      .string()
      .optional()
      .describe('Their given name; left out if their tokens have none.'),
    lastName: z
      .string()
      .optional()
      .describe('Their family name; left out if their tokens have none.'),
    fullName: z
      .string()
      .optional()
      .describe('Their whole name; left out if their tokens have none.'),
    primaryEmail: z
      .string()
      .optional()
      .describe(
        'Their verified email address, in lower case. Absent unless their token has `email` and `email_verified: true`.',
      ),
    createTime: createdShape.createTime,
  },
);

function showBuilder(row: Row<'Builder'>) {
  return {
    ...row,
    firstName: row.firstName ?? undefined,
    lastName: row.lastName ?? undefined,
    fullName: row.fullName ?? undefined,
    primaryEmail: row.primaryEmail ?? undefined,
  };
}

/** The caller, as a builder. */
export const builderInfo = resource(
  'BuilderInfo',
  'A builder, with their roles and the orgs that they are a member of.',
  {
    builder,
    ...rolesShape,
    orgIds: z
      .array(z.string())
      .describe('The ids of their orgs: they may do everything in the projects of these.'),
  },
);

export async function showBuilderInfo(row: Row<'Builder'>, call: Call) {
  return {
    builder: showBuilder(row),
    orgIds: orgIdsOf(call.viewer),
    ...(await rolesOf(call, row)),
  };
}

export const builderEndpoints = [
  readEndpoint({
    id: 'getMyInfo',
    path: '/my-info',
    tag,
    summary: 'Gets the builder who sends the request.',
    input: z.object({}),
    read: getOwnBuilder,
    output: builderInfo,
    show: (found, { call }) => showBuilderInfo(found, call),
  }),
  listEndpoint({
    id: 'listBuilders',
    path: '/orgs/{orgId}/builders',
    tag,
    summary:
      "Lists an org's members, in the order in which they first used the gateway, newest first.",
    input: z.object({ orgId }),
    item: builder,
    list: within(getOwnOrg, listBuilders),
    show: showBuilder,
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
  mutationEndpoint({
    id: 'removeMember',
    method: 'DELETE',
    path: '/orgs/{orgId}/builders/{builderId}',
    tag,
    summary: 'Removes a member from an org of the caller; the last one stays.',
    mutation: removeMember,
    status: 204,
    output: null,
    show: noBody,
  }),
];
