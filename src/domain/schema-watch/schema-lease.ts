/** Who looks at an installation's fields. */
import { LeasedRows } from '../../database/leased-rows.ts';
import { columnsOf, type Row } from '../../database/tables.ts';
import { LEASE } from '../../work/lease.ts';
import type { Services } from '../call.ts';

export type SchemaWatch = Row<'SchemaWatch'>;

export const WATCHES = new LeasedRows({
  table: 'SchemaWatch',
  key: ['projectId', 'installationId'],
  leaseMs: 30_000,
  columns: LEASE,
});

/** The one that is due first, of any project; null if none is. */
export async function claimWatch({
  database,
  now,
}: Pick<Services, 'database' | 'now'>): Promise<SchemaWatch | null> {
  const due = { countMax: 1, now: now(), columns: columnsOf('SchemaWatch') };
  const [claimed] = await WATCHES.claimDue(database, due);
  return claimed ?? null;
}
