/** Determines the project of a request, which the caller may omit if its key or an object names it. */
import type { Row } from '../../database/statements/tables.ts';
import { invalid, notFound } from '../../kernel/errors.ts';
import { findPrefix, ID_PREFIXES } from '../../kernel/ids.ts';
import type { Call } from './call.ts';
import {
  byId,
  getProject,
  type IdTable,
  isOrgTable,
  listProjectOrgIds,
  type ProjectTable,
} from './scope.ts';

/** The members of an input that may name its project. */
export interface ProjectReference {
  projectIdOrName?: string | null | undefined;
}

/**
 * Returns the project of an input: the project that it names, the project of the caller's key or token, the project of
 * an object that the input names, or the only project of the builder. Throws NOT_FOUND if the viewer may not see the
 * project. Throws BAD_USER_INPUT that names `argument` if a builder has no project or several.
 */
export async function getProjectOfInput(
  call: Call,
  input: ProjectReference,
  argument = 'projectIdOrName',
): Promise<Readonly<Row<'Project'>>> {
  const { viewer } = call;
  const idOrName =
    input.projectIdOrName ??
    (viewer.kind === 'BUILDER' ? await findProjectOfObject(call, input) : viewer.projectId);
  return idOrName === null ? getOnlyProject(call, argument) : getProject(call, idOrName);
}

/**
 * Finds the id of the project of the first object that the input names. Ids are unique in all projects, and members that
 * contain them end in `Id` or `IdOrName`. Null if there is no such member. Throws NOT_FOUND if the viewer may not see the
 * object.
 */
async function findProjectOfObject(call: Call, input: object): Promise<string | null> {
  for (const [member, value] of Object.entries(input)) {
    if (typeof value !== 'string' || !/Id(OrName)?$/.test(member)) continue;
    const table = findProjectTable(value);
    if (!table) continue;
    const [row] = await byId(table)(call, [value]);
    if (!row) throw notFound(table, value);
    return row.projectId;
  }
  return null;
}

/** Finds the table of an id. Null if its rows do not belong to a project. */
function findProjectTable(id: string): ProjectTable | null {
  const prefix = findPrefix(id);
  if (prefix === null) return null;
  const table: IdTable = ID_PREFIXES[prefix];
  return isOrgTable(table) ? null : table;
}

async function getOnlyProject(call: Call, argument: string): Promise<Readonly<Row<'Project'>>> {
  const [project, otherProject] = await call.database.reads.page(
    'Project',
    { orgId: listProjectOrgIds(call.viewer) },
    { column: 'id', direction: 'asc', limit: 2 },
  );
  if (project && !otherProject) return project;
  const reason = otherProject ? 'you have several projects.' : 'you have no project.';
  throw invalid([argument], `is required, because ${reason}`);
}
