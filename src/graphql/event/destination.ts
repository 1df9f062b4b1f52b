import {
  createDestination,
  deleteDestination,
  listDestinations,
  rotateDestinationSecret,
  updateDestination,
} from '../../domain/event/destination.ts';
import {
  maskedTarget,
  signingSecretOf,
  targetValuesOf,
} from '../../domain/event/destination-secret.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { createdFields, listField, projectField, updateTimeField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { needing } from '../schema/needing.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Destination, Destinations, Project } from '../schema/types.ts';

const DestinationType = enumType('DestinationType', 'How a destination gets its messages.', {
  WEBHOOK: 'Messages are posted to its URL and signed as Standard Webhooks says.',
  STREAM:
    'Messages are kept, in the order of their commits, for whoever reads them: by `messages`, or live by ' +
    'the subscription `streamMessages`.',
});

const DestinationStatus = enumType(
  'DestinationStatus',
  'Whether messages are sent to a destination.',
  {
    ENABLED: 'Messages are sent. A stream is always enabled.',
    DISABLED: 'Messages are not sent. They stay pending, and are sent when it is enabled again.',
  },
);

Destination.implement({
  description:
    'A receiver of messages: of the events that routes lead to it, and of records that are read. A webhook is sent them; ' +
    'a stream keeps them.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    name: t.exposeString('name', {
      description: 'Unique in the project: letters, digits and dashes.',
    }),
    type: t.expose('type', { type: DestinationType, description: 'How it gets its messages.' }),
    url: t.string({
      nullable: true,
      description:
        'The URL that messages are posted to, with `***` for each value of its query; null for a stream.',
      resolve: (destination) => maskedTarget(destination).url,
    }),
    headers: t.field({
      type: 'JSONObject',
      nullable: true,
      description:
        'HTTP headers that are sent with every message: `***` by name. Null without headers and for a stream.',
      resolve: (destination) => maskedTarget(destination).headers,
    }),
    status: t.expose('status', {
      type: DestinationStatus,
      description: 'Whether messages are sent to it.',
    }),
    disabledReason: t.exposeString('disabledReason', {
      nullable: true,
      description: 'Why it is disabled; null if it is enabled.',
    }),
    signingSecret: t.string({
      ...needing(
        signingSecretOf,
        'The secret that signs every message (Standard Webhooks, whsec_...); null for a stream.',
      ),
      nullable: true,
      resolve: (destination, _args, { find }) => find(signingSecretOf, destination),
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectFields(Destination, (t) => ({
  urlWithValues: t.string({
    ...needing(targetValuesOf, '`url` with the values of its query; null for a stream.'),
    nullable: true,
    resolve: async (destination, _args, { find }) => (await find(targetValuesOf, destination)).url,
  }),
  headerValues: t.field({
    ...needing(targetValuesOf, 'Values of `headers` by name; null if `headers` is.'),
    type: 'JSONObject',
    nullable: true,
    resolve: async (destination, _args, { find }) =>
      (await find(targetValuesOf, destination)).headers,
  }),
}));

builder.objectField(Project, 'destinations', (t) =>
  listField(t, Destinations, {
    description: 'Destinations, newest first.',
    args: parsedArgs(t.arg, searchFilters),
    list: listDestinations,
  }),
);

type Created = Awaited<ReturnType<typeof createDestination>>;
type Rotated = Awaited<ReturnType<typeof rotateDestinationSecret>>;

const CreateDestinationPayload = builder.objectRef<Created>('CreateDestinationPayload').implement({
  description:
    'The answer of createDestination: the destination, and the secret to check its messages by.',
  fields: (t) => ({
    destination: t.expose('destination', {
      type: Destination,
      description: 'The destination. Its id is used in routes, its name in integrations.',
    }),
    signingSecret: t.exposeString('signingSecret', {
      nullable: true,
      description: `The secret that signs every message; null for a stream. Later it is shown only with the scope \`${signingSecretOf.needs}\`.`,
    }),
  }),
});

const RotateDestinationSecretPayload = builder
  .objectRef<Rotated>('RotateDestinationSecretPayload')
  .implement({
    description: 'The answer of rotateDestinationSecret: the destination, and its new secret.',
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

builder.mutationFields((t) => ({
  createDestination: mutationField(t, createDestination, {
    type: CreateDestinationPayload,
    description:
      'Creates a destination: a webhook that is sent messages, or a stream that keeps them. Routes lead events to it, integrations name it for records.',
  }),
  updateDestination: mutationField(t, updateDestination, {
    type: payload(
      'UpdateDestinationPayload',
      'destination',
      Destination,
      'The destination with its new values.',
    ),
    description:
      'Changes a destination. If it is enabled again, its pending messages are sent now.',
  }),
  rotateDestinationSecret: mutationField(t, rotateDestinationSecret, {
    type: RotateDestinationSecretPayload,
    description: 'Gives a destination a new secret. For 24 hours the previous one signs too.',
  }),
  deleteDestination: mutationField(t, deleteDestination, {
    type: DeletePayload,
    description:
      'Deletes a destination and its routes. Its pending deliveries fail, and the messages of a stream are deleted.',
  }),
}));
