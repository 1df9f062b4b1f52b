/**
 * Stores the field types that accounts describe. It works in the background, so that the request that read a description
 * neither waits nor fails. Descriptions that are already stored are skipped.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { FieldDescription, ObjectDescription } from '../../providers/contract.ts';
import { DAY_MS } from '../../work/durations.ts';
import { Outage } from '../../work/outage.ts';
import type { Services } from '../call.ts';

/** The maximum number of types that are stored for one object. No account has as many fields. */
const LEARNED_FIELDS_MAX = 5_000;
/** The maximum number of stored descriptions whose digests are cached. */
const DIGESTS_MAX = 10_000;
/** The maximum number of descriptions that wait to be stored. Further ones are skipped until they are read again. */
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
  readonly #prisma: Services['database']['prisma'];
  readonly #now: Services['now'];
  readonly #outage: Outage;
  /** Digests of stored descriptions. Entries expire, so that `lastSeenTime` of the rows stays recent. */
  readonly #storedDigests = new LRUCache<string, true>({ max: DIGESTS_MAX, ttl: DAY_MS });
  /** Descriptions that wait to be stored, by digest. */
  readonly #pendingDescriptions = new Map<string, PendingDescription>();
  #storing: Promise<void> | null = null;

  constructor({ database, log, now }: Pick<Services, 'database' | 'log' | 'now'>) {
    this.#prisma = database.prisma;
    this.#now = now;
    this.#outage = new Outage(log, 'learned_fields.not_stored');
  }

  /** Stores the field types of a description in the background. */
  learn(object: LearnedObject, { fields }: Pick<ObjectDescription, 'fields'>): void {
    const storedMembers = fields.map((field) => [
      field.fieldName,
      field.valueType,
      field.readOnly,
      field.isRequired,
    ]);
    const digest = createHash('sha256')
      .update(JSON.stringify([Object.values(object), storedMembers]))
      .digest('base64url');
    if (this.#storedDigests.has(digest) || this.#pendingDescriptions.size >= WAITING_MAX) return;
    this.#pendingDescriptions.set(digest, { object, fields });
    if (!this.#storing) this.#start();
  }

  #start(): void {
    this.#storing = this.#storeWaiting().finally(() => {
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

  async #storeWaiting(): Promise<void> {
    for (const [digest, description] of this.#pendingDescriptions) {
      this.#pendingDescriptions.delete(digest);
      const isStored = await this.#outage.watch(async () => {
        await this.#store(description);
        return true;
      });
      if (isStored) this.#storedDigests.set(digest, true);
    }
  }

  /** Adds new types, and updates types that have changed or were last seen more than a day ago. */
  async #store({ object, fields }: PendingDescription): Promise<void> {
    const prisma = this.#prisma;
    const now = this.#now();
    const rows = await prisma.learnedField.findMany({
      where: object,
      take: LEARNED_FIELDS_MAX,
    });
    const rowsByKey = new Map(rows.map((row) => [createKey(row), row]));
    const newFields = fields.filter((field) => !rowsByKey.has(createKey(field)));
    if (newFields.length > 0) {
      await prisma.learnedField.createMany({
        data: newFields
          .slice(0, Math.max(0, LEARNED_FIELDS_MAX - rows.length))
          .map(({ fieldName, valueType, readOnly, isRequired: required }) => {
            return { ...object, fieldName, valueType, readOnly, required, lastSeenTime: now };
          }),
        skipDuplicates: true,
      });
    }
    const storedFields = fields.flatMap((field) => {
      const row = rowsByKey.get(createKey(field));
      return row ? { field, row } : [];
    });
    type StoredField = (typeof storedFields)[number];
    const dayAgo = new Date(now.getTime() - DAY_MS);
    const changes = [
      { data: { lastSeenTime: now }, isDue: ({ row }: StoredField) => row.lastSeenTime < dayAgo },
      {
        data: { readOnly: false },
        isDue: ({ field, row }: StoredField) => row.readOnly && !field.readOnly,
      },
      {
        data: { required: false },
        isDue: ({ field, row }: StoredField) => row.required && !field.isRequired,
      },
    ];
    for (const { data, isDue } of changes) {
      const fieldsByType = Map.groupBy(storedFields.filter(isDue), ({ row }) => row.valueType);
      for (const [valueType, dueFields] of fieldsByType) {
        const fieldName = { in: dueFields.map(({ field }) => field.fieldName) };
        await prisma.learnedField.updateMany({ where: { ...object, valueType, fieldName }, data });
      }
    }
  }
}

function createKey({ fieldName, valueType }: { fieldName: string; valueType: string }): string {
  return JSON.stringify([fieldName, valueType]);
}
