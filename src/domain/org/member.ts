/** Members of orgs: builders who may do everything in the org's projects. Most join through an invite (invite.ts). */
import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import { run, statements } from '../../database/statements.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { conflict, notFound } from '../../errors.ts';
import { id } from '../../ids.ts';
import type { Call } from '../call.ts';
import { builderMutation } from '../declared-mutation.ts';
import { getOrg, listOrgIds } from '../scope.ts';
import { endMembership } from '../viewer/viewer.ts';
import { parseDomain } from './domain-name.ts';
import { joinOrg } from './domain-proof.ts';

const removeMemberInput = z
  .object({
    orgId: id.describe('The id of the org.'),
    builderId: id.describe('The id of the builder to remove: another member, or the caller.'),
  })
  .meta({ id: 'RemoveMemberInput', description: 'The member to remove, and the org.' });

const addMemberInput = z
  .object({
    orgId: id.describe('The id of the org.'),
    builderId: id.describe(
      'The id of the builder to add. It must be a member of another org of the caller, or have an e-mail address of a domain that the org has proven.',
    ),
  })
  .meta({ id: 'AddMemberInput', description: 'The builder to add, and the org.' });

/**
 * Adds a builder to an org. The caller is a member of the org, or the builder itself, who joins (`joinOrg`). An
 * existing member stays one. Throws NOT_FOUND for builders that the caller may not see.
 */
export const addMember = builderMutation({
  description:
    'Adds a builder to an org of the caller. The builder must be a member of another org of the caller, or have an e-mail address of a domain that the org has proven. Invite other people with `createInvite`. A builder who adds themselves joins, as by `joinOrg`.',
  input: addMemberInput,
  async run(call, { orgId, builderId }, viewer): Promise<Row<'Org'>> {
    if (builderId === viewer.id) return joinOrg(call, { orgId });
    const org = await getOrg(call, orgId);
    const builder = await findAddableBuilder(call, org.id, builderId);
    if (!builder) throw notFound('Builder', builderId);
    const data = { orgId: org.id, builderId };
    await call.database.prisma.orgMember.createMany({ data, skipDuplicates: true });
    call.viewers.clear();
    return org;
  },
});

/** Finds a builder who shares an org with the caller, or whose e-mail domain the org has proven. Null for any other. */
async function findAddableBuilder(
  call: Call,
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
  const proven = await prisma.claimedDomain.count({ where: { orgId, provenDomain } });
  return proven > 0 ? builder : null;
}

/**
 * Throws NOT_FOUND for callers who are not members, and CONFLICT for the last member. The removed member's streams end,
 * and its tokens lose access, within a second.
 */
export const removeMember = builderMutation({
  description:
    "Removes a member from an org of the caller. The last member can't be removed. `deletedId` is the id of the builder, who stays in other orgs.",
  input: removeMemberInput,
  async run(call, { orgId, builderId }, viewer): Promise<{ deletedId: string }> {
    const { id } = await getOrg(call, orgId);
    await inTransaction(call.database, (tx) => deleteMember(tx, { orgId: id, builderId }));
    endMembership(call, viewer, { orgId: id, builderId });
    return { deletedId: builderId };
  },
});

async function deleteMember(
  tx: Transaction,
  { orgId, builderId }: { orgId: string; builderId: string },
): Promise<void> {
  // The lock serializes removals, so that two members can't remove each other at the same time.
  await run(tx, statements.selectFrom('Org').select('id').where('id', '=', orgId).forNoKeyUpdate());
  const { count } = await tx.orgMember.deleteMany({ where: { orgId, builderId } });
  if (count === 0) throw notFound('Member', builderId);
  if ((await tx.orgMember.count({ where: { orgId } })) > 0) return;
  throw conflict(
    "The last member of an org can't be removed. Invite another member first, or delete the org.",
  );
}
