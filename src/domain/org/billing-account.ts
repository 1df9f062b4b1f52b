import type { Row } from '../../database/rows.ts';
import { type Batch, orgIdsOf } from '../scope.ts';

/** The billing accounts of orgs of the viewer, by the orgs' ids. */
export const billingAccountOfOrg: Batch<string, Row<'BillingAccount'> | null> = async (
  { viewer, database: { rows } },
  orgIds,
) => {
  const seen = orgIdsOf(viewer);
  const found = await rows.find('BillingAccount', {
    orgId: orgIds.filter((orgId) => seen.includes(orgId)),
  });
  const byOrg = new Map(found.map((account) => [account.orgId, account]));
  return orgIds.map((orgId) => byOrg.get(orgId) ?? null);
};
