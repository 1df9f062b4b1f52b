/** Records when API keys were last used. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../../../database/open/database.ts';
import type { Row } from '../../../../database/statements/tables.ts';
import type { Log } from '../../../../kernel/log.ts';
import { MINUTE_MS } from '../../../../work/durations.ts';
import { growUpTo } from '../../../../work/growing-cache.ts';
import { Outage } from '../../../../work/outage.ts';

/** The precision of `lastUsedTime`. It avoids an update for each request of a busy key. */
const PRECISION_MS = MINUTE_MS;
const KEYS_MAX = 10_000;

type UsedKey = Pick<Row<'ApiKey'>, 'projectId' | 'id' | 'lastUsedTime'>;

export class KeyUses {
  readonly #database: Database;
  readonly #outage: Outage;
  /** Ids of keys whose use this process tried to record within the last minute. */
  readonly #recentIds = new LRUCache<string, true>({
    ...growUpTo(KEYS_MAX),
    ttl: PRECISION_MS,
  });

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#outage = new Outage(log, 'key_use.not_recorded');
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
    // Every node of a cluster stores the keys. A call must neither wait for nodes that have none of its rows, nor fail if
    // one of them is unavailable.
    if (this.#recentIds.has(id)) return;
    this.#recentIds.set(id, true);
    void this.#outage.watch(record);
  }
}
