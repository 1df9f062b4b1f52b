import { randomBytes } from 'node:crypto';
import type { CrmField, ObjectDefinition } from './objects.ts';

/** A version of a record. Each change creates a version. */
export interface StoredRecord {
  readonly id: string;
  /** Position in the order of all changes of this table. */
  readonly position: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Values by field name. Fields that were never set are absent. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly associations: readonly StoredAssociation[];
}

export interface StoredAssociation {
  to: { id: string };
  types: { associationCategory: string; associationTypeId: number }[];
}

export const RECORD_EVENTS = [
  'created',
  'updated',
  'deleted',
  'associated',
  'merged',
  'restored',
] as const;
export type RecordEventType = (typeof RECORD_EVENTS)[number];

export interface RecordEvent {
  type: RecordEventType;
  definition: ObjectDefinition;
  record: StoredRecord;
  /** The previous version, for updates. */
  previous?: StoredRecord;
  /** The id of the deleted record, for merges. */
  mergedId?: string;
}

interface PageQuery {
  /** The page starts after this position. */
  after?: number;
  /** Inclusive bounds of the time of change. */
  sinceMs?: number;
  untilMs?: number;
  /** Default: every record matches. */
  isMatch?: (record: StoredRecord) => boolean;
  limit: number;
}

/** The number of deleted records that can be restored. Older ones are lost. */
const DELETED_MAX = 10_000;

/** Old versions are removed when they outnumber the current records by more than this. */
const COMPACTION_SLACK = 1_000;

/**
 * The records of one object, in memory. Versions are kept in the order of their changes. `updatedAtMs` never decreases,
 * so this is also the order of times, and a binary search finds the start of a page. A record that changes during a
 * read moves to the end, so it may be read twice but is never skipped.
 */
export class RecordTable {
  readonly definition: ObjectDefinition;
  /** Identifies this run. Positions of an earlier run are invalid. */
  readonly epoch = randomBytes(4).toString('hex');
  readonly #now: () => Date;
  readonly #notify: (event: RecordEvent) => void;
  readonly #deletedRecords = new Map<string, StoredRecord>();
  readonly #currentRecords = new Map<string, StoredRecord>();
  readonly #ownersByField: Map<string, Map<string, string>>;
  #versions: StoredRecord[] = [];
  #lastId = 0;
  #lastPosition = 0;
  #lastUpdatedAtMs = 0;

