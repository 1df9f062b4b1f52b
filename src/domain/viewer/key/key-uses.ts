/** The precision of `lastUsedTime`. It avoids an update for each request of a busy key. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../../database/database.ts';
import type { Row } from '../../../database/rows.ts';
import type { Log } from '../../../log.ts';
import { Outage } from '../../../work/outage.ts';

const PRECISION_MS = 60_000;
const KEYS_MAX = 10_000;

type UsedKey = Pick<Row<'ApiKey'>, 'projectId' | 'id' | 'lastUsedTime'>;

export class KeyUses {
  readonly #database: Database;
  readonly #outage: Outage;
  /** Ids of keys whose use was recorded within the last minute, or whose recording was tried. */
  readonly #recentIds = new LRUCache<string, true>({ max: KEYS_MAX, ttl: PRECISION_MS });

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#outage = new Outage(log, 'key_use.not_noted');
  }

  async recordUse({ projectId, id, lastUsedTime }: UsedKey, time: Date): Promise<void> {
    if (time.getTime() - (lastUsedTime?.getTime() ?? 0) <= PRECISION_MS) return;
    const { prisma, isDistributed } = this.#database;
    const record = () =>
      prisma.apiKey.updateMany({ where: { projectId, id }, data: { lastUsedTime: time } });
    if (!isDistributed) {
      await record();
      return;
    }
    // Every node of a cluster stores the keys. A call neither waits for nodes that have none of its rows, nor fails if
    // one is unavailable.
    if (this.#recentIds.has(id)) return;
    this.#recentIds.set(id, true);
    void this.#outage.watch(record);
  }
}
