/** What a customer chooses of the events of an object. */
import type { SubscribeConfig } from '../../domain/installation/installation-config.ts';
import { nameOfWord } from '../../domain/resource.ts';
import { FieldsAuto } from '../integration/spec-enums.ts';
import { enumType } from '../schema/inputs.ts';
import { builder } from '../schema/schema-builder.ts';

const nullable = true;

const EventChoice = enumType('EventChoice', 'Whether there are events of a kind.', {
  ALWAYS: 'Events are sent, as the integration says.',
  NEVER: 'No events are sent for the installation.',
});

type Toggle = NonNullable<SubscribeConfig['createEvent']>;
type Update = NonNullable<SubscribeConfig['updateEvent']>;

const EventToggleChoice = builder.objectRef<Toggle>('EventToggleChoice').implement({
  description: 'Whether there are events of a kind.',
  fields: (t) => ({
    enabled: t.field({
      type: EventChoice,
      description: 'Whether events of this kind are sent.',
      resolve: ({ enabled }) => enabled,
    }),
  }),
});

const UpdateEventChoice = builder.objectRef<Update>('UpdateEventChoice').implement({
  description: 'Which updates are events.',
  fields: (t) => ({
    enabled: t.field({
      type: EventChoice,
      description: 'Whether events of this kind are sent.',
      resolve: ({ enabled }) => enabled,
    }),
    watchFieldsAuto: t.field({
      type: FieldsAuto,
      nullable,
      description: 'If given, every update is an event; else null.',
      resolve: ({ watchFieldsAuto }) => watchFieldsAuto && nameOfWord(watchFieldsAuto),
    }),
    requiredWatchFields: t.exposeStringList('requiredWatchFields', {
      description: 'The fields whose changes are events; empty if it is as the integration says.',
    }),
  }),
});

export const InstallationSubscribeConfig = builder
  .objectRef<SubscribeConfig>('InstallationSubscribeConfig')
  .implement({
    description: 'The choices of the customer for the events of one object.',
    fields: (t) => ({
      objectName: t.exposeString('objectName', {
        description: "The provider's name of the object, like `contacts`.",
      }),
      destination: t.exposeString('destination', {
        nullable,
        description: "The name of the destination of the events; null if the integration's holds.",
      }),
      inheritFieldsAndMapping: t.exposeBoolean('inheritFieldsAndMapping', {
        nullable,
        description:
          'Whether fields and names are those of the read object; null if the integration decides.',
      }),
      createEvent: t.field({
        type: EventToggleChoice,
        nullable,
        description: 'Events of new records; null if it is as the integration says.',
        resolve: ({ createEvent }) => createEvent,
      }),
      updateEvent: t.field({
        type: UpdateEventChoice,
        nullable,
        description: 'Events of changed records; null if it is as the integration says.',
        resolve: ({ updateEvent }) => updateEvent,
      }),
      deleteEvent: t.field({
        type: EventToggleChoice,
        nullable,
        description: 'Events of deleted records; null if it is as the integration says.',
        resolve: ({ deleteEvent }) => deleteEvent,
      }),
      otherEvents: t.exposeStringList('otherEvents', {
        nullable,
        description: "Which of the integration's other events are sent; null for all.",
      }),
    }),
  });
