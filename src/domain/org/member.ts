/** Members of orgs: builders who may do everything in the org's projects. Invites make them (invite.ts). */
import { z } from 'zod';
import { run, statements } from '../../database/statements.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { conflict, notFound } from '../../errors.ts';
import { id } from '../../ids.ts';
import { builderMutation } from '../declared-mutation.ts';
import { getOrg } from '../scope.ts';
import { endMembership } from '../viewer/viewer.ts';

export const removeMemberInput = z
  .object({
    orgId: id.describe('The id of the org.'),
    builderId: id.describe('The id of the builder who leaves it: another member, or the caller.'),
  })
  .meta({ id: 'RemoveMemberInput', description: 'The member to remove, and the org.' });

/** For members only. Their streams end and their tokens see nothing of the org within a second. Throws CONFLICT for the last member. */
export const removeMember = builderMutation({
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
  // Held, so that two members who remove each other do it one after the other.
  await run(tx, statements.selectFrom('Org').select('id').where('id', '=', orgId).forNoKeyUpdate());
  const { count } = await tx.orgMember.deleteMany({ where: { orgId, builderId } });
  if (count === 0) throw notFound('Member', builderId);
  if ((await tx.orgMember.count({ where: { orgId } })) > 0) return;
  throw conflict('The last member of an org stays: invite another one first, or delete the org.');
}
