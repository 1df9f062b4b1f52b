import { randomBytes } from 'node:crypto';
import type { FieldDefinition, ObjectDefinition } from './objects.ts';

/** One version of a record; a change makes a new version. */
export interface StoredRecord {
  readonly id: string;
  /** Place in the order of all changes of this table. */
  readonly position: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Values by field name; what was never set is absent. */
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

/** What has happened to a record. */
export interface RecordEvent {
  type: RecordEventType;
  definition: ObjectDefinition;
  record: StoredRecord;
  /** Of an update. */
  before?: StoredRecord;
  /** Of a merge: the record that is gone. */
  mergedId?: string;
}

export interface PageQuery {
  /** Changes up to this position were seen already. */
  after?: number;
  /** Changed at or after, and at or before. */
  sinceMs?: number;
  untilMs?: number;
  /** Left out: every record. */
  isMatch?: (record: StoredRecord) => boolean;
  limit: number;
}

/** Deleted records that can be restored; older ones are gone for good. */
const DELETED_MAX = 10_000;

/** Stale versions are removed when there are this many more of them than of current ones. */
const COMPACTION_SLACK = 1_000;

/**
 * The records of one object, in memory.
 * Versions are kept in the order of their changes, which is also that of `updatedAtMs`, because
 * that time never goes back. So a page is a binary search and a walk, whatever the table's size,
 * and a record changed while someone pages moves to the end: it may be seen twice, and is never missed.
 */
export class RecordTable {
  readonly definition: ObjectDefinition;
  /** Differs between runs: positions of an earlier run mean nothing in this one. */
  readonly epoch = randomBytes(4).toString('hex');
  readonly #now: () => Date;
  readonly #tell: (event: RecordEvent) => void;
  readonly #deleted = new Map<string, StoredRecord>();
  readonly #current = new Map<string, StoredRecord>();
  readonly #ownersByField: Map<string, Map<string, string>>;
  #versions: StoredRecord[] = [];
  #lastId = 0;
  #lastPosition = 0;
  #lastUpdatedAtMs = 0;

  constructor(
    definition: ObjectDefinition,
    now: () => Date,
    tell: (event: RecordEvent) => void = () => {},
  ) {
    this.definition = definition;
    this.#now = now;
    this.#tell = tell;
    this.#ownersByField = new Map(
      definition.fields.filter(({ unique }) => unique).map(({ name }) => [name, new Map()]),
    );
  }

  get size(): number {
    return this.#current.size;
  }

  find(id: string): StoredRecord | null {
    return this.#current.get(id) ?? null;
  }

  /** Id of the record that has this value in a unique field. */
  findOwner({ name }: FieldDefinition, value: unknown): string | null {
    return this.#ownersByField.get(name)?.get(uniqueKey(value)) ?? null;
  }

  /** Adds the field, or puts it in the place of that of its name, which must be as unique. */
  putField(field: FieldDefinition): void {
    const { fields } = this.definition;
    const at = fields.findIndex(({ name }) => name === field.name);
    if (at === -1) fields.push(field);
    else fields[at] = field;
    if (field.unique && at === -1) this.#ownersByField.set(field.name, new Map());
  }

  create(values: Record<string, unknown>, associations: StoredAssociation[] = []): StoredRecord {
    this.#lastId += 1;
    const record = this.#put(String(this.#lastId), values, associations);
    this.#tell({ type: 'created', definition: this.definition, record });
    return record;
  }

  /** What is left out stays as it is. The id must be one of this table's. */
  update(
    id: string,
    values: Record<string, unknown>,
    associations?: StoredAssociation[],
  ): StoredRecord {
    const before = this.#current.get(id)!;
    const next = { ...before.values, ...values };
    const record = this.#put(id, next, associations ?? before.associations);
    this.#tell({ type: 'updated', definition: this.definition, record, before });
    return record;
  }

