/**
 * What a viewer may see: the one place that turns a viewer into a `where`. Node lookups and relations
 * go through `byId`, lists and changes through `getProject` or `getOrg`; nothing is read by a bare id.
 */
import type { Link } from '../database/reads/linked-rows.ts';
import type { InOrgs, Row, Table, Where } from '../database/rows.ts';
import { anyOfThese, Kept, statements } from '../database/statements.ts';
import { notFound } from '../errors.ts';
import { prefixOf } from '../ids.ts';
import type { Call } from './call.ts';
import { domainOf } from './org/domain-name.ts';
import type { Viewer } from './viewer/viewer.ts';

export type { PageRow } from '../database/reads/linked-rows.ts';
export type { Row } from '../database/rows.ts';

/** The ids of the orgs that the viewer belongs to. Scopes decide what an API key may do with its org. */
export function orgIdsOf(viewer: Viewer): string[] {
  return viewer.kind === 'API_KEY' ? [viewer.orgId] : [...viewer.orgIds];
}

function projectScope(viewer: Viewer): string | InOrgs {
  return viewer.kind === 'API_KEY' ? viewer.projectId : { projectsOfOrgs: [...viewer.orgIds] };
}

/** The project of a call, by id or name, if the viewer may see it. Throws NOT_FOUND. */
export async function getProject(call: Call, idOrName: string): Promise<Readonly<Row<'Project'>>> {
  const project = await findProject(call, idOrName);
  if (!project) throw notFound('Project', idOrName);
  return project;
}

export async function findProject(
  { viewer, database }: Call,
  idOrName: string,
): Promise<Readonly<Row<'Project'>> | null> {
  const named = prefixOf(idOrName) === 'prj' ? { id: idOrName } : { name: idOrName.toLowerCase() };
  const project = await database.rows.findProject({ ...named, orgId: orgIdsOf(viewer) });
  return project && isVisible(viewer, project) ? project : null;
}

function isVisible(viewer: Viewer, project: Row<'Project'>): boolean {
  return viewer.kind === 'API_KEY'
    ? project.id === viewer.projectId
    : viewer.orgIds.includes(project.orgId);
}

/** The viewer's org. Throws NOT_FOUND. */
export async function getOrg(call: Call, id: string): Promise<Row<'Org'>> {
  const [org] = await byId('Org')(call, [id]);
  if (!org) throw notFound('Org', id);
  return org;
}

/** The org as a condition of its lists: for who only may join it, they are empty. */
export function ownOrgId(viewer: Viewer, { id }: Row<'Org'>): string | string[] {
  return orgIdsOf(viewer).includes(id) ? id : [];
}

/** Loads many at once: an answer for each key, in the order of the keys. A key may come twice. */
export type Batch<K, V> = (call: Call, keys: readonly K[]) => Promise<V[]>;

/** Tables whose rows belong to a project. */
export type ProjectTable = {
  [T in Table]: 'projectId' extends keyof Row<T> ? ('id' extends keyof Row<T> ? T : never) : never;
}[Table];
type OrgTable = 'Org' | 'Project' | 'Invite' | 'BillingAccount' | 'ClaimedDomain' | 'Builder';
export type IdTable = ProjectTable | OrgTable;

/** The row of a table whose id is in a column. */
export interface LinkTo<T extends ProjectTable = ProjectTable> {
  table: T;
  column: string;
}

/** Limits links to rows that `byId` would find. */
export function visibleLinks(viewer: Viewer, links: readonly LinkTo[] = []): Link[] {
  return links.map((link) => ({ ...link, where: { projectId: projectScope(viewer) } }));
}

const BATCHES = new Map<IdTable, Batch<string, unknown>>();

