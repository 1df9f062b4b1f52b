/** Invites of email addresses to orgs. */

import { z } from 'zod';
import type { InviteStatus } from '../../../database/generated/enums.ts';
import type { Database } from '../../../database/open/database.ts';
import type { Where } from '../../../database/statements/reads/row-list.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../database/transactions/transaction.ts';
import { conflict, notFound } from '../../../kernel/errors.ts';
import { id, newId } from '../../../kernel/ids.ts';
import { member, text } from '../../../kernel/text.ts';
import { DAY_MS } from '../../../work/durations.ts';
import { load } from '../../access/batched.ts';
import type { Call, RowCall, RowServices } from '../../access/call.ts';
import { builderMutation, orgMutation } from '../../access/declared-mutation.ts';
import { read } from '../../access/declared-read.ts';
import type { FiltersOf, PageArgs } from '../../access/paging/page.ts';
import { createArrayPage } from '../../access/paging/page-of-array.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import { requireUnique } from '../../access/row-changes.ts';
import { type Batch, getOrg, toOrgCondition } from '../../access/scope.ts';
import { orAdmin, requireAdmin } from '../../access/viewer/needs.ts';
import { type OrgRole, orgRole } from '../../access/viewer/org-role.ts';
import { applyRole } from '../../access/viewer/viewer-cache.ts';
import { orNull } from '../../base/input-schemas.ts';
import { checkRules, createRuleIssue } from '../../base/issues.ts';
import { computed, createdFields, enumeration, resource, updateTime } from '../../base/resource.ts';
import { insertMember } from './membership.ts';
import { insertOrg, parentFields } from './org.ts';

type Invite = Row<'Invite'>;

const inviteStatus = enumeration('InviteStatus', 'The state of an invite.', {
  PENDING: 'The invite can be accepted or revoked, until 7 days after it was created.',
  ACCEPTED: 'The person has accepted the invite and is a member of the org.',
  REVOKED: 'An admin of the org has revoked the invite.',
  EXPIRED: 'The invite was not accepted within 7 days.',
});

export const inviteResource = resource(
  'Invite',
  'An invitation of an email address to an org, valid for 7 days. The person accepts it with `acceptInvite`.',
  {
    ...createdFields,
    ...parentFields,
    status: computed(
      inviteStatus.describe('Whether it is pending, accepted, revoked or expired.'),
      (invite: Invite, call: RowCall) => getCurrentStatus(call, invite),
    ),
    invitedEmail: z.string().describe('The invited email address, in lower case.'),
    role: orgRole.describe('The role that the person gets.'),
    updateTime,
  },
);

const LIFETIME_MS = 7 * DAY_MS;

const inviteId = id.describe('The id of the invite.');

const createInviteInput = z
  .object({
    orgId: id.describe('The id of the org to join.'),
    email: z
      .email()
      .max(254)
      .toLowerCase()
      .describe('The email address to invite, stored in lower case.'),
    role: orgRole
      .default('MEMBER')
      .describe(
        'The role that the person gets. Default: MEMBER. An API key can only invite members.',
      ),
  })
  .meta({ id: 'CreateInviteInput', description: 'The email address to invite, and the org.' });

export const deleteInviteInput = z
  .object({ orgId: id.describe('The id of the org of the invite.'), inviteId })
  .meta({ id: 'DeleteInviteInput', description: 'The pending invite to revoke.' });

const acceptInviteInput = z
  .object({
    inviteId: orNull(inviteId).describe(
      'The id of the invite. Default: the invite to invitedEmail.',
    ),
    invitedEmail: orNull(z.email().max(254).toLowerCase()).describe(
      "The caller's own email address, as an alternative to inviteId. It selects the newest pending invite.",
    ),
  })
  .superRefine(
    checkRules(function* (input) {
      if ((input.inviteId === null) !== (input.invitedEmail === null)) return;
      const detail = text`must have exactly one of ${member('inviteId')} and ${member('invitedEmail')}.`;
      yield createRuleIssue([], detail, { showsValue: true });
    }),
  )
  .meta({
    id: 'AcceptInviteInput',
    description: "The pending invite to accept. It must be for the caller's own email address.",
  });

