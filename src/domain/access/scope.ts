/**
 * Authorizes access to rows. It is the only module that turns a viewer into a `where`. Node lookups and relations use
 * `byId`; lists and changes use `getProject` or `getOrg`. No row is read by its id alone.
 */

import type { InOrgs, Link, Where } from '../../database/statements/reads/row-list.ts';
import type { Row, Table } from '../../database/statements/tables.ts';
import { notFound } from '../../kernel/errors.ts';
import { findPrefix } from '../../kernel/ids.ts';
import { parseDomain } from '../base/domain-name.ts';
import type { Call, RowCall } from './call.ts';
import type { EndUserViewer } from './viewer/end-user.ts';
import type { Viewer } from './viewer/viewer.ts';
import {
  CONSUMERS_OF_GROUP,
  isEndUserRow,
  narrowToEndUser,
  VISIBLE_BUILDERS,
  VISIBLE_INVITES,
} from './viewer/visible-rows.ts';

export type { PageRow } from '../../database/statements/reads/linked-rows.ts';
export type { Row } from '../../database/statements/tables.ts';

/** Lists the ids of the viewer's orgs. Scopes decide what an API key may do with its org. An end user has none. */
export function listOrgIds(viewer: Viewer): string[] {
  if (viewer.kind === 'END_USER') return [];
  return viewer.kind === 'API_KEY' ? [viewer.orgId] : [...viewer.roles.keys()];
}

function toProjectCondition(viewer: Viewer): string | InOrgs {
  return viewer.kind === 'BUILDER' ? { projectsOfOrgs: listOrgIds(viewer) } : viewer.projectId;
}

/**
 * Narrows a `where` to rows that the viewer may see. `where` must name the viewer's project. End users see rows of their
 * own group and of the integrations that their token names. Returns null if no row can match.
 */
export function narrowToVisible<T extends Table>(
  viewer: Viewer,
  table: T,
  where: Where<T>,
): Where<T> | null {
  return viewer.kind === 'END_USER'
    ? (narrowToEndUser(viewer, table, where) as Where<T> | null)
    : where;
}

/** Lists the rows of the viewer's project that match `where` and that the viewer may see. */
export async function listVisibleRows<T extends ProjectTable>(
  { viewer, database }: RowCall,
  table: T,
  where: Where<T>,
): Promise<Row<T>[]> {
  const visibleWhere = narrowToVisible(viewer, table, where);
  return visibleWhere ? database.reads.find(table, visibleWhere) : [];
}

/** True if the viewer may see this row of its project. Call it for rows that were read without `narrowToVisible`. */
export function canSee<T extends ProjectTable>(viewer: Viewer, table: T, row: Row<T>): boolean {
  return viewer.kind !== 'END_USER' || isEndUserRow(viewer, table, row);
}

/** Lists the names of the providers that the viewer may use. Null if it may use the whole catalog. */
export async function listPermittedProviderNames(
  call: RowCall,
): Promise<ReadonlySet<string> | null> {
  const { viewer } = call;
  if (viewer.kind !== 'END_USER' || viewer.integrationIds === null) return null;
  const integrations = await listVisibleRows(call, 'Integration', { projectId: viewer.projectId });
  return new Set(integrations.map(({ provider }) => provider));
}

/** Returns a project by id or name. Throws NOT_FOUND if the viewer may not see it. */
export async function getProject(
  call: RowCall,
  idOrName: string,
): Promise<Readonly<Row<'Project'>>> {
  const project = await findProject(call, idOrName);
  if (!project) throw notFound('Project', idOrName);
  return project;
}

const ORG_TABLES = [
  'Org',
  'Project',
  'Invite',
  'BillingAccount',
  'ClaimedDomain',
  'Builder',
] as const;
type OrgTable = (typeof ORG_TABLES)[number];

export function isOrgTable(table: IdTable): table is OrgTable {
  return (ORG_TABLES as readonly IdTable[]).includes(table);
}

/** Finds a project by id or name. Null if the viewer may not see it. */
export async function findProject(
  { viewer, database }: RowCall,
  idOrName: string,
): Promise<Readonly<Row<'Project'>> | null> {
  const key = findPrefix(idOrName) === 'prj' ? { id: idOrName } : { name: idOrName.toLowerCase() };
  const project = await database.reads.findProject({ ...key, orgId: listProjectOrgIds(viewer) });
  return project && isVisibleProject(viewer, project) ? project : null;
}

/** Lists the orgs whose projects the viewer may see. */
export function listProjectOrgIds(viewer: Viewer): string[] {
  return viewer.kind === 'END_USER' ? [viewer.orgId] : listOrgIds(viewer);
}

function isVisibleProject(viewer: Viewer, project: Row<'Project'>): boolean {
  return viewer.kind === 'BUILDER'
    ? viewer.roles.has(project.orgId)
    : project.id === viewer.projectId;
}

/** Returns an org of the viewer. Throws NOT_FOUND if the viewer may not see it. */
export async function getOrg(call: Call, id: string): Promise<Row<'Org'>> {
  const [org] = await byId('Org')(call, [id]);
  if (!org) throw notFound('Org', id);
  return org;
}

/** Returns the condition for lists of an org. It matches nothing if the viewer is only invited and not a member. */
export function toOrgCondition(viewer: Viewer, { id }: Row<'Org'>): string | string[] {
  return listOrgIds(viewer).includes(id) ? id : [];
}

/** Loads one value for each key, in the order of the keys. A key may occur twice. */
export type Batch<K, V> = (call: Call, keys: readonly K[]) => Promise<V[]>;

