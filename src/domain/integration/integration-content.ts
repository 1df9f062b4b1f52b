/** What an integration reads, writes, proxies and subscribes to, as a revision holds it: nothing left out. */
import type {
  ContentInput,
  ReadObjectInput,
  SubscribeObjectInput,
} from './integration-content-input.ts';

export interface FieldMapping {
  /** Null for a field that an installation's config maps. */
  fieldName: string | null;
  mapToName: string | null;
  mapToDisplayName: string | null;
}

export interface ReadObject {
  objectName: string;
  destination: string;
  /** Null: read only when triggered. */
  schedule: string | null;
  mapToName: string | null;
  mapToDisplayName: string | null;
  requiredFields: FieldMapping[];
  optionalFields: FieldMapping[];
  /** `all`: fields that are named nowhere may be selected too. */
  optionalFieldsAuto: string | null;
  delivery: { mode: string; pageSize: number | null } | null;
  enabled: string | null;
}

export interface WriteObject {
  objectName: string;
  inheritMapping: boolean;
  valueDefaults: { allowAnyFields: boolean } | null;
}

export interface EventToggle {
  enabled: string;
}

export interface UpdateEvent extends EventToggle {
  watchFieldsAuto: string | null;
  requiredWatchFields: string[];
}

export interface AssociationChangeEvent extends EventToggle {
  includeFullRecords: boolean;
}

export interface SubscribeObject {
  objectName: string;
  destination: string | null;
  inheritFieldsAndMapping: boolean;
  createEvent: EventToggle | null;
  updateEvent: UpdateEvent | null;
  deleteEvent: EventToggle | null;
  associationChangeEvent: AssociationChangeEvent | null;
  otherEvents: string[];
}

export interface IntegrationContent {
  name: string;
  provider: string;
  displayName: string | null;
  module: string | null;
  read: { objects: ReadObject[] } | null;
  write: { objects: WriteObject[] } | null;
  proxy: { enabled: boolean; useModule: boolean } | null;
  subscribe: { objects: SubscribeObject[] } | null;
}

/** Only what `storedContent` made is ever written, so it is not checked again. */
export function contentOf(revision: { content: unknown }): IntegrationContent {
  return revision.content as IntegrationContent;
}

/** The content to store, from an input that has been checked. */
export function storedContent(input: ContentInput): IntegrationContent {
  const {
    name,
    provider,
    displayName = null,
    module = null,
    read,
    write,
    proxy,
    subscribe,
  } = input;
  return {
    name,
    provider,
    displayName,
    module,
    read: read ? { objects: read.objects.map(storedReadObject) } : null,
    write: write
      ? {
          objects: write.objects.map(({ objectName, inheritMapping, valueDefaults = null }) => ({
            objectName,
            inheritMapping: inheritMapping ?? false,
            valueDefaults,
          })),
        }
      : null,
    proxy: proxy ? { enabled: proxy.enabled, useModule: proxy.useModule ?? false } : null,
    subscribe: subscribe ? { objects: subscribe.objects.map(storedSubscribeObject) } : null,
  };
}

export function storedMappings(fields: ReadObjectInput['requiredFields']): FieldMapping[] {
  return (fields ?? []).map(({ fieldName = null, mapToName = null, mapToDisplayName = null }) => ({
    fieldName,
    mapToName,
    mapToDisplayName,
  }));
}

function storedReadObject(object: ReadObjectInput): ReadObject {
  const { delivery } = object;
  return {
    objectName: object.objectName,
    destination: object.destination as string,
    schedule: object.schedule ?? null,
    mapToName: object.mapToName ?? null,
    mapToDisplayName: object.mapToDisplayName ?? null,
    requiredFields: storedMappings(object.requiredFields),
    optionalFields: storedMappings(object.optionalFields),
    optionalFieldsAuto: object.optionalFieldsAuto ?? null,
    delivery: delivery
      ? { mode: delivery.mode ?? 'auto', pageSize: delivery.pageSize ?? null }
      : null,
    enabled: object.enabled ?? null,
  };
}

function storedSubscribeObject(object: SubscribeObjectInput): SubscribeObject {
  const { updateEvent, associationChangeEvent } = object;
  return {
    objectName: object.objectName,
    destination: object.destination ?? null,
    inheritFieldsAndMapping: object.inheritFieldsAndMapping ?? false,
    createEvent: object.createEvent ?? null,
    updateEvent: updateEvent
      ? {
          enabled: updateEvent.enabled,
          watchFieldsAuto: updateEvent.watchFieldsAuto ?? null,
          requiredWatchFields: updateEvent.requiredWatchFields ?? [],
        }
      : null,
    deleteEvent: object.deleteEvent ?? null,
    associationChangeEvent: associationChangeEvent
      ? {
          enabled: associationChangeEvent.enabled,
          includeFullRecords: associationChangeEvent.includeFullRecords ?? false,
        }
      : null,
    otherEvents: object.otherEvents ?? [],
  };
}
