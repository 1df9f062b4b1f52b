/** Where the rows of each table are in a cluster (docs/decisions/034-citus.md). */
import { Prisma } from '../generated/client.ts';
import type { Table } from '../tables.ts';

/**
 * Distributed: the rows of a project are together on one node. Reference: every node has all rows. Local: the coordinator
 * has them.
 */
export type TablePlacement = 'distributed' | 'reference' | 'local';

/** Tables that rows of projects reference, or that identify the project of a call: read often and rarely changed. */
const REFERENCE_TABLES: readonly Table[] = ['Org', 'Project', 'ApiKey', 'JwtKey'];

/** The first distributed table. The shards of the others are colocated with its shards. */
export const ANCHOR: Table = 'EventLog';

/** The placements of this version's tables, in the order in which they must be distributed. */
export const PLACEMENTS: ReadonlyMap<string, TablePlacement> = new Map(
  [...REFERENCE_TABLES, ANCHOR, ...Object.values(Prisma.ModelName)].map((table) => {
    const hasProject = 'projectId' in Prisma[`${table}ScalarFieldEnum`];
    return [table, derivePlacement(table, { hasProject })];
  }),
);

/** Returns the placement of a table of any version of the gateway. */
export function derivePlacement(
  table: string,
  { hasProject }: { hasProject: boolean },
): TablePlacement {
  if (REFERENCE_TABLES.some((reference) => reference === table)) return 'reference';
  return hasProject ? 'distributed' : 'local';
}
