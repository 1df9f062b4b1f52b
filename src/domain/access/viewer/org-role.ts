/** Roles of builders in their orgs. needs.ts decides what a role permits. */
import type { OrgRole } from '../../../database/generated/enums.ts';
import { enumeration } from '../../base/resource.ts';

export type { OrgRole };

export const orgRole = enumeration('OrgRole', 'What a builder may do in an org.', {
  MEMBER: 'Work in all projects of the org, and leave it.',
  ADMIN:
    'Work in all projects of the org, and manage it: create and delete projects, change the name, members, roles, invites, domains and billing, and delete the org.',
});

/** The roles of a builder by the ids of their orgs. */
export type OrgRoles = ReadonlyMap<string, OrgRole>;

export function createOrgRoles(memberships: readonly { orgId: string; role: OrgRole }[]): OrgRoles {
  return new Map(memberships.map(({ orgId, role }) => [orgId, role]));
}
