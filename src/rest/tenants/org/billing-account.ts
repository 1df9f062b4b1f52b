import { z } from 'zod';
import { listOrgIds } from '../../../domain/access/scope.ts';
import { authorizeInOrg, orAdmin } from '../../../domain/access/viewer/needs.ts';
import {
  getBillingAccount,
  loadBillingAccounts,
} from '../../../domain/tenants/org/billing-account.ts';
import { billingAccountResource } from '../../../domain/tenants/org/org.ts';
import { notFound, unprocessable } from '../../../kernel/errors.ts';
import { id } from '../../../kernel/ids.ts';
import { endpoint, type RestRequest } from '../../endpoint/endpoint.ts';
import { readEndpoint } from '../../endpoint/resource-endpoints.ts';
import { orgId } from './org.ts';

const PORTAL_NEED = orAdmin('org:read');

export const billingAccountEndpoints = [
  readEndpoint({
    id: 'getBillingAccount',
    path: '/orgs/{orgId}/billingAccount',
    tag: 'Organizations',
    input: z.object({ orgId }),
    read: getBillingAccount,
    resource: billingAccountResource,
  }),
  endpoint({
    id: 'createBillingPortalSession',
    method: 'POST',
    path: '/billingAccounts/{billingAccountId}/portalSession',
    tag: 'Organizations',
    summary: "Creates a session of a billing account's portal.",
    description: 'Always fails with 422, because the gateway has no billing portal.',
    needs: PORTAL_NEED,
    input: z.object({
      billingAccountId: id.describe('The id of the billing account.'),
      redirectUrl: z.string().min(1).max(2_048).describe('The URL that the portal leads back to.'),
      timeout: z.int().min(1).optional().describe('The lifetime of the URL, in seconds.'),
    }),
    status: 200,
    resource: z
      .object({ url: z.url().describe('The URL of the portal.') })
      .describe('The portal session.'),
    run: refuseWithoutPortal,
  }),
];

async function refuseWithoutPortal(
  { call }: RestRequest,
  { billingAccountId }: { billingAccountId: string },
): Promise<{ url: string }> {
  const accounts = await loadBillingAccounts(call, listOrgIds(call.viewer));
  const account = accounts.find((candidate) => candidate?.id === billingAccountId);
  if (!account) throw notFound('Billing account', billingAccountId);
  authorizeInOrg(call.viewer, PORTAL_NEED, account.orgId);
  throw unprocessable('No billing portal is configured on this server.');
}