  delete(id: string): boolean {
    const before = this.#current.get(id);
    if (before === undefined) return false;
    this.#remove(before);
    const record = { ...before, updatedAtMs: this.#now().getTime() };
    this.#tell({ type: 'deleted', definition: this.definition, record });
    return true;
  }

  /** Takes what this record lacks from the other, which goes. Both must be of this table. */
  merge(id: string, other: StoredRecord): StoredRecord {
    const { values, associations } = this.#current.get(id)!;
    this.#remove(other);
    const record = this.#put(id, { ...other.values, ...values }, associations);
    this.#tell({ type: 'merged', definition: this.definition, record, mergedId: other.id });
    return record;
  }

  /** Null if it was not deleted, or others have its unique values now. */
  restore(id: string): StoredRecord | null {
    const deleted = this.#deleted.get(id);
    if (!deleted || this.#hasTaken(deleted)) return null;
    this.#deleted.delete(id);
    const record = this.#put(id, deleted.values, deleted.associations);
    this.#tell({ type: 'restored', definition: this.definition, record });
    return record;
  }

  #hasTaken({ values }: StoredRecord): boolean {
    return this.definition.fields.some(
      (field) =>
        field.unique && values[field.name] != null && this.findOwner(field, values[field.name]),
    );
  }

  #remove(record: StoredRecord): void {
    this.#releaseUnique(record);
    this.#current.delete(record.id);
    this.#deleted.set(record.id, record);
    if (this.#deleted.size > DELETED_MAX) this.#deleted.delete(this.#deleted.keys().next().value!);
  }

  /** One page in the order of changes; `hasMore` says whether another follows. */
  page(query: PageQuery): { records: StoredRecord[]; hasMore: boolean } {
    const records: StoredRecord[] = [];
    for (const record of this.#matching(query)) {
      if (records.length === query.limit) return { records, hasMore: true };
      records.push(record);
    }
    return { records, hasMore: false };
  }

  /** Walks all matches: for the first page of a read, not for each. */
  count(query: Omit<PageQuery, 'limit' | 'after'>): number {
    const { sinceMs, untilMs, isMatch } = query;
    if (sinceMs === undefined && untilMs === undefined && !isMatch) return this.size;
    let count = 0;
    for (const _ of this.#matching(query)) count += 1;
    return count;
  }

  /** The records changed last, newest first. */
  newest(limit: number): StoredRecord[] {
    const records: StoredRecord[] = [];
    for (let index = this.#versions.length - 1; index >= 0 && records.length < limit; index -= 1) {
      const version = this.#versions[index]!;
      if (this.#isCurrent(version)) records.push(version);
    }
    return records;
  }

  *#matching({
    after = 0,
    sinceMs = Number.NEGATIVE_INFINITY,
    untilMs = Number.POSITIVE_INFINITY,
    isMatch = () => true,
  }: Partial<PageQuery>): Generator<StoredRecord> {
    const versions = this.#versions;
    let index = firstIndex(
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
    const before = this.#current.get(id);
    const updatedAtMs = Math.max(this.#now().getTime(), this.#lastUpdatedAtMs);
    this.#lastUpdatedAtMs = updatedAtMs;
    this.#lastPosition += 1;
    const record: StoredRecord = {
      id,
      position: this.#lastPosition,
      createdAtMs: before?.createdAtMs ?? updatedAtMs,
      updatedAtMs,
      values,
      associations,
    };
    if (before !== undefined) this.#releaseUnique(before);
    for (const [name, owners] of this.#ownersByField) {
      if (values[name] != null) owners.set(uniqueKey(values[name]), id);
    }
    this.#current.set(id, record);
    this.#versions.push(record);
    this.#compact();
    return record;
  }

  #releaseUnique({ values }: StoredRecord): void {
    for (const [name, owners] of this.#ownersByField) {
      if (values[name] != null) owners.delete(uniqueKey(values[name]));
    }
  }

  #isCurrent(version: StoredRecord): boolean {
    return this.#current.get(version.id) === version;
  }

  /** Keeps the versions within twice the records; its cost is spread over as many changes. */
  #compact(): void {
    if (this.#versions.length <= 2 * this.size + COMPACTION_SLACK) return;
    this.#versions = this.#versions.filter((version) => this.#isCurrent(version));
  }
}

function uniqueKey(value: unknown): string {
  return String(value).toLowerCase();
}

/** Where the predicate turns from false to true; it must do so at most once. */
function firstIndex<Item>(items: readonly Item[], predicate: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (predicate(items[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