/** Tables whose rows belong to a project. */
export type ProjectTable = {
  [T in Table]: 'projectId' extends keyof Row<T> ? ('id' extends keyof Row<T> ? T : never) : never;
}[Table];
export type IdTable = ProjectTable | OrgTable;

/** A column that refers to a row of another table. */
export interface LinkTo<T extends ProjectTable = ProjectTable> {
  table: T;
  column: string;
}

/** Tables whose rows end users see only if a visible row refers to them. */
const INDIRECTLY_VISIBLE_TABLES: readonly Table[] = ['Consumer', 'InstallationConfig'];

/** Restricts links to rows that `byId` would find. */
export function listVisibleLinks(viewer: Viewer, links: readonly LinkTo[] = []): Link[] {
  return links.flatMap((link) => {
    const where = narrowToVisible(viewer, link.table, { projectId: toProjectCondition(viewer) });
    // A link can't check the rows on which the visibility depends. `listForEndUser` does.
    const isLinkable =
      viewer.kind !== 'END_USER' || !INDIRECTLY_VISIBLE_TABLES.includes(link.table);
    return where && isLinkable ? [{ ...link, where }] : [];
  });
}

const batchesByTable = new Map<IdTable, Batch<string, unknown>>();

/**
 * Returns the batch that loads rows of a table by id. Rows that the viewer may not see are null. Each table has one
 * batch, so that DataLoader combines its keys.
 */
export function byId<T extends IdTable>(table: T): Batch<string, Row<T> | null> {
  let batch = batchesByTable.get(table);
  if (!batch) {
    batch = async (call, ids) => {
      const rows = (await listVisibleById(call, table, [...new Set(ids)])) as { id: string }[];
      const rowsById = new Map(rows.map((row) => [row.id, row]));
      return ids.map((id) => rowsById.get(id) ?? null);
    };
    batchesByTable.set(table, batch);
  }
  return batch as Batch<string, Row<T> | null>;
}

/** Returns a row of the project by id. Throws NOT_FOUND if the viewer sees no such row. The error calls it `noun`. */
export async function getProjectRow<T extends ProjectTable>(
  call: RowCall,
  table: T,
  { projectId, id, noun }: { projectId: string; id: string; noun: string },
): Promise<Row<T>> {
  const [row] = await listVisibleRows(call, table, toConditions<T>({ projectId, id }));
  if (!row) throw notFound(noun, id);
  return row;
}

/** Lists all rows of a project's table that the viewer may see. Only for viewers that see few rows. */
export function listProjectRows<T extends ProjectTable>(
  call: RowCall,
  table: T,
  projectId: string,
): Promise<Row<T>[]> {
  return listVisibleRows(call, table, toConditions<T>({ projectId }));
}

/** Types conditions on columns that every table of a project has. */
function toConditions<T extends ProjectTable>(columns: { projectId: string; id?: string }) {
  return columns as unknown as Where<T>;
}

/** A claimed domain is visible to its org, and to builders with an email address of the domain. */
export function canSeeClaimedDomain(viewer: Viewer, claimedDomain: Row<'ClaimedDomain'>): boolean {
  return (
    listOrgIds(viewer).includes(claimedDomain.orgId) ||
    parseDomain(findEmail(viewer) ?? '') === claimedDomain.domain
  );
}

/** Lists the rows with these ids that the viewer may see. */
function listVisibleById(call: RowCall, table: IdTable, ids: string[]) {
  const {
    viewer,
    database: { reads, run },
    now,
  } = call;
  if (viewer.kind === 'END_USER') return listForEndUser(call, viewer, { table, ids });
  const orgIds = listOrgIds(viewer);
  switch (table) {
    case 'Org':
      return reads.find('Org', { id: ids.filter((id) => orgIds.includes(id)) });
    case 'Project':
      return reads
        .find('Project', { id: ids, orgId: orgIds })
        .then((projects) => projects.filter((project) => isVisibleProject(viewer, project)));
    case 'Builder':
      return run(VISIBLE_BUILDERS, { ids, orgIds, viewerId: viewer.id });
    case 'Invite':
      return run(VISIBLE_INVITES, { ids, orgIds, email: findEmail(viewer), now: now() });
    case 'ClaimedDomain':
      return reads
        .find('ClaimedDomain', { id: ids })
        .then((domains) => domains.filter((domain) => canSeeClaimedDomain(viewer, domain)));
    case 'BillingAccount':
      return reads.find('BillingAccount', { id: ids, orgId: orgIds });
    default:
      return reads.find(table, {
        id: ids,
        projectId: toProjectCondition(viewer),
      } as Where<ProjectTable>);
  }
}

async function listForEndUser(
  call: RowCall,
  viewer: EndUserViewer,
  { table, ids }: { table: IdTable; ids: string[] },
): Promise<unknown[]> {
  const { reads, run } = call.database;
  const { projectId } = viewer;
  if (table === 'Consumer') return run(CONSUMERS_OF_GROUP, { ...viewer, ids });
  if (table === 'InstallationConfig') {
    const configs = await reads.find('InstallationConfig', { projectId, id: ids });
    const id = configs.map(({ installationId }) => installationId);
    const installations = await listVisibleRows(call, 'Installation', { projectId, id });
    const visibleIds = new Set(installations.map((installation) => installation.id));
    return configs.filter(({ installationId }) => visibleIds.has(installationId));
  }
  const where = narrowToEndUser(
    viewer,
    table,
    table === 'Project' ? { id: ids } : { projectId, id: ids },
  );
  return where ? reads.find(table, where) : [];
}

function findEmail(viewer: Viewer): string | null {
  return viewer.kind === 'BUILDER' ? viewer.email : null;
}
