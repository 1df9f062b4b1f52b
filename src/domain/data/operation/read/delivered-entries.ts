/**
 * Remembers the entries that scheduled reads delivered recently. A read that looks back returns records again. Only
 * entries that are new or have changed are delivered. Entries are stored as keyed hashes, so that they reveal no data of
 * the account.
 */
import { hash } from 'node:crypto';
import type { Services } from '../../../access/call.ts';

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

/** The entries of one object. Discard them if the page whose entries were added is not recorded. */
export class DeliveredEntries {
  /** Precedes each hashed text. A prefix is a sufficient key, because only a part of each digest is stored. */
  readonly #key: string;
  /** By the hash of the record's id, in the order of their delivery. */
  readonly #entries: Map<string, DeliveredEntry>;
  /**
   * The number of pages that triggered reads of the object had recorded when the entries were loaded. If it has changed,
   * newer versions of records may have been delivered.
   */
  readonly triggeredPages: number;

  private constructor(
    key: Uint8Array,
    { hashes, triggeredPages }: { hashes: Uint8Array; triggeredPages: number },
  ) {
    this.#key = Buffer.from(key).toString('latin1');
    this.#entries = parseEntries(hashes);
    this.triggeredPages = triggeredPages;
  }

  static async load(
    { database, vault }: Pick<Services, 'database' | 'vault'>,
    { projectId, installationId, objectName }: ObjectKey,
  ): Promise<DeliveredEntries> {
    const key = { projectId, installationId, objectName };
    // The hashes are read in the same statement as the number, or after it, so they are never older than the number.
    const object = await database.prisma.installedObject.findUnique({
      where: { projectId_installationId_objectName: key },
      select: { triggeredPages: true, deliveredEntries: { select: { hashes: true } } },
    });
    const { triggeredPages = 0, deliveredEntries } = object ?? {};
    const hashes = deliveredEntries?.hashes ?? new Uint8Array();
    const [{ key: hashKey }] = vault.deriveKeys('delivered-entries');
    return new DeliveredEntries(hashKey, { hashes, triggeredPages });
  }

  has({ id, text }: SerializedEntry): boolean {
    const entry = this.#entries.get(this.#hash(id));
    return entry !== undefined && entry.entryHash === this.#hash(text);
  }

  /**
   * Adds entries that are delivered now, and removes entries that no later read can return. Returns true if it removed or
   * replaced an entry. The hashes must then be stored with the page: with an older stored entry, a later read would skip a
   * record that changes back to it.
   */
  add(
    entries: readonly SerializedEntry[],
    { now, expireTime }: { now: Date; expireTime: Date },
  ): boolean {
    let hasRemoved = this.#removeExpired(toSeconds(expireTime));
    for (const { id, text } of entries) {
      const idHash = this.#hash(id);
      // A new entry of a record moves to the end, so that the map stays in the order of delivery.
      if (this.#entries.delete(idHash)) hasRemoved = true;
      if (this.#entries.size === ENTRIES_MAX) continue;
      this.#entries.set(idHash, { entryHash: this.#hash(text), deliveredTime: toSeconds(now) });
    }
    return hasRemoved;
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

  /** Returns true if an entry was removed. */
  #removeExpired(expireTime: number): boolean {
    const { size } = this.#entries;
    for (const [idHash, { deliveredTime }] of this.#entries) {
      if (deliveredTime >= expireTime) break;
      this.#entries.delete(idHash);
    }
    return this.#entries.size < size;
  }

  #hash(text: string): string {
    return hash('sha256', this.#key + text, 'buffer').toString('latin1', 0, HASH_BYTES);
  }
}

function parseEntries(hashes: Uint8Array): Map<string, DeliveredEntry> {
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
