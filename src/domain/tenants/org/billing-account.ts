/**
 * The billing account of an org and the features of a project's billing plan. Only the operator changes them, by a
 * command.
 */
import type { Database } from '../../../database/open/database.ts';
import { run, sql, statements } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { notFound } from '../../../kernel/errors.ts';
import { findPrefix } from '../../../kernel/ids.ts';
import { load } from '../../access/batched.ts';
import type { Call } from '../../access/call.ts';
import { read } from '../../access/declared-read.ts';
import { type Batch, getOrg, listOrgIds } from '../../access/scope.ts';

/** Finds the billing account of each org. Null for an org without one, or if the viewer does not belong to the org. */
export const loadBillingAccounts: Batch<string, Row<'BillingAccount'> | null> = async (
  { viewer, database: { reads } },
  orgIds,
) => {
  const visibleOrgIds = listOrgIds(viewer);
  const accounts = await reads.find('BillingAccount', {
    orgId: orgIds.filter((orgId) => visibleOrgIds.includes(orgId)),
  });
  const accountsByOrg = new Map(accounts.map((account) => [account.orgId, account]));
  return orgIds.map((orgId) => accountsByOrg.get(orgId) ?? null);
};

/** Throws NOT_FOUND if the viewer may not see the org, or if the org has no billing account. */
export const getBillingAccount = read(
  'org:read',
  "Returns an org's billing account.",
  async (call: Call, { orgId }: { orgId: string }) => {
    const org = await getOrg(call, orgId);
    const account = await load(call, loadBillingAccounts, org.id);
    if (!account) throw notFound('Billing account of', org.id);
    return account;
  },
);

type Client = Pick<Database, 'prisma'>;

interface Entitlements {
  brandingRemoval: boolean;
}

const NOW = sql<Date>`statement_timestamp()`;

/** Sets the features of a project's billing plan and returns the project's name. Throws NOT_FOUND. */
export async function setEntitlements(
  { prisma }: Client,
  idOrName: string,
  { brandingRemoval }: Entitlements,
): Promise<string> {
  const isId = findPrefix(idOrName) === 'prj';
  const update = statements
    .updateTable('Project')
    .set({ brandingRemoval, updateTime: NOW })
    .where(isId ? 'id' : 'name', '=', isId ? idOrName : idOrName.toLowerCase())
    .returning('name');
  const [project] = await run(prisma, update);
  if (!project) throw notFound('Project', idOrName);
  return project.name;
}

interface Billing {
  displayName: string;
  billingProvider: string;
  billingProviderRef: string;
}

/** Updates the billing account of an org and returns it. Absent members keep their values. Throws NOT_FOUND. */
export async function setBillingAccount(
  { prisma }: Client,
  orgId: string,
  billing: { [K in keyof Billing]?: Billing[K] | undefined },
): Promise<Billing> {
  const changes = Object.fromEntries(
    Object.entries(billing).filter(([, value]) => value !== undefined),
  );
  const update = statements
    .updateTable('BillingAccount')
    .set({ ...changes, updateTime: NOW })
    .where('orgId', '=', orgId)
    .returning(['displayName', 'billingProvider', 'billingProviderRef']);
  const [account] = await run(prisma, update);
  if (!account) throw notFound('Org', orgId);
  return account;
}
