import { z } from 'zod';
import { getBillingAccount } from '../../domain/org/billing-account.ts';
import type { Row } from '../../domain/scope.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
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
  readEndpoint({
    id: 'getBillingAccount',
    path: '/orgs/{orgId}/billingAccount',
    tag: 'Organizations',
    summary: "Gives an org's billing account.",
    input: z.object({ orgId }),
    read: getBillingAccount,
    output: billingAccount,
    show: showBillingAccount,
  }),
];
