/**
 * Records which field types occur in the accounts of a project. It works in the background, so that the request that read
 * a description neither waits nor fails. Descriptions that are already stored are skipped.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Prisma } from '../../../database/generated/client.ts';
import type { Database } from '../../../database/open/database.ts';
import type { Log } from '../../../kernel/log.ts';
import type { FieldDescription, ObjectDescription } from '../../../providers/contract.ts';
import { DAY_MS } from '../../../work/durations.ts';
import { growUpTo } from '../../../work/growing-cache.ts';
import { Outage } from '../../../work/outage.ts';

/** The maximum number of types that are stored for one object. No account has as many fields. */
const LEARNED_FIELDS_MAX = 5_000;
/** The maximum number of stored descriptions whose digests are cached. */
const DIGESTS_MAX = 10_000;
/** The maximum number of descriptions that wait to be stored. Further descriptions are skipped until the next read. */
const WAITING_MAX = 1_000;

/** Identifies the object of a description. */
interface LearnedObject {
  projectId: string;
  provider: string;
  module: string;
  objectName: string;
}

interface PendingDescription {
  object: LearnedObject;
  fields: readonly FieldDescription[];
}

export class FieldLearner implements AsyncDisposable {
  readonly #prisma: Database['prisma'];
  readonly #now: () => Date;
  readonly #outage: Outage;
  /** Digests of stored descriptions. They expire after a day, so that `lastSeenTime` of the rows stays recent. */
  readonly #storedDigests = new LRUCache<string, true>({
    ...growUpTo(DIGESTS_MAX),
    ttl: DAY_MS,
  });
  /** Descriptions that wait to be stored, by digest. */
  readonly #pendingDescriptions = new Map<string, PendingDescription>();
  #storing: Promise<void> | null = null;

  constructor({ database, log, now }: { database: Database; log: Log; now: () => Date }) {
    this.#prisma = database.prisma;
    this.#now = now;
    this.#outage = new Outage(log, 'field_types.not_stored');
  }

  /** Stores the field types of a description in the background. */
  learn(object: LearnedObject, { fields }: Pick<ObjectDescription, 'fields'>): void {
    const storedMembers = fields.map((field) => [
      field.fieldName,
      field.valueType,
      field.readOnly,
      field.isRequired,
    ]);
    const digest = hash(
      'sha256',
      JSON.stringify([Object.values(object), storedMembers]),
      'base64url',
    );
    if (this.#storedDigests.has(digest) || this.#pendingDescriptions.size >= WAITING_MAX) return;
    this.#pendingDescriptions.set(digest, { object, fields });
    if (!this.#storing) this.#start();
  }

  #start(): void {
    this.#storing = this.#storePending().finally(() => {
      this.#storing = null;
      // A description may have been added after the loop had ended.
      if (this.#pendingDescriptions.size > 0) this.#start();
    });
  }

  /** Resolves when no description waits to be stored. */
  async waitUntilStored(): Promise<void> {
    while (this.#storing) await this.#storing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.waitUntilStored();
  }

  async #storePending(): Promise<void> {
    for (const [digest, description] of this.#pendingDescriptions) {
      this.#pendingDescriptions.delete(digest);
      const isStored = await this.#outage.watch(async () => {
        await this.#store(description);
        return true;
      });
      if (isStored) this.#storedDigests.set(digest, true);
    }
  }

  /**
   * Adds new types. Updates the time of types that were last seen more than a day ago, and clears `readOnly` or `required`
   * of a type if this account describes the field without the flag.
   */
  async #store({ object, fields }: PendingDescription): Promise<void> {
    const now = this.#now();
    const dayAgo = new Date(now.getTime() - DAY_MS);
    const rows = await this.#prisma.learnedField.findMany({
      where: object,
      take: LEARNED_FIELDS_MAX,
    });
    const rowsByKey = new Map(rows.map((row) => [createKey(row), row]));
    const newFields: FieldDescription[] = [];
    const outdatedFields: FieldDescription[] = [];
    const writableFields: FieldDescription[] = [];
    const optionalFields: FieldDescription[] = [];
    for (const field of fields) {
      const row = rowsByKey.get(createKey(field));
      if (!row) {
        newFields.push(field);
        continue;
      }
      if (row.lastSeenTime < dayAgo) outdatedFields.push(field);
      if (row.readOnly && !field.readOnly) writableFields.push(field);
      if (row.required && !field.isRequired) optionalFields.push(field);
    }
    await this.#insert(object, newFields.slice(0, LEARNED_FIELDS_MAX - rows.length), now);
    await this.#update(object, outdatedFields, { lastSeenTime: now });
    await this.#update(object, writableFields, { readOnly: false });
    await this.#update(object, optionalFields, { required: false });
  }

  async #insert(
    object: LearnedObject,
    fields: readonly FieldDescription[],
    now: Date,
  ): Promise<void> {
    if (fields.length === 0) return;
    await this.#prisma.learnedField.createMany({
      data: fields.map(({ fieldName, valueType, readOnly, isRequired }) => ({
        ...object,
        fieldName,
        valueType,
        readOnly,
        required: isRequired,
        lastSeenTime: now,
      })),
      skipDuplicates: true,
    });
  }

  async #update(
    object: LearnedObject,
    fields: readonly FieldDescription[],
    data: Prisma.LearnedFieldUpdateManyMutationInput,
  ): Promise<void> {
    for (const [valueType, typeFields] of Map.groupBy(fields, (field) => field.valueType)) {
      const fieldName = { in: typeFields.map((field) => field.fieldName) };
      await this.#prisma.learnedField.updateMany({
        where: { ...object, valueType, fieldName },
        data,
      });
    }
  }
}

function createKey({ fieldName, valueType }: { fieldName: string; valueType: string }): string {
  return JSON.stringify([fieldName, valueType]);
}
