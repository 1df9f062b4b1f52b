import { createdFields, updateTimeField } from '../schema/fields.ts';
import { Node } from '../schema/node-field.ts';
import { BillingAccount } from '../schema/types.ts';

BillingAccount.implement({
  description: 'The account that pays for an org.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    displayName: t.exposeString('displayName', { description: 'The name that people see.' }),
    billingProvider: t.exposeString('billingProvider', {
      description: 'The service that takes the payments; `none` until one is connected.',
    }),
    billingProviderRef: t.exposeString('billingProviderRef', {
      description: 'The id of the account at that service.',
    }),
    updateTime: updateTimeField(t),
  }),
});
