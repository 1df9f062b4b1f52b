import type { WatchSchema } from '../../domain/integration/integration-content.ts';
import { WATCH_SCHEMA } from '../../domain/integration/integration-content-input.ts';
import { nameOfWord } from '../../domain/resource.ts';
import { builder } from '../schema/schema-builder.ts';
import { AlwaysEnabled } from './spec-enums.ts';

const nullable = true;

type WatchAllObjectsShape = WatchSchema['allObjects'];
type SchemaChangeShape = NonNullable<WatchAllObjectsShape['fieldCreated']>;

const SchemaChange = builder.objectRef<SchemaChangeShape>('SchemaChange').implement({
  description: 'A kind of change of fields that messages tell.',
  fields: (t) => ({
    enabled: t.field({
      type: AlwaysEnabled,
      description: 'A kind that is listed is sent for every installation.',
      resolve: ({ enabled }) => nameOfWord(enabled),
    }),
  }),
});

const WatchAllObjects = builder.objectRef<WatchAllObjectsShape>('WatchAllObjects').implement({
  description: 'The changes that messages tell of every object.',
  fields: (t) => ({
    fieldCreated: t.field({
      type: SchemaChange,
      nullable,
      description: 'New fields.',
      resolve: ({ fieldCreated }) => fieldCreated,
    }),
    fieldDeleted: t.field({
      type: SchemaChange,
      nullable,
      description: 'Fields that are gone.',
      resolve: ({ fieldDeleted }) => fieldDeleted,
    }),
    fieldChanged: t.field({
      type: SchemaChange,
      nullable,
      description: 'Fields whose description at the provider has changed.',
      resolve: ({ fieldChanged }) => fieldChanged,
    }),
  }),
});

export const WatchSchemaSpec = builder.objectRef<WatchSchema>('WatchSchemaSpec').implement({
  description: WATCH_SCHEMA,
  fields: (t) => ({
    destination: t.exposeString('destination', {
      description: 'The name of the destination that gets the messages.',
    }),
    schedule: t.exposeString('schedule', {
      nullable,
      description: 'When fields are compared: a cron expression in UTC; null: once a day.',
    }),
    allObjects: t.field({
      type: WatchAllObjects,
      description: 'The changes that messages tell of every object.',
      resolve: ({ allObjects }) => allObjects,
    }),
  }),
});
