/** Where the rows of each table are in a cluster (docs/decisions/034-citus.md). */
import { Prisma } from '../generated/client.ts';
import type { Table } from '../statements/tables.ts';

/**
 * Distributed: the rows of a project are together on one node. Reference: every node has all rows. Local: the coordinator
 * has them.
 */
export type TablePlacement = 'distributed' | 'reference' | 'local';

/** Tables that rows of projects reference, or that identify the project of a call: read often and rarely changed. */
export const REFERENCE_TABLES: readonly Table[] = ['Org', 'Project', 'ApiKey', 'JwtKey'];

/** The first distributed table. The shards of the others are colocated with its shards. */
export const ANCHOR: Table = 'EventLog';

export const PLACEMENTS: ReadonlyMap<string, TablePlacement> = new Map(
  Object.values(Prisma.ModelName).map((table) => [table, choosePlacement(table)]),
);

function choosePlacement(table: Table): TablePlacement {
  if (REFERENCE_TABLES.includes(table)) return 'reference';
  return 'projectId' in Prisma[`${table}ScalarFieldEnum`] ? 'distributed' : 'local';
}
