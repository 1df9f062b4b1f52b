import { z } from 'zod';
import { type SandboxProblem, SandboxRefusal } from '../sandbox-refusal.ts';
import {
  type CrmField,
  type FieldType,
  OBJECTS,
  type ObjectDefinition,
  type TableName,
} from './objects.ts';
import {
  type RecordEvent,
  RecordTable,
  type StoredAssociation,
  type StoredRecord,
} from './table.ts';

/** Enough for load tests, and below Node's memory limit: a million contacts need 0.9 GB. */
export const RECORDS_PER_OBJECT_MAX = 1_000_000;

export interface RecordChange {
  /** The record to update. Absent for a new one. */
  id?: string;
  values: Record<string, unknown>;
  associations?: StoredAssociation[];
}

type ChangeResult = { record: StoredRecord } | { problems: [SandboxProblem, ...SandboxProblem[]] };

/** Unique values and new records that are reserved by earlier changes in the same batch. */
interface ReservedValues {
  owners: Map<string, string | RecordChange>;
  newRecords: number;
}

const STATUS_BY_CODE: Record<string, number> = {
  not_unique: 409,
  record_limit_reached: 409,
  record_not_found: 404,
};

const NOT_WRITTEN: SandboxProblem = {
  code: 'not_written',
  message: 'Not written, because another record of the batch was refused',
};

/** The account of a service that all callers share: its tables, and the rules between records. */
export class Workspace {
  readonly #tables: Map<string, RecordTable>;

  constructor(
    names: readonly TableName[],
    now: () => Date,
    notify: (event: RecordEvent) => void = () => {},
  ) {
    // Definitions are copied, because callers may define fields.
    this.#tables = new Map(
      names.map((name) => [name, new RecordTable(structuredClone(OBJECTS[name]), now, notify)]),
    );
  }

  getTable(objectName: string): RecordTable {
    const table = this.#tables.get(objectName);
    if (table) return table;
    const message = `There is no object ${objectName}`;
    throw new SandboxRefusal(404, { code: 'object_not_found', message });
  }

  getRecord(objectName: string, id: string): StoredRecord {
    const record = this.getTable(objectName).find(id);
    if (record === null) throw new SandboxRefusal(404, createNotFoundProblem(objectName, id));
    return record;
  }

  write(objectName: string, change: RecordChange): StoredRecord {
    const result = this.writeBatch(objectName, [change], false)[0]!;
    if ('record' in result) return result.record;
    throw new SandboxRefusal(STATUS_BY_CODE[result.problems[0].code] ?? 400, result.problems);
  }

  /** Checks all changes before it writes any. Returns one result for each, in order. */
  writeBatch(objectName: string, changes: RecordChange[], allOrNone: boolean): ChangeResult[] {
    const table = this.getTable(objectName);
    const reservedValues: ReservedValues = { owners: new Map(), newRecords: 0 };
    const checks = changes.map((change) => {
      const problems = this.#listProblems(table, change, reservedValues);
      if (problems.length === 0) reserveValues(table, change, reservedValues);
      return { change, problems };
    });
    const isRefused = allOrNone && checks.some(({ problems }) => problems.length > 0);
    return checks.map(({ change, problems: [first, ...moreProblems] }) => {
      if (first !== undefined) return { problems: [first, ...moreProblems] };
      return isRefused ? { problems: [NOT_WRITTEN] } : { record: applyChange(table, change) };
    });
  }

  delete(objectName: string, id: string): void {
    if (!this.getTable(objectName).delete(id)) {
      throw new SandboxRefusal(404, createNotFoundProblem(objectName, id));
    }
  }

  /** Fills missing values of the record from another record, and deletes the other record. */
  merge(objectName: string, id: string, otherId: string): StoredRecord {
    const other = this.getRecord(objectName, otherId);
    if (id === otherId) {
      const message = 'A record can not be merged with itself';
      throw new SandboxRefusal(400, { code: 'invalid_request', message, field: 'otherId' });
    }
    this.getRecord(objectName, id);
    return this.getTable(objectName).merge(id, other);
  }

  restore(objectName: string, id: string): StoredRecord {
    const record = this.getTable(objectName).restore(id);
    if (record === null) throw new SandboxRefusal(404, createNotFoundProblem(objectName, id));
    return record;
  }

  #listProblems(
    table: RecordTable,
    change: RecordChange,
    reservedValues: ReservedValues,
  ): SandboxProblem[] {
    const { definition } = table;
    const isCreate = change.id === undefined;
    if (change.id !== undefined && table.find(change.id) === null) {
      return [createNotFoundProblem(definition.name, change.id)];
    }
    if (isCreate && table.size + reservedValues.newRecords >= RECORDS_PER_OBJECT_MAX) {
      return [createLimitProblem(definition.name)];
    }
    const problems = listValueProblems(definition, change.values, { isCreate });
    return problems.length > 0 ? problems : this.#listConflicts(table, change, reservedValues);
  }

  #listConflicts(
    table: RecordTable,
    change: RecordChange,
    reservedValues: ReservedValues,
  ): SandboxProblem[] {
    const problems: SandboxProblem[] = [];
    for (const field of table.definition.fields) {
      const value = change.values[field.name];
      if (value == null) continue;
      const { name: fieldName, references } = field;
      if (field.unique) {
        const claimOwner = reservedValues.owners.get(createReservationKey(fieldName, value));
        const owner = claimOwner ?? table.findOwner(field, value) ?? undefined;
        if (owner !== undefined && owner !== getOwner(change)) {
          const message = `Another record has ${fieldName} ${value}`;
          problems.push({ code: 'not_unique', message, field: fieldName });
        }
      }
      if (references !== undefined && this.getTable(references).find(String(value)) === null) {
        const message = `${fieldName}: there is no record ${value} of ${references}`;
        problems.push({ code: 'reference_not_found', message, field: fieldName });
      }
    }
    return problems;
  }
}

