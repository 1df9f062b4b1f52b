import type { WatchSchema } from '../../domain/integration/integration-content.ts';
import { WATCH_SCHEMA } from '../../domain/integration/integration-content-input.ts';
import { builder } from '../schema/schema-builder.ts';

const nullable = true;

type WatchAllObjectsShape = WatchSchema['allObjects'];
type SchemaChangeShape = NonNullable<WatchAllObjectsShape['fieldCreated']>;

const SchemaChange = builder.objectRef<SchemaChangeShape>('SchemaChange').implement({
  description: 'A kind of change of fields that is told.',
  fields: (t) => ({
    enabled: t.exposeString('enabled', {
      description: 'Always `always`: a kind that is listed is told.',
    }),
  }),
});

const WatchAllObjects = builder.objectRef<WatchAllObjectsShape>('WatchAllObjects').implement({
  description: 'What is told of every object.',
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
      description: 'Fields that are described in another way.',
      resolve: ({ fieldChanged }) => fieldChanged,
    }),
  }),
});

export const WatchSchemaSpec = builder.objectRef<WatchSchema>('WatchSchemaSpec').implement({
  description: WATCH_SCHEMA,
  fields: (t) => ({
    destination: t.exposeString('destination', {
      description: 'The name of the destination that is told.',
    }),
    schedule: t.exposeString('schedule', {
      nullable,
      description: 'When it is looked: cron, in UTC; null: once a day.',
    }),
    allObjects: t.field({
      type: WatchAllObjects,
      description: 'What is told of every object.',
      resolve: ({ allObjects }) => allObjects,
    }),
  }),
});
