import {
  createDestination,
  createDestinationInput,
  deleteDestination,
  deleteDestinationInput,
  listDestinations,
  rotateDestinationSecret,
  rotateDestinationSecretInput,
  updateDestination,
  updateDestinationInput,
} from '../../domain/event/destination.ts';
import { signingSecretOf } from '../../domain/event/destination-secret.ts';
import { createdFields, listField, projectField, updateTimeField } from '../schema/fields.ts';
import { enumType, inputArg, uncheckedInputArg } from '../schema/inputs.ts';
import { Node } from '../schema/node-field.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Destination, Destinations, Project } from '../schema/types.ts';

const DestinationType = enumType('DestinationType', 'What a destination is.', {
  WEBHOOK: 'Messages are posted to a URL, signed by Standard Webhooks.',
});

const DestinationStatus = enumType('DestinationStatus', 'Whether a destination is sent to.', {
  ENABLED: 'What it is owed is sent.',
  DISABLED: 'What it is owed is kept until it is enabled again.',
});

Destination.implement({
  description: 'Where messages are sent.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    name: t.exposeString('name', { description: 'Its name, unique in the project.' }),
    type: t.expose('type', { type: DestinationType, description: 'What it is.' }),
    url: t.exposeString('url', {
      nullable: true,
      description: 'For a webhook: the URL that is posted to.',
    }),
    headers: t.expose('headers', {
      type: 'JSONObject',
      nullable: true,
      description: 'HTTP headers that are sent with every message, by name.',
    }),
    status: t.expose('status', { type: DestinationStatus, description: 'Whether it is sent to.' }),
    disabledReason: t.exposeString('disabledReason', {
      nullable: true,
      description: 'Why it is disabled; null where it is not.',
    }),
    signingSecret: t.string({
      nullable: true,
      description:
        'Signs every message (Standard Webhooks, whsec_...). Needs the scope credentials:read.',
      resolve: (destination, _args, { find }) => find(signingSecretOf, destination),
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'destinations', (t) =>
  listField(t, Destinations, {
    description: 'Destinations, newest first.',
    list: listDestinations,
  }),
);

type WithSecret = Awaited<ReturnType<typeof createDestination>>;

const CreateDestinationPayload = builder
  .objectRef<WithSecret>('CreateDestinationPayload')
  .implement({
    description: 'The answer of createDestination.',
    fields: (t) => ({
      destination: t.expose('destination', {
        type: Destination,
        description: 'The new destination.',
      }),
      signingSecret: t.exposeString('signingSecret', {
        nullable: true,
        description: 'Shown here, and later only with the scope credentials:read.',
      }),
    }),
  });

const RotateDestinationSecretPayload = builder
  .objectRef<WithSecret>('RotateDestinationSecretPayload')
  .implement({
    description: 'The answer of rotateDestinationSecret.',
    fields: (t) => ({
      destination: t.expose('destination', {
        type: Destination,
        description: 'The destination as it is now.',
      }),
      signingSecret: t.exposeString('signingSecret', { description: 'The new secret.' }),
    }),
  });

builder.mutationFields((t) => ({
  createDestination: t.field({
    type: CreateDestinationPayload,
    description: 'Makes a destination.',
    args: uncheckedInputArg(t.arg, createDestinationInput),
    resolve: (_root, { input }, { call }) => createDestination(call, input),
  }),
  updateDestination: t.field({
    type: payload('UpdateDestinationPayload', 'destination', Destination, 'As it is now.'),
    description: 'Changes a destination; enabling it again makes what it is owed due now.',
    args: uncheckedInputArg(t.arg, updateDestinationInput),
    resolve: async (_root, { input }, { call }) => ({
      destination: await updateDestination(call, input),
    }),
  }),
  rotateDestinationSecret: t.field({
    type: RotateDestinationSecretPayload,
    description: 'Gives a destination a new secret; the one before signs beside it for a day.',
    args: inputArg(t.arg, rotateDestinationSecretInput),
    resolve: (_root, { input }, { call }) => rotateDestinationSecret(call, input),
  }),
  deleteDestination: t.field({
    type: DeletePayload,
    description: 'Deletes a destination and its routes; what it was still owed has failed.',
    args: inputArg(t.arg, deleteDestinationInput),
    resolve: (_root, { input }, { call }) => deleteDestination(call, input),
  }),
}));
