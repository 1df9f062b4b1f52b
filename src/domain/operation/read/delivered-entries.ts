/**
 * Remembers the entries that scheduled reads delivered recently. A read that looks back returns records again. Only
 * entries that are new or have changed are delivered. Entries are stored as keyed hashes, so that they reveal no data of
 * the account.
 */
import { createHmac } from 'node:crypto';
import type { Services } from '../../call.ts';

/** Limits the column to 400 KB. Further entries are not remembered, and delivered again if a read returns them. */
const ENTRIES_MAX = 20_000;
const HASH_BYTES = 8;
const TIME_BYTES = 4;
const ENTRY_BYTES = 2 * HASH_BYTES + TIME_BYTES;

interface DeliveredEntry {
  entryHash: string;
  /** In seconds since 1970. */
  deliveredTime: number;
}

/** A serialized entry of a message, with the id of its record. */
export interface SerializedEntry {
  id: string;
  text: string;
}

interface ObjectKey {
  projectId: string;
  installationId: string;
  objectName: string;
}

/** The entries of one object. Immutable, because a page that is not recorded must leave them unchanged. */
export class DeliveredEntries {
  readonly #key: Uint8Array;
  /** By the hash of the record's id, in the order of their delivery. */
  readonly #entries: ReadonlyMap<string, DeliveredEntry>;

  private constructor(key: Uint8Array, entries: ReadonlyMap<string, DeliveredEntry>) {
    this.#key = key;
    this.#entries = entries;
  }

  static async load(
    { database, vault }: Pick<Services, 'database' | 'vault'>,
    { projectId, installationId, objectName }: ObjectKey,
  ): Promise<DeliveredEntries> {
    const row = await database.prisma.deliveredEntries.findUnique({
      where: {
        projectId_installationId_objectName: { projectId, installationId, objectName },
      },
    });
    const [{ key }] = vault.deriveKeys('delivered-entries');
    return new DeliveredEntries(key, parseEntries(row?.hashes ?? new Uint8Array()));
  }

  has(entry: SerializedEntry): boolean {
    return this.#entries.get(this.#hash(entry.id))?.entryHash === this.#hash(entry.text);
  }

  /** Adds entries that are delivered now, and removes entries that no later read can return. */
  add(
    entries: readonly SerializedEntry[],
    { now, expireTime }: { now: Date; expireTime: Date },
  ): DeliveredEntries {
    const all = new Map(this.#entries);
    for (const { id, text } of entries) {
      const idHash = this.#hash(id);
      all.delete(idHash);
      all.set(idHash, { entryHash: this.#hash(text), deliveredTime: toSeconds(now) });
    }
    const recent = [...all].filter(
      ([, { deliveredTime }]) => deliveredTime >= toSeconds(expireTime),
    );
    return new DeliveredEntries(this.#key, new Map(recent.slice(0, ENTRIES_MAX)));
  }

  /** Returns the hashes for their column, in base64. */
  serialize(): string {
    const bytes = Buffer.alloc(this.#entries.size * ENTRY_BYTES);
    let offset = 0;
    for (const [idHash, { entryHash, deliveredTime }] of this.#entries) {
      bytes.write(idHash, offset, 'latin1');
      bytes.write(entryHash, offset + HASH_BYTES, 'latin1');
      bytes.writeUInt32BE(deliveredTime, offset + 2 * HASH_BYTES);
      offset += ENTRY_BYTES;
    }
    return bytes.toString('base64');
  }

  #hash(text: string): string {
    const digest = createHmac('sha256', this.#key).update(text).digest();
    return digest.toString('latin1', 0, HASH_BYTES);
  }
}

function parseEntries(hashes: Uint8Array): ReadonlyMap<string, DeliveredEntry> {
  const bytes = Buffer.from(hashes);
  const entries = new Map<string, DeliveredEntry>();
  for (let offset = 0; offset + ENTRY_BYTES <= bytes.length; offset += ENTRY_BYTES) {
    const hashesEnd = offset + 2 * HASH_BYTES;
    entries.set(bytes.toString('latin1', offset, offset + HASH_BYTES), {
      entryHash: bytes.toString('latin1', offset + HASH_BYTES, hashesEnd),
      deliveredTime: bytes.readUInt32BE(hashesEnd),
    });
  }
  return entries;
}

function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1_000);
}