  constructor(
    definition: ObjectDefinition,
    now: () => Date,
    notify: (event: RecordEvent) => void = () => {},
  ) {
    this.definition = definition;
    this.#now = now;
    this.#notify = notify;
    this.#ownersByField = new Map(
      definition.fields.filter(({ unique }) => unique).map(({ name }) => [name, new Map()]),
    );
  }

  get size(): number {
    return this.#currentRecords.size;
  }

  find(id: string): StoredRecord | null {
    return this.#currentRecords.get(id) ?? null;
  }

  /** Returns the id of the record with this value in a unique field. */
  findOwner({ name }: CrmField, value: unknown): string | null {
    return this.#ownersByField.get(name)?.get(toUniqueKey(value)) ?? null;
  }

  /** Adds or replaces a field. A replacement must be unique if the old field was. */
  putField(field: CrmField): void {
    const { fields } = this.definition;
    const index = fields.findIndex(({ name }) => name === field.name);
    if (index === -1) fields.push(field);
    else fields[index] = field;
    if (field.unique && index === -1) this.#ownersByField.set(field.name, new Map());
  }

  create(values: Record<string, unknown>, associations: StoredAssociation[] = []): StoredRecord {
    this.#lastId += 1;
    const record = this.#put(String(this.#lastId), values, associations);
    this.#notify({ type: 'created', definition: this.definition, record });
    return record;
  }

  /** Updates a record of this table. Absent members stay unchanged. */
  update(
    id: string,
    values: Record<string, unknown>,
    associations?: StoredAssociation[],
  ): StoredRecord {
    const previous = this.#currentRecords.get(id)!;
    const newValues = { ...previous.values, ...values };
    const record = this.#put(id, newValues, associations ?? previous.associations);
    this.#notify({ type: 'updated', definition: this.definition, record, previous });
    return record;
  }

  delete(id: string): boolean {
    const previous = this.#currentRecords.get(id);
    if (previous === undefined) return false;
    this.#remove(previous);
    const record = { ...previous, updatedAtMs: this.#now().getTime() };
    this.#notify({ type: 'deleted', definition: this.definition, record });
    return true;
  }

  /** Fills missing values of the record from `other`, and deletes `other`. Both records must be in this table. */
  merge(id: string, other: StoredRecord): StoredRecord {
    const { values, associations } = this.#currentRecords.get(id)!;
    this.#remove(other);
    const record = this.#put(id, { ...other.values, ...values }, associations);
    this.#notify({ type: 'merged', definition: this.definition, record, mergedId: other.id });
    return record;
  }

  /** Restores a deleted record. Null if it was not deleted, or another record now has one of its unique values. */
  restore(id: string): StoredRecord | null {
    const deletedRecord = this.#deletedRecords.get(id);
    if (!deletedRecord || this.#hasConflict(deletedRecord)) return null;
    this.#deletedRecords.delete(id);
    const record = this.#put(id, deletedRecord.values, deletedRecord.associations);
    this.#notify({ type: 'restored', definition: this.definition, record });
    return record;
  }

  #hasConflict({ values }: StoredRecord): boolean {
    return this.definition.fields.some(
      (field) =>
        field.unique && values[field.name] != null && this.findOwner(field, values[field.name]),
    );
  }

  #remove(record: StoredRecord): void {
    this.#releaseUnique(record);
    this.#currentRecords.delete(record.id);
    this.#deletedRecords.set(record.id, record);
    if (this.#deletedRecords.size > DELETED_MAX)
      this.#deletedRecords.delete(this.#deletedRecords.keys().next().value!);
  }

  /** Returns a page in the order of changes. `hasMore` is true if another page follows. */
  readPage(query: PageQuery): { records: StoredRecord[]; hasMore: boolean } {
    const records: StoredRecord[] = [];
    for (const record of this.#listMatches(query)) {
      if (records.length === query.limit) return { records, hasMore: true };
      records.push(record);
    }
    return { records, hasMore: false };
  }

  /** Counts all matches. It visits each of them, so only the first page of a read calls it. */
  count(query: Omit<PageQuery, 'limit' | 'after'>): number {
    const { sinceMs, untilMs, isMatch } = query;
    if (sinceMs === undefined && untilMs === undefined && !isMatch) return this.size;
    let count = 0;
    for (const _ of this.#listMatches(query)) count += 1;
    return count;
  }

  /** Returns the most recently changed records, newest first. */
  listNewest(limit: number): StoredRecord[] {
    const records: StoredRecord[] = [];
    for (let index = this.#versions.length - 1; index >= 0 && records.length < limit; index -= 1) {
      const version = this.#versions[index]!;
      if (this.#isCurrent(version)) records.push(version);
    }
    return records;
  }

  *#listMatches({
    after = 0,
    sinceMs = Number.NEGATIVE_INFINITY,
    untilMs = Number.POSITIVE_INFINITY,
    isMatch = () => true,
  }: Partial<PageQuery>): Generator<StoredRecord> {
    const versions = this.#versions;
    let index = getFirstIndex(
      versions,
      ({ position, updatedAtMs }) => position > after && updatedAtMs >= sinceMs,
    );
    for (; index < versions.length; index += 1) {
      const version = versions[index]!;
      if (version.updatedAtMs > untilMs) return;
      if (this.#isCurrent(version) && isMatch(version)) yield version;
    }
  }

  #put(
    id: string,
    values: Record<string, unknown>,
    associations: readonly StoredAssociation[],
  ): StoredRecord {
    const previous = this.#currentRecords.get(id);
    const updatedAtMs = Math.max(this.#now().getTime(), this.#lastUpdatedAtMs);
    this.#lastUpdatedAtMs = updatedAtMs;
    this.#lastPosition += 1;
    const record: StoredRecord = {
      id,
      position: this.#lastPosition,
      createdAtMs: previous?.createdAtMs ?? updatedAtMs,
      updatedAtMs,
      values,
      associations,
    };
    if (previous !== undefined) this.#releaseUnique(previous);
    for (const [name, owners] of this.#ownersByField) {
      if (values[name] != null) owners.set(toUniqueKey(values[name]), id);
    }
    this.#currentRecords.set(id, record);
    this.#versions.push(record);
    this.#compact();
    return record;
  }

  #releaseUnique({ values }: StoredRecord): void {
    for (const [name, owners] of this.#ownersByField) {
      if (values[name] != null) owners.delete(toUniqueKey(values[name]));
    }
  }

  #isCurrent(version: StoredRecord): boolean {
    return this.#currentRecords.get(version.id) === version;
  }

  /** Removes old versions. Runs after at least as many changes as there are records, so each change has a constant cost. */
  #compact(): void {
    if (this.#versions.length <= 2 * this.size + COMPACTION_SLACK) return;
    this.#versions = this.#versions.filter((version) => this.#isCurrent(version));
  }
}

function toUniqueKey(value: unknown): string {
  return String(value).toLowerCase();
}

/** Returns the first index where the predicate is true. It must change from false to true at most once. */
function getFirstIndex<Item>(items: readonly Item[], predicate: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (predicate(items[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
