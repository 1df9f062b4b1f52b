/** The data of a HubSpot account: objects with their properties, and records. */
import { z } from 'zod';
import type { ServedResponse } from './provider-server.ts';

export interface HubspotProperty {
  name: string;
  label: string;
  type: string;
  fieldType: string;
  options: { label: string; value: string; displayOrder: number; hidden: boolean }[];
  description?: string;
  groupName?: string;
  hasUniqueValue?: boolean;
  hubspotDefined: boolean;
  modificationMetadata: {
    archivable: boolean;
    readOnlyDefinition: boolean;
    readOnlyValue: boolean;
  };
  referencedObjectType?: string;
}

export interface HubspotObject {
  /** Groups of properties that callers created, by name. */
  groups?: Record<string, { name: string; label: string }>;
  labels: { singular: string; plural: string };
  requiredProperties: string[];
  properties: HubspotProperty[];
  pipelines: { id: string; label: string; stages: { id: string; label: string }[] }[];
  /** The property with the time of a record's last change. */
  changedProperty: 'lastmodifieddate' | 'hs_lastmodifieddate';
}

/** HubSpot refuses a request with a nested value as a whole. */
export const recordProperties = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null()]),
);

export interface HubspotRecord {
  id: string;
  properties: Record<string, unknown>;
  createdAt: string;
  updatedAt: string;
  archived: false;
  associations?: unknown;
}

/** An error in HubSpot's format. The server returns it wherever it is thrown. */
export class HubspotRefusal extends Error {
  readonly response: ServedResponse;

  constructor(status: number, category: string, details: ErrorDetail[] | string) {
    const message =
      typeof details === 'string' ? details : `Validation: ${JSON.stringify(details)}`;
    super(message);
    this.response = { status, body: createHubspotError(message, category, details) };
  }
}

interface ErrorDetail {
  message: string;
  code: string;
  context: { propertyName: string[] };
}

export function createHubspotError(
  message: string,
  category: string,
  details: ErrorDetail[] | string = [],
) {
  return {
    status: 'error',
    message,
    correlationId: '00000000-0000-4000-8000-000000000000',
    category,
    ...(Array.isArray(details) && details.length > 0 && { errors: details }),
  };
}

export class HubspotStore {
  readonly objects: Record<string, HubspotObject>;
  /** How long the search index lags. It shows a changed record neither with its old nor its new properties. */
  indexDelayMs = 0;
  readonly #now: () => Date;
  readonly #records = new Map<string, Map<string, HubspotRecord>>();
  #lastId = 1_000;

  constructor(objects: Record<string, HubspotObject>, now: () => Date) {
    this.objects = objects;
    this.#now = now;
  }

  getObject(name: string): HubspotObject {
    const object = this.objects[name];
    if (object) return object;
    throw new HubspotRefusal(400, 'VALIDATION_ERROR', `Unable to infer object type from: ${name}`);
  }

  /** Returns the records in the order of their IDs. */
  listRecords(name: string): HubspotRecord[] {
    this.getObject(name);
    return [...(this.#records.get(name)?.values() ?? [])];
  }

  /** Returns the records that a search can find. */
  listIndexedRecords(name: string): HubspotRecord[] {
    const indexTime = this.#now().getTime() - this.indexDelayMs;
    const records = this.listRecords(name);
    if (this.indexDelayMs === 0) return records;
    return records.filter(({ updatedAt }) => Date.parse(updatedAt) <= indexTime);
  }

  find(name: string, id: string): HubspotRecord | undefined {
    this.getObject(name);
    return this.#records.get(name)?.get(id);
  }

  create(
    name: string,
    properties: Record<string, unknown>,
    changedAt = this.#now(),
  ): HubspotRecord {
    this.checkProperties(name, properties);
    this.#lastId += 1;
    const id = String(this.#lastId);
    const time = changedAt.toISOString();
    const { changedProperty } = this.getObject(name);
    const record: HubspotRecord = {
      id,
      properties: { ...properties, createdate: time, hs_object_id: id, [changedProperty]: time },
      createdAt: time,
      updatedAt: time,
      archived: false,
    };
    const records = this.#records.get(name) ?? new Map<string, HubspotRecord>();
    this.#records.set(name, records.set(id, record));
    return record;
  }

  update(name: string, record: HubspotRecord, properties: Record<string, unknown>): HubspotRecord {
    this.checkProperties(name, properties, record.id);
    const time = this.#now().toISOString();
    Object.assign(record.properties, properties, { [this.getObject(name).changedProperty]: time });
    record.updatedAt = time;
    return record;
  }

  delete(name: string, id: string): void {
    this.getObject(name);
    this.#records.get(name)?.delete(id);
  }

  /** Throws HubSpot's error if a property is not accepted. */
  checkProperties(name: string, properties: Record<string, unknown>, ownId?: string): void {
    const details = Object.entries(properties)
      .map(([property, value]) => this.#findProblem(name, property, value))
      .filter((detail) => detail !== null);
    if (details.length > 0) throw new HubspotRefusal(400, 'VALIDATION_ERROR', details);
    const existing = properties.email
      ? this.listRecords(name).find((record) => record.properties.email === properties.email)
      : undefined;
    if (existing && existing.id !== ownId) {
      const message = `Contact already exists. Existing ID: ${existing.id}`;
      throw new HubspotRefusal(409, 'CONFLICT', message);
    }
  }

  #findProblem(name: string, propertyName: string, value: unknown): ErrorDetail | null {
    const context = { propertyName: [propertyName] };
    const property = this.getObject(name).properties.find(({ name }) => name === propertyName);
    if (!property) {
      const message = `Property "${propertyName}" does not exist`;
      return { message, code: 'PROPERTY_DOESNT_EXIST', context };
    }
    if (property.modificationMetadata.readOnlyValue) {
      const message = `"${propertyName}" is a read only property; its value cannot be set.`;
      return { message, code: 'READ_ONLY_VALUE', context };
    }
    if (propertyName === 'email' && !String(value).includes('@')) {
      const message = `Email address ${value} is invalid`;
      return { message, code: 'INVALID_EMAIL', context };
    }
    const optionValues = property.options.map((option) => option.value);
    if (optionValues.length > 0 && !optionValues.includes(String(value))) {
      const message = `${value} was not one of the allowed options: [${optionValues.join(', ')}]`;
      return { message, code: 'INVALID_OPTION', context };
    }
    return null;
  }
}
