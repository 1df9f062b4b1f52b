/** Revisions and configs never change, so they are kept for a while by their ids. Who may see them is told before. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../database/database.ts';
import type { Row } from '../../database/rows.ts';
import { MINUTE_MS } from '../../work/durations.ts';
import { contentOf, type IntegrationContent } from './integration-content.ts';

type ContentTable = 'Revision' | 'InstallationConfig';

/** Contents have some kilobytes each. */
const KEPT_MAX = 1_000;

const KEPT = new WeakMap<Database['prisma'], LRUCache<string, Row<ContentTable>>>();

/** What the integration's latest revision says; null if it is gone. The caller has found it for its viewer. */
export async function findLatestContent(
  database: Database,
  { projectId, latestRevisionId: id }: Row<'Integration'>,
): Promise<IntegrationContent | null> {
  const revision = await findContent(database, 'Revision', { projectId, id });
  return revision && contentOf(revision);
}

/** The caller has found the key in a row that its viewer may see. Nobody may change what is returned. */
export async function findContent<T extends ContentTable>(
  database: Database,
  table: T,
  { projectId, id }: { projectId: string; id: string },
): Promise<Row<T> | null> {
  let kept = KEPT.get(database.prisma);
  if (!kept) {
    kept = new LRUCache({ max: KEPT_MAX, ttl: MINUTE_MS });
    KEPT.set(database.prisma, kept);
  }
  const known = kept.get(id);
  if (known) return known as Row<T>;
  const [row] = await database.rows.find<ContentTable>(table, { projectId, id });
  if (row) kept.set(id, row);
  return (row as Row<T> | undefined) ?? null;
}
