import { z } from 'zod';
import { billingAccountOfOrg } from '../../domain/org/billing-account.ts';
import { getOrg, type Row } from '../../domain/scope.ts';
import { endpoint } from '../endpoint/endpoint.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';
import { orgId } from './org.ts';

const billingAccount = resource('BillingAccount', 'Who pays for an org, and where.', {
  id: createdShape.id,
  displayName: z.string().describe('Its name, for people.'),
  billingProvider: z
    .string()
    .describe('The service that takes the money; none until one is connected.'),
  billingProviderRef: z.string().describe('What that service knows it by.'),
  createTime: createdShape.createTime,
  ...updateTimeShape,
});

function showBillingAccount({ updateTime, ...row }: Row<'BillingAccount'>) {
  return { ...row, updateTime: updateTime ?? undefined };
}

export const billingAccountEndpoints = [
  endpoint({
    id: 'getBillingAccount',
    method: 'GET',
    path: '/orgs/{orgId}/billingAccount',
    tag: 'Organizations',
    summary: "Gives an org's billing account.",
    needs: 'org:read',
    input: z.object({ orgId }),
    status: 200,
    output: billingAccount,
    async run({ call, get }, input) {
      const org = await getOrg(call, input.orgId, 'org:read');
      return showBillingAccount(await get(billingAccountOfOrg, org.id));
    },
  }),
];