/** Returns the current status. A pending invite expires by time, without a change of its row. */
function getCurrentStatus({ now }: RowServices, { status, expireTime }: Invite): InviteStatus {
  return status === 'PENDING' && expireTime <= now() ? 'EXPIRED' : status;
}

/** Returns a condition for invites that have this status at a time, by the rule of `getCurrentStatus`. */
function toStatusCondition(status: InviteStatus, time: Date): Where<'Invite'> {
  if (status === 'PENDING') return { status, expireTime: { after: time } };
  if (status === 'EXPIRED') return { status: ['PENDING', 'EXPIRED'], expireTime: { upTo: time } };
  return { status };
}

/** Loads the same time for all lists that are loaded together, so that they share a statement. */
const loadTime: Batch<'now', Date> = async ({ now }, keys) => {
  const time = now();
  return keys.map(() => time);
};

export const inviteFilters = z.object({
  status: inviteStatus.optional().describe('Only invites with this status.'),
});

export const listInvites = read(
  'org:read',
  "Lists an org's invites, newest first, including revoked and expired ones.",
  async (
    call: Call,
    org: Row<'Org'>,
    { status, ...args }: PageArgs & FiltersOf<typeof inviteFilters>,
  ) => {
    const statusFilter = status ? toStatusCondition(status, await load(call, loadTime, 'now')) : {};
    const where = { orgId: toOrgCondition(call.viewer, org), ...statusFilter };
    return listPage(call, { name: 'Org.invites', parentId: org.id, table: 'Invite', where }, args);
  },
);

/**
 * Loads the display names of inviting orgs, by the ids of the orgs. An invited person sees the name of an org that they
 * can't read yet.
 */
export const loadInvitingOrgLabels: Batch<string, string | null> = async ({ database }, orgIds) => {
  const orgs = await database.reads.find('Org', { id: [...new Set(orgIds)] });
  const labels = new Map(orgs.map(({ id, label }) => [id, label]));
  return orgIds.map((orgId) => labels.get(orgId) ?? null);
};

/** Throws NOT_FOUND if the org has no such invite, or if the viewer may not see the org. */
export const getInvite = read(
  'org:read',
  'Returns an invite to an org.',
  async (call: Call, { orgId, inviteId }: z.output<typeof deleteInviteInput>): Promise<Invite> => {
    await getOrg(call, orgId);
    const [invite] = await call.database.reads.find('Invite', { id: inviteId, orgId });
    if (!invite) throw notFound('Invite', inviteId);
    return invite;
  },
);

/** Empty for an API key. */
export const listInvitesToViewer = read(
  'nothing',
  "Lists pending invites to the caller's own email address, from all orgs, newest first.",
  (call: Call, args: PageArgs) => {
    const { viewer } = call;
    const email = viewer.kind === 'BUILDER' ? viewer.email : null;
    const name = 'Viewer.invites';
    // A null `pendingEmail` would match every invite that has ended.
    if (email === null) return createArrayPage({ name, key: ({ id }: Invite) => id }, [], args);
    const where = { pendingEmail: email, expireTime: { after: call.now() } };
    return listPage(call, { name, table: 'Invite', where }, args);
  },
);

/**
 * An address has at most one pending invite in an org. A unique index refuses a second one, even from a simultaneous
 * call.
 */
export const createInvite = orgMutation({
  description: 'Invites an email address to an org. No email is sent.',
  needs: orAdmin('org:write'),
  input: createInviteInput,
  run(call, { orgId, email, role }): Promise<Invite> {
    // A key with org:write must not create admins, who have more rights than the key.
    if (role === 'ADMIN') requireAdmin(call.viewer, orgId);
    const invite = { orgId, email, role, now: call.now() };
    return requireUnique(
      inTransaction(call.database, (tx) => recordInvite(tx, invite)),
      `${email} already has a pending invite.`,
    );
  },
});

/**
 * Creates an org without members and invites its first admin. The operator uses it if ORG_CREATION does not permit
 * everyone to create orgs.
 */
export function createOrgWithInvite(
  database: Pick<Database, 'prisma' | 'outages' | 'notify' | 'now'>,
  { label, email }: { label: string; email: string },
): Promise<{ org: Row<'Org'>; invite: Invite }> {
  return inTransaction(database, async (tx) => {
    const org = await insertOrg(tx, { label });
    const details = { orgId: org.id, email, role: 'ADMIN', now: database.now() } as const;
    return { org, invite: await recordInvite(tx, details) };
  });
}

