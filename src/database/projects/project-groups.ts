/**
 * Groups of projects that fail apart from each other: where projects are spread over several servers, those of one
 * server. What asks all projects asks each group apart, so that a server that hangs or is away delays its own projects
 * and nobody else's. One server is one group, of all projects.
 */

export interface ProjectGroup {
  /** Stays the same while projects come, go and move. */
  name: string;
  /** Its projects now; null: all that there are. */
  projectIds(): readonly string[] | null;
  /** The projects, whosever they are, as parts of which one statement may lock and change rows together. */
  together(projectIds: readonly string[]): readonly (readonly string[])[];
}

export const ALL_PROJECTS: ProjectGroup = {
  name: 'all',
  projectIds: () => null,
  together: (projectIds) => [projectIds],
};

/** Of a database that is one server. */
export const ONE_GROUP = { group: ALL_PROJECTS, groups: async () => [ALL_PROJECTS] };

/**
 * The group as parts whose rows one statement may lock and change. What takes a few of all rows goes from part to part:
 * another one comes first with each turn.
 */
export function partsInTurn(group: ProjectGroup, turn: number): ProjectGroup[] {
  const projectIds = group.projectIds();
  if (projectIds === null) return [group];
  const parts = group.together(projectIds).map((some) => ({ ...group, projectIds: () => some }));
  const first = parts.length > 0 ? turn % parts.length : 0;
  return [...parts.slice(first), ...parts.slice(0, first)];
}

/** Rows of projects that one statement may change together. */
export interface Part<R> {
  /** Null: of any project. */
  projectIds: readonly string[] | null;
  rows: readonly R[];
}

/** The rows by the projects that one statement may change together. */
export function partsOf<R>(
  group: ProjectGroup,
  rows: readonly R[],
  projectOf: (row: R) => string,
): Part<R>[] {
  if (group.projectIds() === null) return [{ projectIds: null, rows }];
  return group.together([...new Set(rows.map(projectOf))]).map((projectIds) => ({
    projectIds,
    rows: rows.filter((row) => projectIds.includes(projectOf(row))),
  }));
}
