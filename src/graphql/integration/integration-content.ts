/** What an integration does, as a revision holds it. */

import { valueTypeOfWord } from '../../domain/installation/shown-field.ts';
import {
  type BackfillPeriod as BackfillPeriodShape,
  backfillPeriod,
  PERIOD,
} from '../../domain/integration/backfill-period.ts';
import type {
  FieldMapping as FieldMappingShape,
  IntegrationContent as IntegrationContentShape,
  ReadObject,
  WriteObject,
} from '../../domain/integration/integration-content.ts';
import {
  ALWAYS_READ,
  ANY_FIELDS,
  VALUE_DEFAULTS,
  WATCH_SCHEMA,
} from '../../domain/integration/integration-content-input.ts';
import { nameOfWord } from '../../domain/resource.ts';
import { FieldValueType } from '../installation/object-metadata.ts';
import { builder } from '../schema/schema-builder.ts';
import { AlwaysEnabled, DeliveryMode, FieldsAuto } from './spec-enums.ts';
import { SubscribeSpec } from './subscribe-spec.ts';
import { WatchSchemaSpec } from './watch-schema-spec.ts';

const nullable = true;

export const FieldMapping = builder.objectRef<FieldMappingShape>('FieldMapping').implement({
  description: 'A field to read, and its name in messages.',
  fields: (t) => ({
    fieldName: t.exposeString('fieldName', {
      nullable,
      description:
        "The provider's name of the field; null if each installation maps a field to mapToName.",
    }),
    mapToName: t.exposeString('mapToName', {
      nullable,
      description: "The name of the field in messages and writes; null for the provider's name.",
    }),
    mapToDisplayName: t.exposeString('mapToDisplayName', {
      nullable,
      description: 'The name that people see.',
    }),
    default: t.string({
      nullable,
      description:
        "The provider's field for mapToName until an installation maps another; null if there is none.",
      resolve: (field) => field.default ?? null,
    }),
    prompt: t.string({
      nullable,
      description: 'What people are told when they map a field to mapToName.',
      resolve: (field) => field.prompt ?? null,
    }),
    valueType: t.field({
      type: FieldValueType,
      nullable,
      description: 'The type of the field in contracts; null if its accounts describe it.',
      resolve: ({ valueType }) => (valueType ? valueTypeOfWord(valueType) : null),
    }),
  }),
});

const BackfillPeriod = builder.objectRef<BackfillPeriodShape>('BackfillPeriod').implement({
  description: PERIOD,
  fields: (t) => ({
    days: t.exposeInt('days', { nullable, description: backfillPeriod.days.description ?? '' }),
    fullHistory: t.exposeBoolean('fullHistory', {
      nullable,
      description: backfillPeriod.fullHistory.description ?? '',
    }),
  }),
});

const BackfillSpec = builder
  .objectRef<NonNullable<ReadObject['backfill']>>('BackfillSpec')
  .implement({
    description: 'The first read of an object.',
    fields: (t) => ({
      defaultPeriod: t.field({
        type: BackfillPeriod,
        description: 'How far back it goes.',
        resolve: ({ defaultPeriod }) => defaultPeriod,
      }),
    }),
  });

const DeliverySpec = builder
  .objectRef<NonNullable<ReadObject['delivery']>>('DeliverySpec')
  .implement({
    description: 'How records that are read are delivered.',
    fields: (t) => ({
      mode: t.field({
        type: DeliveryMode,
        description: 'When records are sent.',
        resolve: ({ mode }) => nameOfWord(mode),
      }),
      pageSize: t.exposeInt('pageSize', {
        nullable,
        description:
          'The number of records in one message; null if each page of the provider is a message.',
      }),
    }),
  });

const ReadObjectSpec = builder.objectRef<ReadObject>('ReadObjectSpec').implement({
  description: 'An object to read, with its fields, schedule and destination.',
  fields: (t) => ({
    objectName: t.exposeString('objectName', {
      description: "The provider's name of the object, like `contacts`.",
    }),
    destination: t.exposeString('destination', {
      nullable,
      description: 'The name of the destination that gets the records.',
    }),
    schedule: t.exposeString('schedule', {
      nullable,
      description:
        'A cron expression of five fields, in UTC; null if the object is read only by triggerRead.',
    }),
    mapToName: t.exposeString('mapToName', {
      nullable,
      description: "The name of the object in messages and inputs; null for the provider's name.",
    }),
    mapToDisplayName: t.exposeString('mapToDisplayName', {
      nullable,
      description: 'The name that people see.',
    }),
    requiredFields: t.field({
      type: [FieldMapping],
      description: 'The fields that every installation reads.',
      resolve: ({ requiredFields }) => requiredFields,
    }),
    optionalFields: t.field({
      type: [FieldMapping],
      description: 'The fields that an installation may select.',
      resolve: ({ optionalFields }) => optionalFields,
    }),
    optionalFieldsAuto: t.field({
      type: FieldsAuto,
      nullable,
      description:
        'If given, an installation may select every field of the object; null if only optionalFields.',
      resolve: ({ optionalFieldsAuto }) => optionalFieldsAuto && nameOfWord(optionalFieldsAuto),
    }),
  }),
});

