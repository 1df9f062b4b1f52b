/** What a builder may do, in the platform's words: a member of an org may do everything in its projects. */
import { z } from 'zod';
import type { Call } from '../../domain/call.ts';
import { listOrgs } from '../../domain/org/org.ts';
import { PAGE_MAX } from '../../domain/paging/page.ts';
import { listProjects } from '../../domain/project/project.ts';
import { project, showProject } from '../project/project.ts';
import { org, showOrg } from './org.ts';

const roleShape = {
  role: z.string().describe('Always `admin`.'),
  principalType: z.enum(['builder']).describe('Whom the role was given to: always a builder.'),
  principalId: z.string().describe('The id of the builder.'),
};

export const rolesShape = {
  projectRoles: z
    .record(z.string(), z.object({ ...roleShape, project }).describe('A role in a project.'))
    .describe(`Their roles in projects, by the ids of these: the ${PAGE_MAX} newest.`),
  orgRole: z
    .object({ ...roleShape, org })
    .optional()
    .describe('Their role in the newest of their orgs; left out if they have none.'),
};

export async function rolesOf(call: Call, { id: principalId }: { id: string }) {
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