/** Rows by id, as far as the viewer may see them; null for the others. The same function for each table. */
export function byId<T extends IdTable>(table: T): Batch<string, Row<T> | null> {
  let batch = BATCHES.get(table);
  if (!batch) {
    batch = async (call, ids) => {
      const rows = (await findVisible(call, table, [...new Set(ids)])) as { id: string }[];
      const found = new Map(rows.map((row) => [row.id, row]));
      return ids.map((id) => found.get(id) ?? null);
    };
    BATCHES.set(table, batch);
  }
  return batch as Batch<string, Row<T> | null>;
}

/** One row of the call's project by id, for a change; throws NOT_FOUND. */
export async function getOwned<T extends ProjectTable>(
  { database }: Call,
  table: T,
  { projectId, id, what }: { projectId: string; id: string; what: string },
): Promise<Row<T>> {
  const [row] = await database.rows.find(table, { projectId, id } as Where<T>);
  if (!row) throw notFound(what, id);
  return row;
}

/** A claimed domain is seen by the org that has it, and by the builders whose e-mail address is of it. */
export function seesClaimedDomain(viewer: Viewer, claimed: Row<'ClaimedDomain'>): boolean {
  return (
    orgIdsOf(viewer).includes(claimed.orgId) || domainOf(emailOf(viewer) ?? '') === claimed.domain
  );
}

function findVisible({ viewer, database: { rows }, now }: Call, table: IdTable, ids: string[]) {
  const orgIds = orgIdsOf(viewer);
  switch (table) {
    case 'Org':
      return rows.find('Org', { id: ids.filter((id) => orgIds.includes(id)) });
    case 'Project':
      return rows
        .find('Project', { id: ids, orgId: orgIds })
        .then((projects) => projects.filter((project) => isVisible(viewer, project)));
    case 'Builder':
      return rows.run(VISIBLE_BUILDERS, { ids, orgIds, viewerId: viewer.id });
    case 'Invite':
      return rows.run(VISIBLE_INVITES, { ids, orgIds, email: emailOf(viewer), now: now() });
    case 'ClaimedDomain':
      return rows
        .find('ClaimedDomain', { id: ids })
        .then((domains) => domains.filter((domain) => seesClaimedDomain(viewer, domain)));
    case 'BillingAccount':
      return rows.find('BillingAccount', { id: ids, orgId: orgIds });
    default:
      return rows.find(table, { id: ids, projectId: projectScope(viewer) } as Where<ProjectTable>);
  }
}

/** Members of the viewer's orgs, and the viewer if it is a builder. */
const VISIBLE_BUILDERS = new Kept<
  { ids: string[]; orgIds: string[]; viewerId: string },
  Row<'Builder'>
>((value) =>
  statements
    .selectFrom('Builder as b')
    .selectAll()
    .where('b.id', '=', anyOfThese(value(({ ids }) => ids)))
    .where((eb) => {
      const membership = eb
        .selectFrom('OrgMember as m')
        .select('m.orgId')
        .whereRef('m.builderId', '=', 'b.id')
        .where('m.orgId', '=', anyOfThese(value(({ orgIds }) => orgIds)));
      return eb.or([
        eb(
          'b.id',
          '=',
          value(({ viewerId }) => viewerId),
        ),
        eb.exists(membership),
      ]);
    }),
);

/** Invites of the viewer's orgs, and pending ones to the viewer's own e-mail address. */
const VISIBLE_INVITES = new Kept<
  { ids: string[]; orgIds: string[]; email: string | null; now: Date },
  Row<'Invite'>
>((value) =>
  statements
    .selectFrom('Invite')
    .selectAll()
    .where('id', '=', anyOfThese(value(({ ids }) => ids)))
    .where((eb) => {
      const isPending = eb.and([
        eb(
          'pendingEmail',
          '=',
          value(({ email }) => email),
        ),
        eb(
          'expireTime',
          '>',
          value(({ now }) => now),
        ),
      ]);
      return eb.or([eb('orgId', '=', anyOfThese(value(({ orgIds }) => orgIds))), isPending]);
    }),
);

function emailOf(viewer: Viewer): string | null {
  return viewer.kind === 'BUILDER' ? viewer.email : null;
}
