/** Members of orgs: builders with a role, who work in the org's projects. Most of them join by an invite (invite.ts). */

import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction } from '../../../database/transactions/transaction.ts';
import { notFound } from '../../../kernel/errors.ts';
import { id } from '../../../kernel/ids.ts';
import type { Call, RowCall } from '../../access/call.ts';
import { builderMutation, orgMutation } from '../../access/declared-mutation.ts';
import { read } from '../../access/declared-read.ts';
import type { PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import { getOrg, listOrgIds, toOrgCondition } from '../../access/scope.ts';
import { ADMIN, requireAdmin } from '../../access/viewer/needs.ts';
import { orgRole } from '../../access/viewer/org-role.ts';
import { applyRole } from '../../access/viewer/viewer-cache.ts';
import { parseDomain } from '../../base/domain-name.ts';
import { idField, resource } from '../../base/resource.ts';
import { joinOrg } from './domain-proof.ts';
import { deleteMember, insertMember, updateRole } from './membership.ts';

export const memberResource = resource('Member', 'A builder as a member of an org.', {
  orgId: idField.describe('The id of the org.'),
  builderId: idField.describe('The id of the builder.'),
  role: orgRole.describe('What the builder may do in the org.'),
  createTime: z.date().describe('When the builder became a member.'),
});

export const listMembers = read(
  'org:read',
  "Lists an org's members with their roles, newest first by their first use of the gateway.",
  (call: Call, org: Row<'Org'>, args: PageArgs) => {
    const list = {
      name: 'Org.members',
      parentId: org.id,
      table: 'OrgMember',
      where: { orgId: toOrgCondition(call.viewer, org) },
      key: 'builderId',
    } as const;
    return listPage(call, list, args);
  },
);

const removeMemberInput = z
  .object({
    orgId: id.describe('The id of the org.'),
    builderId: id.describe('The id of the builder to remove: another member, or the caller.'),
  })
  .meta({ id: 'RemoveMemberInput', description: 'The member to remove, and the org.' });

const updateMemberInput = z
  .object({
    orgId: id.describe('The id of the org.'),
    builderId: id.describe('The id of the member.'),
    role: orgRole.describe('The new role.'),
  })
  .meta({ id: 'UpdateMemberInput', description: 'The member to change, and the new role.' });

const addMemberInput = z
  .object({
    orgId: id.describe('The id of the org.'),
    builderId: id.describe(
      'The id of the builder to add. It must be a member of another org of the caller, or have an email address of a domain that the org has proven.',
    ),
  })
  .meta({ id: 'AddMemberInput', description: 'The builder to add, and the org.' });

/**
 * Adds a builder to an org. The caller is an admin of the org, or the builder who joins it (`joinOrg`). An existing
 * member keeps its role. Throws NOT_FOUND for builders that the caller may not add.
 */
export const addMember = builderMutation({
  description:
    'Adds a builder to an org that the caller administers, with the role MEMBER. The builder must be a member of another org of the caller, or have an email address of a domain that the org has proven. Invite other people with `createInvite`. A builder who adds themselves joins, as by `joinOrg`.',
  input: addMemberInput,
  async run(call, { orgId, builderId }, viewer): Promise<Row<'Org'>> {
    if (builderId === viewer.id) return joinOrg(call, { orgId });
    const org = await getOrg(call, orgId);
    requireAdmin(viewer, org.id);
    const builder = await findAddableBuilder(call, org.id, builderId);
    if (!builder) throw notFound('Builder', builderId);
    const role = await insertMember(call.database.prisma, {
      orgId: org.id,
      builderId,
      role: 'MEMBER',
    });
    applyRole(call, { orgId: org.id, builderId, role });
    return org;
  },
});

/** Finds a builder who shares an org with the caller, or whose email domain the org has proven. */
async function findAddableBuilder(
  call: RowCall,
  orgId: string,
  builderId: string,
): Promise<Row<'Builder'> | null> {
  const { prisma } = call.database;
  const builder = await prisma.builder.findUnique({ where: { id: builderId } });
  if (!builder) return null;
  const membership = { builderId, orgId: { in: listOrgIds(call.viewer) } };
  if ((await prisma.orgMember.count({ where: membership })) > 0) return builder;
  const provenDomain = builder.primaryEmail && parseDomain(builder.primaryEmail);
  if (!provenDomain) return null;
  const provenCount = await prisma.claimedDomain.count({ where: { orgId, provenDomain } });
  return provenCount > 0 ? builder : null;
}

/** The new role takes effect within a second, also for sessions of the console and in other processes. */
export const updateMember = orgMutation({
  description:
    "Changes a member's role, which takes effect within a second. API keys that the member knows stay valid. The last admin can't get another role.",
  needs: ADMIN,
  input: updateMemberInput,
  async run(call, { builderId, role }, { id: orgId }): Promise<Row<'OrgMember'>> {
    const change = { orgId, builderId, role };
    const member = await inTransaction(call.database, (tx) => updateRole(tx, change));
    applyRole(call, change);
    return member;
  },
});

/**
 * Throws NOT_FOUND for callers who are not members, and CONFLICT for the last admin. The removed member's streams end,
 * and its tokens lose access, within a second.
 */
export const removeMember = builderMutation({
  description:
    "Removes a member from an org. Admins remove other members, and every member may leave. API keys that the member knows stay valid. The last admin can't leave or be removed. `deletedId` is the id of the builder, who stays in other orgs.",
  input: removeMemberInput,
  async run(call, { orgId, builderId }, viewer): Promise<{ deletedId: string }> {
    const { id } = await getOrg(call, orgId);
    if (builderId !== viewer.id) requireAdmin(viewer, id);
    await inTransaction(call.database, (tx) => deleteMember(tx, { orgId: id, builderId }));
    applyRole(call, { orgId: id, builderId, role: null });
    return { deletedId: builderId };
  },
});
