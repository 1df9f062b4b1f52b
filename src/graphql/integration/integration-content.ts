/** What an integration does, as a revision holds it. */
import type {
  FieldMapping as FieldMappingShape,
  IntegrationContent as IntegrationContentShape,
  ReadObject,
  WriteObject,
} from '../../domain/integration/integration-content.ts';
import {
  ANY_FIELDS,
  ENABLED,
  VALUE_DEFAULTS,
} from '../../domain/integration/integration-content-input.ts';
import { builder } from '../schema/schema-builder.ts';
import { SubscribeSpec } from './subscribe-spec.ts';

const nullable = true;

export const FieldMapping = builder.objectRef<FieldMappingShape>('FieldMapping').implement({
  description: 'A field and the name that it is delivered under.',
  fields: (t) => ({
    fieldName: t.exposeString('fieldName', {
      nullable,
      description: "The provider's name of the field; null where installations map one to it.",
    }),
    mapToName: t.exposeString('mapToName', {
      nullable,
      description: 'The name that it is delivered under; null where it keeps its own.',
    }),
    mapToDisplayName: t.exposeString('mapToDisplayName', {
      nullable,
      description: 'The name that people see.',
    }),
  }),
});

const DeliverySpec = builder
  .objectRef<NonNullable<ReadObject['delivery']>>('DeliverySpec')
  .implement({
    description: 'How read records are delivered.',
    fields: (t) => ({
      mode: t.exposeString('mode', { description: 'auto or onRequest.' }),
      pageSize: t.exposeInt('pageSize', { nullable, description: 'Records in one message.' }),
    }),
  });

const ReadObjectSpec = builder.objectRef<ReadObject>('ReadObjectSpec').implement({
  description: 'An object to read.',
  fields: (t) => ({
    objectName: t.exposeString('objectName', { description: "The provider's name of the object." }),
    destination: t.exposeString('destination', {
      nullable,
      description: 'The destination of the records.',
    }),
    schedule: t.exposeString('schedule', {
      nullable,
      description: 'Cron of five fields in UTC; null where it is read only when triggered.',
    }),
    mapToName: t.exposeString('mapToName', {
      nullable,
      description: 'The name that the object is delivered under; null where it keeps its own.',
    }),
    mapToDisplayName: t.exposeString('mapToDisplayName', {
      nullable,
      description: 'The name that people see.',
    }),
    requiredFields: t.field({
      type: [FieldMapping],
      description: 'Fields that are always read.',
      resolve: ({ requiredFields }) => requiredFields,
    }),
    optionalFields: t.field({
      type: [FieldMapping],
      description: 'Fields that an installation may select.',
      resolve: ({ optionalFields }) => optionalFields,
    }),
    optionalFieldsAuto: t.exposeString('optionalFieldsAuto', {
      nullable,
      description: 'all, where every field of the object may be selected.',
    }),
    delivery: t.field({
      type: DeliverySpec,
      nullable,
      description: 'How its records are delivered.',
      resolve: ({ delivery }) => delivery,
    }),
    enabled: t.exposeString('enabled', { nullable, description: ENABLED }),
  }),
});

const ReadSpec = builder.objectRef<{ objects: ReadObject[] }>('ReadSpec').implement({
  description: 'What is read.',
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
  description: 'An object to write.',
  fields: (t) => ({
    objectName: t.exposeString('objectName', { description: "The provider's name of the object." }),
    inheritMapping: t.exposeBoolean('inheritMapping', {
      description: 'Names are mapped as in the read object.',
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
  description: 'What may be written.',
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
    description: 'Forwarding of requests.',
    fields: (t) => ({
      enabled: t.exposeBoolean('enabled', {
        description: 'Requests may be forwarded to the provider.',
      }),
      useModule: t.exposeBoolean('useModule', {
        description: "To the module's base URL instead of the root's.",
      }),
    }),
  });

export const IntegrationContent = builder
  .objectRef<IntegrationContentShape>('IntegrationContent')
  .implement({
    description: 'What an integration reads, writes, proxies and subscribes to.',
    fields: (t) => ({
      name: t.exposeString('name', { description: "The integration's name." }),
      provider: t.exposeString('provider', { description: "The integration's provider." }),
      displayName: t.exposeString('displayName', {
        nullable,
        description: 'The name that people see.',
      }),
      module: t.exposeString('module', { nullable, description: 'The module of the provider.' }),
      read: t.field({
        type: ReadSpec,
        nullable,
        description: 'What is read.',
        resolve: ({ read }) => read,
      }),
      write: t.field({
        type: WriteSpec,
        nullable,
        description: 'What may be written.',
        resolve: ({ write }) => write,
      }),
      proxy: t.field({
        type: ProxySpec,
        nullable,
        description: 'Forwarding of requests.',
        resolve: ({ proxy }) => proxy,
      }),
      subscribe: t.field({
        type: SubscribeSpec,
        nullable,
        description: 'Events that are wanted.',
        resolve: ({ subscribe }) => subscribe,
      }),
    }),
  });
