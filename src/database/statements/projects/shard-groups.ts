/**
 * Shard groups: projects that fail independently. If projects are spread over several servers, each server is a shard group.
 * Statements over all projects run for each shard group separately, so that a server that hangs delays only its own projects.
 * A single server is one shard group of all projects.
 */

export interface ShardGroup {
  /** Stable while projects are created, deleted and moved. */
  name: string;
  /** The projects of the shard group now. Null means all projects. */
  projectIds(): readonly string[] | null;
  /** Splits any projects into parts. One statement may lock and change the rows of a part together. */
  splitIntoParts(projectIds: readonly string[]): readonly (readonly string[])[];
}

export const ALL_PROJECTS: ShardGroup = {
  name: 'all',
  projectIds: () => null,
  splitIntoParts: (projectIds) => [projectIds],
};

/** The shard groups of a database. */
export interface ShardGroups {
  /** The shard group to which statements across projects are limited. By default, it has all projects. */
  shardGroup: ShardGroup;
  /** Lists the shard groups. A single server has one. */
  listShardGroups(): Promise<readonly ShardGroup[]>;
}

/** The shard group of a database on a single server. */
export const ONE_SHARD_GROUP: ShardGroups = {
  shardGroup: ALL_PROJECTS,
  listShardGroups: async () => [ALL_PROJECTS],
};

/**
 * Splits the shard group into parts whose rows one statement may lock and change. A statement that takes a few of all rows
 * goes from part to part, and each round begins with another part.
 */
export function rotateParts(shardGroup: ShardGroup, round: number): ShardGroup[] {
  const projectIds = shardGroup.projectIds();
  if (projectIds === null) return [shardGroup];
  const parts = shardGroup
    .splitIntoParts(projectIds)
    .map((part) => ({ ...shardGroup, projectIds: () => part }));
  const firstIndex = parts.length > 0 ? round % parts.length : 0;
  return [...parts.slice(firstIndex), ...parts.slice(0, firstIndex)];
}

/** Rows of projects that one statement may change together. */
export interface RowBatch<R> {
  /** Null means any project. */
  projectIds: readonly string[] | null;
  rows: readonly R[];
}

/** Groups rows of the database's shard group by the projects that one statement may change together. */
export function batchRows<R>(
  { shardGroup }: Pick<ShardGroups, 'shardGroup'>,
  rows: readonly R[],
  getProjectId: (row: R) => string,
): RowBatch<R>[] {
  if (shardGroup.projectIds() === null) return [{ projectIds: null, rows }];
  return shardGroup.splitIntoParts([...new Set(rows.map(getProjectId))]).map((projectIds) => ({
    projectIds,
    rows: rows.filter((row) => projectIds.includes(getProjectId(row))),
  }));
}
