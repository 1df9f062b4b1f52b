/** Stores memberships. Every org that has members has an admin. */
import { run, statements } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { conflict, notFound } from '../../../kernel/errors.ts';
import type { OrgRole } from '../../access/viewer/org-role.ts';

type OrgMember = Row<'OrgMember'>;

interface MemberKey {
  orgId: string;
  builderId: string;
}

/**
 * Adds a builder to an org and returns their role. An existing member may become an admin, and an admin remains one.
 * Returns null if another call has removed the member.
 */
export async function insertMember(
  tx: Pick<Transaction, 'orgMember'>,
  { role, ...key }: MemberKey & { role: OrgRole },
): Promise<OrgRole | null> {
  await tx.orgMember.createMany({ data: { ...key, role }, skipDuplicates: true });
  if (role === 'ADMIN') await tx.orgMember.updateMany({ where: key, data: { role } });
  const member = await tx.orgMember.findUnique({ where: { orgId_builderId: key } });
  return member?.role ?? null;
}

/** Changes a member's role. Throws NOT_FOUND, and CONFLICT for the last admin. */
export async function updateRole(
  tx: Transaction,
  { role, ...key }: MemberKey & { role: OrgRole },
): Promise<OrgMember> {
  const member = await lockMember(tx, key);
  if (role !== 'ADMIN') await requireAnotherAdmin(tx, member);
  return tx.orgMember.update({ where: { orgId_builderId: key }, data: { role } });
}

/** Deletes a membership. Throws NOT_FOUND, and CONFLICT for the last admin. */
export async function deleteMember(tx: Transaction, key: MemberKey): Promise<void> {
  await requireAnotherAdmin(tx, await lockMember(tx, key));
  await tx.orgMember.delete({ where: { orgId_builderId: key } });
}

/** Returns a member, and locks the org until the commit, so that changes of its members wait for each other. */
async function lockMember(tx: Transaction, key: MemberKey): Promise<OrgMember> {
  const org = statements.selectFrom('Org').select('id').where('id', '=', key.orgId);
  await run(tx, org.forNoKeyUpdate());
  const member = await tx.orgMember.findUnique({ where: { orgId_builderId: key } });
  if (!member) throw notFound('Member', key.builderId);
  return member;
}

/** Throws CONFLICT if the locked member is the last admin of the org. */
async function requireAnotherAdmin(tx: Transaction, { orgId, builderId, role }: OrgMember) {
  if (role !== 'ADMIN') return;
  const where = { orgId, role, builderId: { not: builderId } };
  if ((await tx.orgMember.count({ where })) > 0) return;
  throw conflict(
    "The last admin of an org can't leave, be removed or get another role. Make another member an admin first, or delete the org.",
  );
}
