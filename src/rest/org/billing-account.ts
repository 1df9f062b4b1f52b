import { z } from 'zod';
import { getBillingAccount } from '../../domain/org/billing-account.ts';
import type { Row } from '../../domain/scope.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';
import { orgId } from './org.ts';

const billingAccount = resource('BillingAccount', 'The account that pays for an org.', {
  id: createdShape.id,
  displayName: z.string().describe('The name that people see.'),
  billingProvider: z
    .string()
    .describe('The service that takes the payments; `none` until one is connected.'),
  billingProviderRef: z.string().describe('The id of the account at that service.'),
  createTime: createdShape.createTime,
  ...updateTimeShape,
});

function showBillingAccount({ updateTime, ...row }: Row<'BillingAccount'>) {
  return { ...row, updateTime: updateTime ?? undefined };
}

export const billingAccountEndpoints = [
  readEndpoint({
    id: 'getBillingAccount',
    path: '/orgs/{orgId}/billingAccount',
    tag: 'Organizations',
    summary: "Gets an org's billing account.",
    input: z.object({ orgId }),
    read: getBillingAccount,
    output: billingAccount,
    show: showBillingAccount,
  }),
];
