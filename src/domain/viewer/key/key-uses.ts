/** When each API key was last used: kept to a minute, so that a busy key doesn't write its row for each request. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../../database/database.ts';
import type { Row } from '../../../database/rows.ts';
import type { Log } from '../../../log.ts';
import { Outage } from '../../../work/outage.ts';

const KEPT_TO_MS = 60_000;
const KEYS_MAX = 10_000;

type UsedKey = Pick<Row<'ApiKey'>, 'projectId' | 'id' | 'lastUsedTime'>;

export class KeyUses {
  readonly #database: Database;
  readonly #outage: Outage;
  /** Those that were noted just now, or were to be. */
  readonly #tried = new LRUCache<string, true>({ max: KEYS_MAX, ttl: KEPT_TO_MS });

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#outage = new Outage(log, 'key_use.not_noted');
  }

  async used({ projectId, id, lastUsedTime }: UsedKey, time: Date): Promise<void> {
    if (time.getTime() - (lastUsedTime?.getTime() ?? 0) <= KEPT_TO_MS) return;
    const { prisma, isDistributed } = this.#database;
    const note = () =>
      prisma.apiKey.updateMany({ where: { projectId, id }, data: { lastUsedTime: time } });
    if (!isDistributed) {
      await note();
      return;
    }
    // Every node has the keys: a call does not wait for nodes that have none of its rows, and one that is away fails none.
    if (this.#tried.has(id)) return;
    this.#tried.set(id, true);
    void this.#outage.watch(note);
  }
}
