import { loadBillingAccounts } from '../../../domain/tenants/org/billing-account.ts';
import {
  billingAccountResource,
  createOrg,
  deleteOrg,
  findRequestedOrg,
  listOrgs,
  orgResource,
  updateOrg,
} from '../../../domain/tenants/org/org.ts';
import { describeField } from '../../schema/fields.ts';
import { addViewerList } from '../../schema/lists.ts';
import { addDeletions, addMutations } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import { BillingAccount, Org } from '../../schema/types.ts';

objectType(BillingAccount, billingAccountResource);

objectType(Org, orgResource, (t) => ({
  billingAccount: t.field({
    type: BillingAccount,
    nullable: true,
    description: 'The account that pays for the org.',
    resolve: ({ id }, _args, { find }) => find(loadBillingAccounts, id),
  }),
}));

builder.queryFields((t) => ({
  org: t.field({
    ...describeField(findRequestedOrg),
    type: Org,
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'The id of the org.' }) },
    resolve: (_root, key, { call }) => findRequestedOrg(call, key),
  }),
}));

addMutations('org', Org, { createOrg, updateOrg });
addDeletions({ deleteOrg });

addViewerList('Query', 'orgs', Org, listOrgs);
