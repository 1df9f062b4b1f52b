/** Orgs: companies of builders. Each has one billing account. */
import { z } from 'zod';
import { isForeignKeyViolation, isMissingRow } from '../../../database/connect/violations.ts';
import { run, statements } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../database/transactions/transaction.ts';
import { conflict, forbidden, notFound } from '../../../kernel/errors.ts';
import { id, newId } from '../../../kernel/ids.ts';
import { load } from '../../access/batched.ts';
import type { Call, CoreServices, RowCall } from '../../access/call.ts';
import { builderMutation, orgMutation } from '../../access/declared-mutation.ts';
import { read } from '../../access/declared-read.ts';
import type { PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import { byId, getOrg, listOrgIds } from '../../access/scope.ts';
import { ADMIN } from '../../access/viewer/needs.ts';
import { orgRole } from '../../access/viewer/org-role.ts';
import { type BuilderViewer, findRole } from '../../access/viewer/viewer.ts';
import { applyRole } from '../../access/viewer/viewer-cache.ts';
import { label } from '../../base/names.ts';
import {
  computed,
  createdFields,
  enumeration,
  idField,
  resource,
  updateTime,
} from '../../base/resource.ts';

type Org = Row<'Org'>;

export const parentType = enumeration(
  'ParentType',
  'The type of the object that parentId identifies.',
  { ORG: 'An org.' },
);

/** `parentType` and `parentId` name the org that owns an object, as in the reference API. */
export const parentFields = {
  parentType: computed(
    parentType.describe('The type of the object that parentId identifies.'),
    (_owned: object) => 'ORG' as const,
  ),
  parentId: computed(
    idField.describe('The id of the org that it belongs to.'),
    ({ orgId }: { orgId: string }) => orgId,
  ),
};

export const billingAccountResource = resource(
  'BillingAccount',
  'The account that pays for an org.',
  {
    ...createdFields,
    displayName: z.string().describe('The display name.'),
    billingProvider: z.string().describe('The payment service. `none` until one is connected.'),
    billingProviderRef: z.string().describe('The id of the account at the payment service.'),
    updateTime,
  },
);

export const orgResource = resource(
  'Org',
  'A company of builders. It owns projects and has one billing account.',
  {
    ...createdFields,
    label: z.string().describe('The display name.'),
    viewerRole: computed(
      orgRole
        .nullable()
        .describe("The caller's role in the org. {Null} for an API key, which has scopes instead."),
      ({ id }: { id: string }, { viewer }: RowCall) => findRole(viewer, id),
    ),
    updateTime,
  },
);

const createOrgInput = z
  .object({ label: label.describe('The display name, 1 to 128 characters.') })
  .meta({ id: 'CreateOrgInput', description: 'The org to create.' });

const updateOrgInput = z
  .object({
    orgId: id.describe('The id of the org.'),
    label: label.describe('The display name, 1 to 128 characters.'),
  })
  .meta({ id: 'UpdateOrgInput', description: 'The org to rename, and its new name.' });

const deleteOrgInput = z
  .object({ orgId: id.describe('The id of the org.') })
  .meta({ id: 'DeleteOrgInput', description: 'The org to delete. It must have no projects.' });

/** Returns null if the viewer has no org with that id. */
export const findRequestedOrg = read(
  'org:read',
  'An org by its id; null if it does not exist or the caller may not see it.',
  async (call: Call, { id }: { id: string }): Promise<Org | null> => {
    const [org] = await byId('Org')(call, [id]);
    return org ?? null;
  },
);

/** Throws NOT_FOUND if the viewer may not see the org. */
export const getRequestedOrg = read(
  'org:read',
  'Returns an org.',
  (call: Call, { orgId }: { orgId: string }) => getOrg(call, orgId),
);

/** Throws NOT_FOUND if the viewer may not see the org. */
export const getOrgOfProject = read(
  'org:read',
  'The org that owns the project.',
  async (call: Call, { orgId }: Row<'Project'>): Promise<Org> => {
    const org = await load(call, byId('Org'), orgId);
    if (!org) throw notFound('Org', orgId);
    return org;
  },
);

export const listOrgs = read(
  'org:read',
  "Lists the orgs that the caller belongs to, newest first: a builder's orgs, or the org of a key's project.",
  (call: Call, args: PageArgs) => {
    const where = { id: listOrgIds(call.viewer) };
    return listPage(call, { name: 'Query.orgs', table: 'Org', where }, args);
  },
);

/** The maximum number of orgs of a builder, far more than a person needs. Limited because orgs are free. */
const ORGS_OF_BUILDER_MAX = 100;

/**
 * Throws CONFLICT if the caller has too many orgs, and FORBIDDEN if ORG_CREATION does not permit the caller to create
 * one.
 */
export const createOrg = builderMutation({
  description:
    'Creates an org with a billing account. The caller is its first admin. A server whose ORG_CREATION is `invited` refuses it to builders without an org.',
  input: createOrgInput,
  async run(call, { label }, viewer): Promise<Org> {
    authorizeOrgCreation(call, viewer);
    const org = await inTransaction(call.database, async (tx) => {
      await requireOrgCapacity(tx, viewer.id);
      return insertOrg(tx, { label, builderId: viewer.id });
    });
    applyRole(call, { orgId: org.id, builderId: viewer.id, role: 'ADMIN' });
    return org;
  },
});

function authorizeOrgCreation({ config }: CoreServices, { roles }: BuilderViewer): void {
  if (config.ORG_CREATION === 'everyone' || roles.size > 0) return;
  throw forbidden(
    'Only members of an org may create another one, because ORG_CREATION of this server is `invited`. Accept an invite to an org first, or ask a member for one.',
  );
}

async function requireOrgCapacity(tx: Transaction, builderId: string): Promise<void> {
  // The lock serializes the calls of a builder, so that they can't exceed the limit.
  const builder = statements.selectFrom('Builder').select('id').where('id', '=', builderId);
  await run(tx, builder.forNoKeyUpdate());
  const orgCount = await tx.orgMember.count({ where: { builderId } });
  if (orgCount < ORGS_OF_BUILDER_MAX) return;
  throw conflict(
    `A builder who belongs to ${ORGS_OF_BUILDER_MAX} orgs can't create another org. Delete an org that is not needed first.`,
  );
}

/** Inserts an org with its billing account and its first admin. Without `builderId`, the org has no members yet. */
export function insertOrg(
  tx: Transaction,
  { label, builderId }: { label: string; builderId?: string },
): Promise<Org> {
  const billingAccountId = newId('bil');
  return tx.org.create({
    data: {
      id: newId('org'),
      label,
      ...(builderId !== undefined && { members: { create: { builderId, role: 'ADMIN' } } }),
      billingAccount: {
        create: {
          id: billingAccountId,
          displayName: label,
          billingProvider: 'none',
          billingProviderRef: billingAccountId,
        },
      },
    },
  });
}

export const updateOrg = orgMutation({
  description: 'Renames an org of the caller.',
  needs: ADMIN,
  input: updateOrgInput,
  async run(call, { label }, { id }): Promise<Org> {
    const data = { label, updateTime: call.now() };
    return call.database.prisma.org.update({ where: { id }, data });
  },
});

export const deleteOrg = orgMutation({
  description:
    'Deletes an org of the caller that has no projects. Its memberships, invites, claimed domains and billing account are deleted too.',
  needs: ADMIN,
  input: deleteOrgInput,
  async run(call, _input, { id }): Promise<{ deletedId: string }> {
    await call.database.prisma.org.delete({ where: { id } }).catch((error: unknown) => {
      if (isMissingRow(error)) throw notFound('Org', id);
      if (isForeignKeyViolation(error)) {
        throw conflict('The org has projects. Delete them first.');
      }
      throw error;
    });
    applyRole(call, { orgId: id, builderId: call.viewer.id, role: null });
    return { deletedId: id };
  },
});
