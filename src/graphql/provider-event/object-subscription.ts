import {
  type ObjectSubscriptionView,
  objectSubscriptionResource,
} from '../../domain/provider-event/object-subscription.ts';
import { byId } from '../../domain/scope.ts';
import { objectType } from '../schema/object-type.ts';
import { builder } from '../schema/schema-builder.ts';
import { Destination } from '../schema/types.ts';

export const ObjectSubscription = objectType(
  builder.objectRef<ObjectSubscriptionView>('ObjectSubscription'),
  objectSubscriptionResource,
  (t) => ({
    destination: t.field({
      type: Destination,
      nullable: true,
      description: 'The destination of its events. Null if the integration names none that exists.',
      resolve: ({ destinationId }, _args, { find }) =>
        destinationId === null ? null : find(byId('Destination'), destinationId),
    }),
  }),
);
