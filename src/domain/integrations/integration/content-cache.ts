/** Caches revisions and configs by id, because they never change. The caller must check that its viewer may see them. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../../database/open/database.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { MINUTE_MS } from '../../../work/durations.ts';
import { type IntegrationContent, readIntegrationContent } from './integration-content.ts';

type ContentTable = 'Revision' | 'InstallationConfig';

/** The maximum number of cached rows, which have a few kilobytes each. */
const ROWS_MAX = 1_000;

const CACHES = new WeakMap<Database['prisma'], LRUCache<string, Row<ContentTable>>>();

/** Finds the content of the integration's latest revision. Null if the integration was deleted. */
export async function findLatestContent(
  database: Database,
  { projectId, latestRevisionId: id }: Row<'Integration'>,
): Promise<IntegrationContent | null> {
  const revision = await findContent(database, 'Revision', { projectId, id });
  return revision && readIntegrationContent(revision);
}

/**
 * Finds a revision or a config. The key must come from a row that the viewer may see. The returned row is shared and
 * must not be changed.
 */
export async function findContent<T extends ContentTable>(
  database: Database,
  table: T,
  { projectId, id }: { projectId: string; id: string },
): Promise<Row<T> | null> {
  const cache = getCache(database);
  const cachedRow = cache.get(id);
  if (cachedRow) return cachedRow as Row<T>;
  const [row] = await database.reads.find<ContentTable>(table, { projectId, id: [id] });
  if (!row) return null;
  cache.set(id, row);
  return row as Row<T>;
}

function getCache({ prisma }: Database): LRUCache<string, Row<ContentTable>> {
  let cache = CACHES.get(prisma);
  if (!cache) {
    cache = new LRUCache({ max: ROWS_MAX, ttl: MINUTE_MS });
    CACHES.set(prisma, cache);
  }
  return cache;
}