builder.objectFields(ReadObjectSpec, (t) => ({
  backfill: t.field({
    type: BackfillSpec,
    nullable,
    description:
      'The first read, for installations whose config does not say; null if it covers all records.',
    resolve: ({ backfill }) => backfill ?? null,
  }),
  delivery: t.field({
    type: DeliverySpec,
    nullable,
    description: 'How records of the object are delivered.',
    resolve: ({ delivery }) => delivery,
  }),
  enabled: t.field({
    type: AlwaysEnabled,
    nullable,
    description: ALWAYS_READ,
    resolve: ({ enabled }) => enabled && nameOfWord(enabled),
  }),
}));

const ReadSpec = builder.objectRef<{ objects: ReadObject[] }>('ReadSpec').implement({
  description: 'The objects that are read.',
  fields: (t) => ({
    objects: t.field({
      type: [ReadObjectSpec],
      description: 'The objects, each once.',
      resolve: ({ objects }) => objects,
    }),
  }),
});

const ValueDefaults = builder
  .objectRef<NonNullable<WriteObject['valueDefaults']>>('ValueDefaults')
  .implement({
    description: VALUE_DEFAULTS,
    fields: (t) => ({
      allowAnyFields: t.exposeBoolean('allowAnyFields', { description: ANY_FIELDS }),
    }),
  });

const WriteObjectSpec = builder.objectRef<WriteObject>('WriteObjectSpec').implement({
  description: 'An object that may be written.',
  fields: (t) => ({
    objectName: t.exposeString('objectName', {
      description: "The provider's name of the object, like `contacts`.",
    }),
    inheritMapping: t.exposeBoolean('inheritMapping', {
      description: 'Whether a write uses the mapped names of the read object.',
    }),
    valueDefaults: t.field({
      type: ValueDefaults,
      nullable,
      description: VALUE_DEFAULTS,
      resolve: ({ valueDefaults }) => valueDefaults,
    }),
  }),
});

const WriteSpec = builder.objectRef<{ objects: WriteObject[] }>('WriteSpec').implement({
  description: 'The objects that may be written.',
  fields: (t) => ({
    objects: t.field({
      type: [WriteObjectSpec],
      description: 'The objects, each once.',
      resolve: ({ objects }) => objects,
    }),
  }),
});

const ProxySpec = builder
  .objectRef<NonNullable<IntegrationContentShape['proxy']>>('ProxySpec')
  .implement({
    description: 'Whether requests are forwarded to the provider.',
    fields: (t) => ({
      enabled: t.exposeBoolean('enabled', {
        description: 'Whether requests may be forwarded to the provider.',
      }),
      useModule: t.exposeBoolean('useModule', {
        description: "Whether they go to the base URL of the module instead of the provider's.",
      }),
    }),
  });

export const IntegrationContent = builder
  .objectRef<IntegrationContentShape>('IntegrationContent')
  .implement({
    description: 'What an integration reads, writes, proxies and subscribes to.',
    fields: (t) => ({
      name: t.exposeString('name', {
        description: 'The name of the integration: the same as outside the content.',
      }),
      provider: t.exposeString('provider', {
        description: 'The name of the provider: the same as outside the content.',
      }),
      displayName: t.exposeString('displayName', {
        nullable,
        description: 'The name that people see.',
      }),
      module: t.exposeString('module', {
        nullable,
        description:
          'The part of the provider that is read and written; null: the first of its `modules`.',
      }),
      read: t.field({
        type: ReadSpec,
        nullable,
        description: 'The objects that are read.',
        resolve: ({ read }) => read,
      }),
      write: t.field({
        type: WriteSpec,
        nullable,
        description: 'The objects that may be written.',
        resolve: ({ write }) => write,
      }),
      proxy: t.field({
        type: ProxySpec,
        nullable,
        description: 'Whether requests are forwarded to the provider.',
        resolve: ({ proxy }) => proxy,
      }),
      subscribe: t.field({
        type: SubscribeSpec,
        nullable,
        description: 'The objects whose changes the gateway subscribes to.',
        resolve: ({ subscribe }) => subscribe,
      }),
      watchSchema: t.field({
        type: WatchSchemaSpec,
        nullable,
        description: WATCH_SCHEMA,
        // Older revisions have no such member.
        resolve: ({ watchSchema }) => watchSchema ?? null,
      }),
    }),
  });
