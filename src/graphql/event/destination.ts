import {
  createDestination,
  deleteDestination,
  listDestinations,
  rotateDestinationSecret,
  updateDestination,
} from '../../domain/event/destination.ts';
import { signingSecretOf } from '../../domain/event/destination-secret.ts';
import { createdFields, listField, projectField, updateTimeField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { needing } from '../schema/needing.ts';
import { Node } from '../schema/node-field.ts';
import { answer, DeletePayload } from '../schema/payloads.ts';
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
      ...needing(signingSecretOf, 'Signs every message (Standard Webhooks, whsec_...).'),
      nullable: true,
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
        description: `Shown here, and later only with the scope \`${signingSecretOf.needs}\`.`,
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
  createDestination: mutationField(t, createDestination, {
    type: CreateDestinationPayload,
    description: 'Makes a destination.',
  }),
  updateDestination: mutationField(t, updateDestination, {
    type: answer('UpdateDestinationPayload', 'destination', Destination, 'As it is now.'),
    description: 'Changes a destination; enabling it again makes what it is owed due now.',
  }),
  rotateDestinationSecret: mutationField(t, rotateDestinationSecret, {
    type: RotateDestinationSecretPayload,
    description: 'Gives a destination a new secret; the one before signs beside it for a day.',
  }),
  deleteDestination: mutationField(t, deleteDestination, {
    type: DeletePayload,
    description: 'Deletes a destination and its routes; what it was still owed has failed.',
  }),
}));
