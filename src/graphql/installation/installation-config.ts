import {
  type BackfillConfig as BackfillConfigShape,
  configOf,
  type ReadConfig,
  type WriteConfig,
} from '../../domain/installation/installation-config.ts';
import { FieldMapping } from '../integration/integration-content.ts';
import { createdFields } from '../schema/fields.ts';
import { Node } from '../schema/node-field.ts';
import { builder } from '../schema/schema-builder.ts';
import { InstallationConfig } from '../schema/types.ts';

const nullable = true;

const BackfillConfig = builder.objectRef<BackfillConfigShape>('BackfillConfig').implement({
  description: 'How far back the first read goes: exactly one of days and fullHistory is set.',
  fields: (t) => ({
    days: t.exposeInt('days', {
      nullable,
      description: 'So many days back; 0 reads nothing old.',
    }),
    fullHistory: t.exposeBoolean('fullHistory', { nullable, description: 'Everything there is.' }),
  }),
});

const InstallationReadConfig = builder.objectRef<ReadConfig>('InstallationReadConfig').implement({
  description: 'Choices for one object to read.',
  fields: (t) => ({
    objectName: t.exposeString('objectName', { description: "The provider's name of the object." }),
    selectedFields: t.exposeStringList('selectedFields', {
      description: 'Fields that are read beside the required ones.',
    }),
    fieldMappings: t.field({
      type: [FieldMapping],
      description: 'Fields of the provider for those that the integration leaves to be mapped.',
      resolve: ({ fieldMappings }) => fieldMappings,
    }),
    schedule: t.exposeString('schedule', {
      nullable,
      description: "Cron of five fields in UTC; null where the integration's holds.",
    }),
    destination: t.exposeString('destination', {
      nullable,
      description: "The destination of the records; null where the integration's holds.",
    }),
    disabled: t.exposeBoolean('disabled', { description: 'The object is not read at all.' }),
    backfill: t.field({
      type: BackfillConfig,
      nullable,
      description: 'How far back the first read goes.',
      resolve: ({ backfill }) => backfill,
    }),
  }),
});

const InstallationWriteConfig = builder
  .objectRef<WriteConfig>('InstallationWriteConfig')
  .implement({
    description: 'Choices for one object to write.',
    fields: (t) => ({
      objectName: t.exposeString('objectName', {
        description: "The provider's name of the object.",
      }),
      deletionEnabled: t.exposeBoolean('deletionEnabled', {
        description: 'Its records may be deleted.',
      }),
    }),
  });

InstallationConfig.implement({
  description: "The customer's choices on top of the integration. Never changed.",
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    read: t.field({
      type: [InstallationReadConfig],
      description: 'The objects that are read.',
      resolve: (config) => configOf(config).read,
    }),
    write: t.field({
      type: [InstallationWriteConfig],
      description: 'The objects that may be written.',
      resolve: (config) => configOf(config).write,
    }),
  }),
});
