/** The data of a Salesforce org: objects with their fields, and records. */
import type { ServedResponse } from './provider-server.ts';

export interface SalesforceField {
  name: string;
  label: string;
  type: string;
  custom: boolean;
  autoNumber: boolean;
  calculated: boolean;
  createable: boolean;
  updateable: boolean;
  nillable: boolean;
  defaultedOnCreate: boolean;
  picklistValues: { value: string; label: string | null; active: boolean; defaultValue: boolean }[];
  referenceTo: string[];
}

export interface SalesforceObject {
  name: string;
  label: string;
  keyPrefix: string;
  fields: SalesforceField[];
}

/** Values by field name, spelled as in the object. A parent is a nested record. */
export type SalesforceRecord = { Id: string; SystemModstamp: string } & Record<string, unknown>;

/** An error in Salesforce's format. The server returns it wherever it is thrown. */
export class SalesforceRefusal extends Error {
  readonly status: number;
  readonly errorCode: string;
  readonly fields: string[];

  constructor(status: number, errorCode: string, message: string, fields: string[] = []) {
    super(message);
    this.status = status;
    this.errorCode = errorCode;
    this.fields = fields;
  }

  get response(): ServedResponse {
    const { message, errorCode, fields } = this;
    return { status: this.status, body: [{ message, errorCode, fields }] };
  }
}

export interface WriteOptions {
  /** True if the request has `Sforce-Duplicate-Rule-Header: allowSave=true`. */
  allowsDuplicates?: boolean;
  changedAt?: Date;
}

export class SalesforceStore {
  readonly objects: SalesforceObject[];
  readonly #now: () => Date;
  #records = new Map<string, Map<string, SalesforceRecord>>();
  readonly #deleted: { object: string; id: string; time: Date }[] = [];
  #lastNumber = 0;

  constructor(objects: SalesforceObject[], now: () => Date) {
    this.objects = objects;
    this.#now = now;
  }

  /** Names are not case-sensitive in Salesforce. */
  findObject(name: string): SalesforceObject | undefined {
    return this.objects.find((object) => object.name.toLowerCase() === name.toLowerCase());
  }

  getObject(name: string): SalesforceObject {
    const object = this.findObject(name);
    if (object) return object;
    throw new SalesforceRefusal(404, 'NOT_FOUND', 'The requested resource does not exist');
  }

  listRecords(name: string): SalesforceRecord[] {
    return [...(this.#records.get(this.getObject(name).name)?.values() ?? [])];
  }

  getRecord(name: string, id: string): SalesforceRecord {
    const record = this.#records.get(this.getObject(name).name)?.get(id);
    if (record) return record;
    const message = `Provided external ID field does not exist or is not accessible: ${id}`;
    throw new SalesforceRefusal(404, 'NOT_FOUND', message);
  }

  create(name: string, values: Record<string, unknown>, options: WriteOptions = {}): string {
    const object = this.getObject(name);
    const fields = this.#checkFields(object, values, 'createable');
    const missingFields = object.fields
      .filter((field) => field.createable && !field.nillable && !field.defaultedOnCreate)
      .map((field) => field.name)
      .filter((field) => fields[field] === undefined);
    if (missingFields.length > 0) {
      const message = `Required fields are missing: [${missingFields.join(', ')}]`;
      throw new SalesforceRefusal(400, 'REQUIRED_FIELD_MISSING', message, missingFields);
    }
    if (!options.allowsDuplicates) this.#refuseDuplicate(object, fields);
    this.#lastNumber += 1;
    const Id = `${object.keyPrefix}${String(this.#lastNumber).padStart(12, '0')}AAA`;
    const SystemModstamp = (options.changedAt ?? this.#now()).toISOString();
    const records = this.#records.get(object.name) ?? new Map<string, SalesforceRecord>();
    this.#records.set(object.name, records.set(Id, { ...fields, Id, SystemModstamp }));
    return Id;
  }

  update(name: string, id: string, values: Record<string, unknown>): void {
    const record = this.getRecord(name, id);
    const fields = this.#checkFields(this.getObject(name), values, 'updateable');
    Object.assign(record, fields, { SystemModstamp: this.#now().toISOString() });
  }

  delete(name: string, id: string): void {
    this.getRecord(name, id);
    const object = this.getObject(name).name;
    this.#records.get(object)?.delete(id);
    this.#deleted.push({ object, id, time: this.#now() });
  }

  listDeleted(name: string): { id: string; time: Date }[] {
    return this.#deleted.filter(({ object }) => object === this.getObject(name).name);
  }

  /** Rolls back all changes if `work` throws. */
  transaction<Result>(work: () => Result): Result {
    const snapshot = new Map(
      [...this.#records].map(([name, records]) => {
        const copies = [...records].map(([id, record]) => [id, { ...record }] as const);
        return [name, new Map(copies)];
      }),
    );
    try {
      return work();
    } catch (error) {
      this.#records = snapshot;
      throw error;
    }
  }

  #checkFields(
    object: SalesforceObject,
    values: Record<string, unknown>,
    right: 'createable' | 'updateable',
  ): Record<string, unknown> {
    const entries = Object.entries(values).map(([name, value]): [string, unknown] => {
      const field = object.fields.find(
        (candidate) => candidate.name.toLowerCase() === name.toLowerCase(),
      );
      if (!field) {
        const message = `No such column '${name}' on sobject of type ${object.name}`;
        throw new SalesforceRefusal(400, 'INVALID_FIELD', message);
      }
      if (!field[right]) {
        const message = `Unable to create/update fields: ${field.name}`;
        throw new SalesforceRefusal(400, 'INVALID_FIELD_FOR_INSERT_UPDATE', message, [field.name]);
      }
      return [field.name, value];
    });
    return Object.fromEntries(entries);
  }

  #refuseDuplicate(object: SalesforceObject, { Email }: Record<string, unknown>): void {
    const exists = Email && this.listRecords(object.name).some((record) => record.Email === Email);
    if (!exists) return;
    const message = 'Use one of these records?';
    throw new SalesforceRefusal(400, 'DUPLICATES_DETECTED', message);
  }
}
