import {
  createDestination,
  deleteDestination,
  rotateDestinationSecret,
  updateDestination,
} from '../../domain/events/destination.ts';
import {
  destinationFilters,
  EXCLUSIVE_DESTINATION_FILTERS,
  listDestinations,
} from '../../domain/events/destination-list.ts';
import { destinationResource } from '../../domain/events/destination-resource.ts';
import { readSigningSecret, readTargetValues } from '../../domain/events/destination-secret.ts';
import { describeField } from '../schema/fields.ts';
import { addList } from '../schema/lists.ts';
import { addDeletions, addMutation, addMutations, describeResult } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { builder } from '../schema/schema-builder.ts';
import { Destination, Project } from '../schema/types.ts';

objectType(Destination, destinationResource, (t) => ({
  signingSecret: t.string({
    ...describeField(readSigningSecret),
    nullable: true,
    resolve: (destination, _args, { find }) => find(readSigningSecret, destination),
  }),
  urlWithValues: t.string({
    ...describeField(readTargetValues, '`url` with the values of its query. Null for a stream.'),
    nullable: true,
    resolve: async (destination, _args, { find }) =>
      (await find(readTargetValues, destination)).url,
  }),
  headerValues: t.field({
    ...describeField(readTargetValues, 'Values of `headers` by name. Null if `headers` is null.'),
    type: 'JSONObject',
    nullable: true,
    resolve: async (destination, _args, { find }) =>
      (await find(readTargetValues, destination)).headers,
  }),
}));

addList(Project, 'destinations', Destination, listDestinations, {
  filters: destinationFilters,
  exclusive: EXCLUSIVE_DESTINATION_FILTERS,
});

const CreateDestinationPayload = builder
  .objectRef<Awaited<ReturnType<typeof createDestination>>>('CreateDestinationPayload')
  .implement({
    description:
      'Result of `createDestination`: the destination, and the secret that verifies its messages.',
    fields: (t) => ({
      destination: t.expose('destination', {
        type: Destination,
        description: 'The destination. Its id is used in routes, its name in integrations.',
      }),
      signingSecret: t.exposeString('signingSecret', {
        nullable: true,
        description: `The secret that signs every message. Null for a stream. Later it is shown only with the scope \`${readSigningSecret.needs}\`.`,
      }),
    }),
  });

const RotateDestinationSecretPayload = builder
  .objectRef<Awaited<ReturnType<typeof rotateDestinationSecret>>>('RotateDestinationSecretPayload')
  .implement({
    description: describeResult('rotateDestinationSecret'),
    fields: (t) => ({
      destination: t.expose('destination', {
        type: Destination,
        description: 'The destination with its new secret.',
      }),
      signingSecret: t.exposeString('signingSecret', {
        description: 'The new secret that signs every message.',
      }),
    }),
  });

addMutations('destination', Destination, { updateDestination });
addMutation('createDestination', createDestination, CreateDestinationPayload);
addMutation('rotateDestinationSecret', rotateDestinationSecret, RotateDestinationSecretPayload);
addDeletions({ deleteDestination });