async function recordInvite(
  tx: Transaction,
  { orgId, email, role, now }: { orgId: string; email: string; role: OrgRole; now: Date },
): Promise<Invite> {
  const member = await tx.orgMember.findFirst({
    where: { orgId, builder: { primaryEmail: email } },
  });
  if (member) throw conflict(`${email} is already a member of the org.`);
  await tx.invite.updateMany({
    where: { orgId, pendingEmail: email, expireTime: { lte: now } },
    data: { status: 'EXPIRED', pendingEmail: null },
  });
  const expireTime = new Date(now.getTime() + LIFETIME_MS);
  const addresses = { invitedEmail: email, pendingEmail: email };
  return tx.invite.create({
    data: { id: newId('inv'), orgId, role, ...addresses, status: 'PENDING', expireTime },
  });
}

/** The revoked invite remains in the list of invites. */
export const deleteInvite = orgMutation({
  description: 'Revokes a pending invite. It can no longer be accepted.',
  needs: orAdmin('org:write'),
  input: deleteInviteInput,
  async run(call, { orgId, inviteId }): Promise<{ deletedId: string; invite: Invite }> {
    const invite = await inTransaction(call.database, (tx) =>
      endPendingInvite(call, tx, { where: { id: inviteId, orgId }, status: 'REVOKED' }),
    );
    return { deletedId: invite.id, invite };
  },
});

/** Throws NOT_FOUND for an invite to another address. */
export const acceptInvite = builderMutation({
  description:
    "Accepts an invite to the caller's own email address, and adds the caller to the org with the invite's role. An admin keeps the role.",
  input: acceptInviteInput,
  async run(call, { inviteId, invitedEmail }, viewer): Promise<AcceptedInvite> {
    const idOrEmail = inviteId ?? invitedEmail ?? '';
    const { email } = viewer;
    if (email === null || (invitedEmail !== null && invitedEmail !== email)) {
      throw notFound('Invite', idOrEmail);
    }
    const { role, ...acceptedInvite } = await inTransaction(call.database, async (tx) => {
      const id = inviteId ?? (await findPendingInviteId(tx, email, call.now()));
      if (id === null) throw notFound('Invite', idOrEmail);
      const where = { id, invitedEmail: email };
      const invite = await endPendingInvite(call, tx, { where, status: 'ACCEPTED' });
      const membership = { orgId: invite.orgId, builderId: viewer.id, role: invite.role };
      const role = await insertMember(tx, membership);
      const builder = await tx.builder.findUniqueOrThrow({ where: { id: viewer.id } });
      return { invite, builder, role };
    });
    applyRole(call, { orgId: acceptedInvite.invite.orgId, builderId: viewer.id, role });
    return acceptedInvite;
  },
});

interface AcceptedInvite {
  invite: Invite;
  builder: Row<'Builder'>;
}

/** Finds the newest pending invite to the address, to any org. */
async function findPendingInviteId(
  tx: Transaction,
  email: string,
  now: Date,
): Promise<string | null> {
  const invite = await tx.invite.findFirst({
    where: { pendingEmail: email, expireTime: { gt: now } },
    orderBy: { id: 'desc' },
    select: { id: true },
  });
  return invite?.id ?? null;
}

interface InviteEnd {
  where: { id: string; orgId?: string; invitedEmail?: string };
  status: 'ACCEPTED' | 'REVOKED';
}

/**
 * Ends a pending invite. The condition is part of the update, so that one of several simultaneous calls succeeds.
 */
async function endPendingInvite(
  call: RowCall,
  tx: Transaction,
  { where, status }: InviteEnd,
): Promise<Invite> {
  const now = call.now();
  const { count } = await tx.invite.updateMany({
    where: { ...where, status: 'PENDING', expireTime: { gt: now } },
    data: { status, pendingEmail: null, updateTime: now },
  });
  const invite = await tx.invite.findFirst({ where });
  if (!invite) throw notFound('Invite', where.id);
  if (count === 0) {
    throw conflict(`The invite is ${getCurrentStatus(call, invite).toLowerCase()}, not pending.`);
  }
  return invite;
}
