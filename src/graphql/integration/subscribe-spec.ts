/** The events that an integration wants. */
import type {
  AssociationChangeEvent,
  EventToggle as EventToggleShape,
  SubscribeObject,
  UpdateEvent,
} from '../../domain/integration/integration-content.ts';
import { ENABLED } from '../../domain/integration/integration-content-input.ts';
import { nameOfWord } from '../../domain/resource.ts';
import { builder } from '../schema/schema-builder.ts';
import { AlwaysEnabled, WatchFieldsAuto } from './spec-enums.ts';

const nullable = true;

/** The member `enabled` of an event that is listed. */
const enabledOption = {
  type: AlwaysEnabled,
  description: ENABLED,
  resolve: ({ enabled }: EventToggleShape) => nameOfWord(enabled),
};

const EventToggle = builder.objectRef<EventToggleShape>('EventToggle').implement({
  description: 'An event that the gateway subscribes to.',
  fields: (t) => ({ enabled: t.field(enabledOption) }),
});

const UpdateEventSpec = builder.objectRef<UpdateEvent>('UpdateEventSpec').implement({
  description: 'The changes of records that the gateway subscribes to.',
  fields: (t) => ({
    enabled: t.field(enabledOption),
    watchFieldsAuto: t.field({
      type: WatchFieldsAuto,
      nullable,
      description: 'The fields to watch; null if requiredWatchFields names them.',
      resolve: ({ watchFieldsAuto }) => watchFieldsAuto && nameOfWord(watchFieldsAuto),
    }),
    requiredWatchFields: t.exposeStringList('requiredWatchFields', {
      description: 'The fields to watch: only their changes are events.',
    }),
  }),
});

const AssociationChangeEventSpec = builder
  .objectRef<AssociationChangeEvent>('AssociationChangeEventSpec')
  .implement({
    description: 'The changes of associations that the gateway subscribes to.',
    fields: (t) => ({
      enabled: t.field(enabledOption),
      includeFullRecords: t.exposeBoolean('includeFullRecords', {
        description: 'Whether events carry the associated records.',
      }),
    }),
  });

const SubscribeObjectSpec = builder.objectRef<SubscribeObject>('SubscribeObjectSpec').implement({
  description: 'An object whose changes the gateway subscribes to.',
  fields: (t) => ({
    objectName: t.exposeString('objectName', {
      description: "The provider's name of the object, like `contacts`.",
    }),
    destination: t.exposeString('destination', {
      nullable,
      description: 'The name of the destination that gets the events.',
    }),
    inheritFieldsAndMapping: t.exposeBoolean('inheritFieldsAndMapping', {
      description: 'Whether fields and names are those of the read object.',
    }),
    createEvent: t.field({
      type: EventToggle,
      nullable,
      description: 'Events of new records.',
      resolve: ({ createEvent }) => createEvent,
    }),
    updateEvent: t.field({
      type: UpdateEventSpec,
      nullable,
      description: 'Events of changed records.',
      resolve: ({ updateEvent }) => updateEvent,
    }),
    deleteEvent: t.field({
      type: EventToggle,
      nullable,
      description: 'Events of deleted records.',
      resolve: ({ deleteEvent }) => deleteEvent,
    }),
    associationChangeEvent: t.field({
      type: AssociationChangeEventSpec,
      nullable,
      description: 'Events of changed associations.',
      resolve: ({ associationChangeEvent }) => associationChangeEvent,
    }),
    otherEvents: t.exposeStringList('otherEvents', {
      description: 'Further events, by the names that the provider has for them.',
    }),
  }),
});

export const SubscribeSpec = builder
  .objectRef<{ objects: SubscribeObject[] }>('SubscribeSpec')
  .implement({
    description: 'The objects whose changes the gateway subscribes to.',
    fields: (t) => ({
      objects: t.field({
        type: [SubscribeObjectSpec],
        description: 'The objects, each once.',
        resolve: ({ objects }) => objects,
      }),
    }),
  });
