/** The events that an integration wants. */
import type {
  AssociationChangeEvent,
  EventToggle as EventToggleShape,
  SubscribeObject,
  UpdateEvent,
} from '../../domain/integration/integration-content.ts';
import { ENABLED } from '../../domain/integration/integration-content-input.ts';
import { builder } from '../schema/schema-builder.ts';

const nullable = true;
const enabled = { description: ENABLED };

const EventToggle = builder.objectRef<EventToggleShape>('EventToggle').implement({
  description: 'A kind of event that is listened to.',
  fields: (t) => ({ enabled: t.exposeString('enabled', enabled) }),
});

const UpdateEventSpec = builder.objectRef<UpdateEvent>('UpdateEventSpec').implement({
  description: 'Changes that are listened to.',
  fields: (t) => ({
    enabled: t.exposeString('enabled', enabled),
    watchFieldsAuto: t.exposeString('watchFieldsAuto', {
      nullable,
      description: 'all or selected: which fields are watched without being named.',
    }),
    requiredWatchFields: t.exposeStringList('requiredWatchFields', {
      description: 'Only changes of these fields are events.',
    }),
  }),
});

const AssociationChangeEventSpec = builder
  .objectRef<AssociationChangeEvent>('AssociationChangeEventSpec')
  .implement({
    description: 'Changes of associations that are listened to.',
    fields: (t) => ({
      enabled: t.exposeString('enabled', enabled),
      includeFullRecords: t.exposeBoolean('includeFullRecords', {
        description: 'Events carry the associated records.',
      }),
    }),
  });

const SubscribeObjectSpec = builder.objectRef<SubscribeObject>('SubscribeObjectSpec').implement({
  description: 'An object whose events are wanted.',
  fields: (t) => ({
    objectName: t.exposeString('objectName', { description: "The provider's name of the object." }),
    destination: t.exposeString('destination', {
      nullable,
      description: 'The destination of the events.',
    }),
    inheritFieldsAndMapping: t.exposeBoolean('inheritFieldsAndMapping', {
      description: 'Fields and names are those of the read object.',
    }),
    createEvent: t.field({
      type: EventToggle,
      nullable,
      description: 'Records that are made.',
      resolve: ({ createEvent }) => createEvent,
    }),
    updateEvent: t.field({
      type: UpdateEventSpec,
      nullable,
      description: 'Records that are changed.',
      resolve: ({ updateEvent }) => updateEvent,
    }),
    deleteEvent: t.field({
      type: EventToggle,
      nullable,
      description: 'Records that are deleted.',
      resolve: ({ deleteEvent }) => deleteEvent,
    }),
    associationChangeEvent: t.field({
      type: AssociationChangeEventSpec,
      nullable,
      description: 'Associations that change.',
      resolve: ({ associationChangeEvent }) => associationChangeEvent,
    }),
    otherEvents: t.exposeStringList('otherEvents', {
      description: "Further events, by the provider's names.",
    }),
  }),
});

export const SubscribeSpec = builder
  .objectRef<{ objects: SubscribeObject[] }>('SubscribeSpec')
  .implement({
    description: 'Events that are wanted.',
    fields: (t) => ({
      objects: t.field({
        type: [SubscribeObjectSpec],
        description: 'The objects, each once.',
        resolve: ({ objects }) => objects,
      }),
    }),
  });
