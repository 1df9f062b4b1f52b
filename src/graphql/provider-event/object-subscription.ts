import type { ObjectSubscriptionView } from '../../domain/provider-event/object-subscription.ts';
import { byId } from '../../domain/scope.ts';
import { enumType } from '../schema/inputs.ts';
import { builder } from '../schema/schema-builder.ts';
import { Destination } from '../schema/types.ts';

const nullable = true;

const SubscriptionStatus = enumType(
  'SubscriptionStatus',
  'Whether a subscription at a provider works.',
  {
    PENDING:
      'It is being set up, or a person has to set it up at the provider: no event has come yet.',
    ACTIVE: 'The provider sends its events.',
    FAILED: 'It could not be set up; `error` says why. It is tried again.',
    UNSUPPORTED: 'The provider does not send such events.',
  },
);

const ProviderEventKind = enumType('ProviderEventKind', 'What has happened at a provider.', {
  CREATE: 'A record is new.',
  UPDATE: 'A record has changed.',
  DELETE: 'A record is gone.',
  ASSOCIATION_UPDATE: 'Two records were associated, or no longer are.',
  OTHER: "An event that only the provider's own name describes.",
});

export const ObjectSubscription = builder
  .objectRef<ObjectSubscriptionView>('ObjectSubscription')
  .implement({
    description: 'An object whose changes at the provider an installation is told of.',
    fields: (t) => ({
      objectName: t.exposeString('objectName', {
        description: "The provider's name of the object, like `contacts`.",
      }),
      mappedObjectName: t.exposeString('mappedObjectName', {
        nullable,
        description: 'The name that the integration maps the object to; null if there is none.',
      }),
      destination: t.field({
        type: Destination,
        nullable,
        description:
          'Where its events are delivered; null if the integration names none that exists.',
        resolve: ({ destinationId }, _args, { find }) =>
          destinationId === null ? null : find(byId('Destination'), destinationId),
      }),
      kinds: t.field({
        type: [ProviderEventKind],
        description: 'The events that it is told of.',
        resolve: ({ kinds }) => kinds,
      }),
      status: t.field({
        type: SubscriptionStatus,
        description: 'Whether it works.',
        resolve: ({ status }) => status,
      }),
      error: t.exposeString('error', {
        nullable,
        description: 'Why it does not work, for people; null while it does.',
      }),
      lastEventTime: t.field({
        type: 'DateTime',
        nullable,
        description: 'When the last event that was delivered happened; null before the first.',
        resolve: ({ lastEventTime }) => lastEventTime,
      }),
      eventCount: t.exposeInt('eventCount', { description: 'How many events were delivered.' }),
    }),
  });