function reserveValues(
  { definition }: RecordTable,
  change: RecordChange,
  reservedValues: ReservedValues,
): void {
  if (change.id === undefined) reservedValues.newRecords += 1;
  for (const { name, unique } of definition.fields) {
    const value = change.values[name];
    if (unique && value != null)
      reservedValues.owners.set(createReservationKey(name, value), getOwner(change));
  }
}

function createReservationKey(fieldName: string, value: unknown): string {
  return `${fieldName} ${String(value).toLowerCase()}`;
}

/** Returns the owner of a unique value. A new record has no id yet, so the change itself is the owner. */
function getOwner(change: RecordChange): string | RecordChange {
  return change.id ?? change;
}

function applyChange(table: RecordTable, { id, values, associations }: RecordChange): StoredRecord {
  return id === undefined
    ? table.create(values, associations)
    : table.update(id, values, associations);
}

function createNotFoundProblem(objectName: string, id: string): SandboxProblem {
  return { code: 'record_not_found', message: `There is no record '${id}' of ${objectName}` };
}

export function createLimitProblem(objectName: string): SandboxProblem {
  const message = `The sandbox holds at most ${RECORDS_PER_OBJECT_MAX} ${objectName}`;
  return { code: 'record_limit_reached', message };
}

/** The maximum length of a string. The sandbox has no fields for documents. */
const TEXT_LENGTH_MAX = 1_000;

const createTextSchema = () =>
  z.string('must be a string').max(TEXT_LENGTH_MAX, `has more than ${TEXT_LENGTH_MAX} characters`);

const SCHEMAS: Record<FieldType, (field: CrmField) => z.ZodType> = {
  text: createTextSchema,
  email: () => createTextSchema().regex(z.regexes.email, 'must be an email address'),
  boolean: () => z.boolean('must be true or false'),
  select: (field) => createOptionSchema(field),
  multiselect: (field) => z.array(createOptionSchema(field), 'must be a list of options'),
  date: () => z.iso.date('must be a date, such as 2026-01-31'),
  datetime: () =>
    z.iso.datetime({ offset: true, error: 'must be a time, such as 2026-01-31T12:00:00Z' }),
  integer: () => z.int('must be a whole number'),
  decimal: () => z.number('must be a number'),
  reference: () => z.string('must be the id of a record').max(64, 'is longer than any id'),
};

function createOptionSchema({ options = [] }: CrmField) {
  const values = options.map(({ value }) => value);
  return z.enum(values, `must be one of ${values.join(', ')}`);
}

const schemaByField = new WeakMap<CrmField, z.ZodType>();

function getSchema(field: CrmField): z.ZodType {
  const cachedSchema = schemaByField.get(field);
  if (cachedSchema !== undefined) return cachedSchema;
  const schema = SCHEMAS[field.type](field);
  schemaByField.set(field, schema);
  return schema;
}

/** Returns all problems of the values, in their order. The value null clears a field. */
function listValueProblems(
  { name: objectName, fields }: ObjectDefinition,
  values: Record<string, unknown>,
  { isCreate }: { isCreate: boolean },
): SandboxProblem[] {
  const valueProblems = Object.entries(values).flatMap(([name, value]) => {
    const field = fields.find((candidate) => candidate.name === name);
    if (field) return findValueProblem(field, value) ?? [];
    return { code: 'unknown_field', message: `${objectName} have no field ${name}`, field: name };
  });
  const missingFields = fields.filter(
    ({ name, required }) => isCreate && required && !(name in values),
  );
  return [...valueProblems, ...missingFields.map(({ name }) => createMissingProblem(name))];
}

function findValueProblem(field: CrmField, value: unknown): SandboxProblem | null {
  const { name } = field;
  if (field.readOnly) {
    return { code: 'read_only_field', message: `${name} can't be written`, field: name };
  }
  if (field.required && (value === null || value === '')) return createMissingProblem(name);
  if (value === null) return null;
  const issue = getSchema(field).safeParse(value).error?.issues[0];
  if (issue === undefined) return null;
  return { code: toProblemCode(issue), message: `${name} ${issue.message}`, field: name };
}

function toProblemCode(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_big') return 'too_long';
  return issue.code === 'invalid_value' ? 'invalid_option' : 'wrong_type';
}

function createMissingProblem(name: string): SandboxProblem {
  return { code: 'missing_field', message: `${name} must have a value`, field: name };
}
