import type { Row } from '../../database/rows.ts';
import { notFound } from '../../errors.ts';
import { load } from '../batched.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import { type Batch, getOrg, listOrgIds } from '../scope.ts';

/** Finds the billing account of each org. Null for an org without one, or if the viewer does not belong to the org. */
export const findBillingAccounts: Batch<string, Row<'BillingAccount'> | null> = async (
  { viewer, database: { rows } },
  orgIds,
) => {
  const visibleOrgIds = listOrgIds(viewer);
  const accounts = await rows.find('BillingAccount', {
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
    const account = await load(call, findBillingAccounts, org.id);
    if (!account) throw notFound('Billing account of', org.id);
    return account;
  },
);
