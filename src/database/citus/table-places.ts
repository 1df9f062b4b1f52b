/** Where the rows of each table are if the database is a Citus cluster (docs/decisions/034-citus.md). */
import { Prisma } from '../generated/client.ts';
import type { Table } from '../tables.ts';

/**
 * Distributed: a project's rows are together on one node. Reference: every node has all rows. Local: the coordinator has
 * them.
 */
export type TablePlace = 'distributed' | 'reference' | 'local';

/** What a project's rows refer to, and what names a project for a call that doesn't. Read often, changed seldom. */
const REFERENCE: readonly Table[] = ['Org', 'Project', 'ApiKey', 'JwtKey'];

/** Of those that are distributed, the first: the shards of the others are where the same projects' shards of this one are. */
export const ANCHOR: Table = 'EventLog';

/** What belongs to no project. */
const LOCAL: readonly Table[] = [
  'Builder',
  'OrgMember',
  'BillingAccount',
  'Invite',
  'ClaimedDomain',
  'CallerRate',
  'SandboxLease',
  'ServerProcess',
];

/** Throws for a table that belongs to no project and has no place here. */
export function placeOf(table: Table): TablePlace {
  const hasProject = 'projectId' in Prisma[`${table}ScalarFieldEnum`];
  const place = placeByColumns(table, { hasProject });
  if (place !== 'local' || LOCAL.includes(table)) return place;
  throw new Error(`The table ${table} has no place in a cluster.`);
}

/** The same for a table of any version of the gateway. */
export function placeByColumns(table: string, { hasProject }: { hasProject: boolean }): TablePlace {
  if (REFERENCE.some((known) => known === table)) return 'reference';
  return hasProject ? 'distributed' : 'local';
}

/** Those that are not local, each after those that have to be there before it. */
export function tablesToPlace(): Table[] {
  const distributed = Object.values(Prisma.ModelName).filter(
    (table) => placeOf(table) === 'distributed',
  );
  return [...new Set([...REFERENCE, ANCHOR, ...distributed])];
}
