import { createdFields, updateTimeField } from '../schema/fields.ts';
import { Node } from '../schema/node-field.ts';
import { BillingAccount } from '../schema/types.ts';

BillingAccount.implement({
  description: 'Who pays for an org, and where.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    displayName: t.exposeString('displayName', { description: 'Its name, for people.' }),
    billingProvider: t.exposeString('billingProvider', {
      description: 'The service that takes the money; none until one is connected.',
    }),
    billingProviderRef: t.exposeString('billingProviderRef', {
      description: 'What that service knows it by.',
    }),
    updateTime: updateTimeField(t),
  }),
});
