import type { WriteFieldSetting } from '../../domain/installation/choice/write-field-setting.ts';
import {
  configOf,
  type ProxyConfig,
  type ReadConfig,
  type WriteConfig,
} from '../../domain/installation/installation-config.ts';
import { nameOfWord } from '../../domain/resource.ts';
import { FieldMapping } from '../integration/integration-content.ts';
import { FieldsAuto } from '../integration/spec-enums.ts';
import { createdFields } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { Node } from '../schema/node-field.ts';
import { builder } from '../schema/schema-builder.ts';
import { InstallationConfig } from '../schema/types.ts';
import { InstallationSubscribeConfig } from './event-choice.ts';
import { DynamicMapping, FieldFilter, ValueMapping } from './read-choice.ts';

const nullable = true;

type Backfill = NonNullable<ReadConfig['backfill']>;

const BackfillConfig = builder.objectRef<Backfill>('BackfillConfig').implement({
  description: 'How far back the first read goes: exactly one of days and fullHistory is set.',
  fields: (t) => ({
    days: t.exposeInt('days', {
      nullable,
      description: 'The days before now that the first read covers; 0 reads no earlier changes.',
    }),
    fullHistory: t.exposeBoolean('fullHistory', {
      nullable,
      description: 'True: the first read covers all records.',
    }),
    fieldFilters: t.field({
      type: [FieldFilter],
      description:
        'Conditions on fields that hold for the first read; empty if those of the object do.',
      resolve: ({ fieldFilters = [] }) => fieldFilters,
    }),
  }),
});

const InstallationReadConfig = builder.objectRef<ReadConfig>('InstallationReadConfig').implement({
  description: 'The choices of the customer for one object to read.',
  fields: (t) => ({
    objectName: t.exposeString('objectName', {
      description: "The provider's name of the object, like `contacts`.",
    }),
    selectedFields: t.exposeStringList('selectedFields', {
      description: 'The optional fields that are read beside the required ones.',
    }),
    fieldMappings: t.field({
      type: [FieldMapping],
      description:
        'The fields of the provider for the names that the integration leaves to be mapped.',
      resolve: ({ fieldMappings }) => fieldMappings,
    }),
    selectedFieldsAuto: t.field({
      type: FieldsAuto,
      nullable,
      description:
        'If given, every field that may be selected is read, also those that the account gets later; else null.',
      resolve: ({ selectedFieldsAuto }) => selectedFieldsAuto && nameOfWord(selectedFieldsAuto),
    }),
    dynamicMappings: t.field({
      type: [DynamicMapping],
      description: 'Names to map beside those of the integration.',
      resolve: ({ dynamicMappings = [] }) => dynamicMappings,
    }),
    valueMappings: t.field({
      type: [ValueMapping],
      description: 'Values that stand for values of the provider.',
      resolve: ({ valueMappings = [] }) => valueMappings,
    }),
    fieldFilters: t.field({
      type: [FieldFilter],
      description: 'Only records are read that meet all of these conditions.',
      resolve: ({ fieldFilters = [] }) => fieldFilters,
    }),
    schedule: t.exposeString('schedule', {
      nullable,
      description: "A cron expression of five fields, in UTC; null if the integration's holds.",
    }),
    destination: t.exposeString('destination', {
      nullable,
      description: "The name of the destination of the records; null if the integration's holds.",
    }),
    disabled: t.exposeBoolean('disabled', { description: 'True: the object is not read.' }),
    backfill: t.field({
      type: BackfillConfig,
      nullable,
      description: "How far back the first read goes; null if the integration's holds.",
      resolve: ({ backfill }) => backfill,
    }),
  }),
});

const WriteOccasion = enumType('WriteOccasion', 'Whether a field is written.', {
  ALWAYS: 'It is written.',
  NEVER: 'It is left out of the write; the log of the operation names it.',
  IF_EMPTY: "It is written if the provider's record has no value for it.",
});

const FieldSetting = builder.objectRef<WriteFieldSetting>('WriteFieldSetting').implement({
  description: 'How a field is written.',
  fields: (t) => ({
    fieldName: t.exposeString('fieldName', {
      description: "The name of the field: the mapped one or the provider's.",
    }),
    default: t.field({
      type: 'JSON',
      nullable,
      description: 'Written if a record has no value for the field; null if nothing is.',
      resolve: (setting) => setting.default,
    }),
    defaultOnUpdate: t.boolean({
      description: 'Whether the default is written by updates, too.',
      resolve: ({ defaultOnUpdate = true }) => defaultOnUpdate,
    }),
    writeOnCreate: t.field({
      type: WriteOccasion,
      description: 'Whether it is written when a record is created.',
      resolve: ({ writeOnCreate }) => writeOnCreate,
    }),
    writeOnUpdate: t.field({
      type: WriteOccasion,
      description: 'Whether it is written when a record is updated.',
      resolve: ({ writeOnUpdate }) => writeOnUpdate,
    }),
  }),
});

const InstallationWriteConfig = builder
  .objectRef<WriteConfig>('InstallationWriteConfig')
  .implement({
    description: 'The choices of the customer for one object to write.',
    fields: (t) => ({
      objectName: t.exposeString('objectName', {
        description: "The provider's name of the object, like `contacts`.",
      }),
      deletionEnabled: t.exposeBoolean('deletionEnabled', {
        description: 'Whether records of the object may be deleted.',
      }),
      fields: t.field({
        type: [FieldSetting],
        description: 'How fields are written; others are written as they are given.',
        // A config that was stored before there were settings has none.
        resolve: ({ fields }) => fields ?? [],
      }),
    }),
  });

const InstallationProxyConfig = builder
  .objectRef<ProxyConfig>('InstallationProxyConfig')
  .implement({
    description: 'The choice of the customer for requests to the provider.',
    fields: (t) => ({
      enabled: t.exposeBoolean('enabled', {
        description:
          'Whether requests are forwarded to the provider, if the integration does that.',
      }),
    }),
  });

InstallationConfig.implement({
  description:
    'The choices of the customer for an installation. A config never changes: an update creates a new one.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    read: t.field({
      type: [InstallationReadConfig],
      description: 'The choices for each object that is read.',
      resolve: (config) => configOf(config).read,
    }),
    write: t.field({
      type: [InstallationWriteConfig],
      description: 'The choices for each object that may be written.',
      resolve: (config) => configOf(config).write,
    }),
    subscribe: t.field({
      type: [InstallationSubscribeConfig],
      description: "The choices for each object whose events differ from the integration's.",
      resolve: (config) => configOf(config).subscribe ?? [],
    }),
    proxy: t.field({
      type: InstallationProxyConfig,
      nullable,
      description: "The choice for forwarded requests; null if the integration's holds.",
      resolve: (config) => configOf(config).proxy ?? null,
    }),
    createdBy: t.exposeString('createdBy', {
      nullable,
      description: 'Who chose it, in words of the caller; null: who created the installation.',
    }),
  }),
});
