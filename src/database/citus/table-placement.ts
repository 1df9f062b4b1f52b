/** Where the rows of each table are in a cluster (docs/decisions/034-citus.md). */
import { Prisma } from '../generated/client.ts';
import type { Table } from '../tables.ts';

/**
 * Distributed: the rows of a project are together on one node. Reference: every node has all rows. Local: the coordinator
 * has them.
 */
export type TablePlacement = 'distributed' | 'reference' | 'local';

export const TABLES: ReadonlySet<Table> = new Set(Object.values(Prisma.ModelName));

/** Tables that rows of projects reference, or that identify the project of a call: read often and rarely changed. */
const REFERENCE_TABLES: readonly Table[] = ['Org', 'Project', 'ApiKey', 'JwtKey'];

/** The first distributed table. The shards of the others are colocated with its shards. */
export const ANCHOR: Table = 'EventLog';

/** Tables whose rows belong to no project. */
const LOCAL_TABLES: readonly Table[] = [
  'Builder',
  'ConsoleSession',
  'OrgMember',
  'BillingAccount',
  'Invite',
  'ClaimedDomain',
  'CallerRate',
  'SandboxLease',
  'ServerProcess',
];

/** Throws for a table that belongs to no project and is not listed as local. */
export function getPlacement(table: Table): TablePlacement {
  const hasProject = 'projectId' in Prisma[`${table}ScalarFieldEnum`];
  const placement = derivePlacement(table, { hasProject });
  if (placement !== 'local' || LOCAL_TABLES.includes(table)) return placement;
  throw new Error(`The table ${table} has no placement in a cluster.`);
}

/** Returns the placement of a table of any version of the gateway. */
export function derivePlacement(
  table: string,
  { hasProject }: { hasProject: boolean },
): TablePlacement {
  if (REFERENCE_TABLES.some((reference) => reference === table)) return 'reference';
  return hasProject ? 'distributed' : 'local';
}

/** Returns the tables that are not local, each after the tables that must be distributed before it. */
export function listTablesToDistribute(): Table[] {
  const distributed = [...TABLES].filter((table) => getPlacement(table) === 'distributed');
  return [...new Set([...REFERENCE_TABLES, ANCHOR, ...distributed])];
}
