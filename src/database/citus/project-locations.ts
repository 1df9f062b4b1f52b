/**
 * The shard and node of each project's rows, and the projects of a node as a group. The metadata of the coordinator
 * contains both, so no node is queried.
 */
import type { Database } from '../database.ts';
import { ALL_PROJECTS, type ProjectGroup } from '../projects/project-groups.ts';
import type { RunQuery } from '../rows.ts';
import { ANCHOR } from './table-placement.ts';

/** The locations are refreshed if they are older. A new or moved project is known after this time. */
const FRESH_MS = 1_000;

const LOCATIONS = `
  select x."projectId", x."shard"::text as "shard", p.groupid as "node"
  from (select "id" as "projectId", get_shard_id_for_distribution_column('"${ANCHOR}"', "id") as "shard" from "Project") x
  join pg_dist_placement p on p.shardid = x."shard"`;

interface Location {
  projectId: string;
  shard: string;
  node: number;
}

export class ProjectLocations {
  #locations = new Map<string, Location>();
  #projectIds = new Map<number, string[]>();
  #refreshedMs = Number.NEGATIVE_INFINITY;

  /** The node as of the last `refresh`. Undefined for a newer project. */
  nodeOf = (projectId: string): number | undefined => this.#locations.get(projectId)?.node;

  nodes = (): number[] => [...this.#projectIds.keys()];

  shardOf = (projectId: string): string | undefined => this.#locations.get(projectId)?.shard;

  /** The projects of a node. Starts a refresh if they were read some time ago. */
  projectsOf(node: number, query: RunQuery): string[] {
    if (performance.now() > this.#refreshedMs + FRESH_MS) void this.refresh(query).catch(() => {});
    return this.#projectIds.get(node) ?? [];
  }

  /** If it fails, the earlier locations stay. */
  async refresh(query: RunQuery): Promise<void> {
    this.#refreshedMs = performance.now();
    const locations = await query<Location>(LOCATIONS, []);
    this.#locations = new Map(locations.map((location) => [location.projectId, location]));
    const byNode = Map.groupBy(locations, ({ node }) => node);
    this.#projectIds = new Map(
      [...byNode].map(([node, some]) => [node, some.map(({ projectId }) => projectId)]),
    );
  }
}

const NODES = `
  select distinct p.groupid as "node" from pg_dist_placement p join pg_dist_shard s using (shardid)
  where s.logicalrelid = '"${ANCHOR}"'::regclass`;

/** The groups of projects of a cluster: one for each node. */
export function groupsOfNodes(
  query: RunQuery,
  locations: ProjectLocations,
): Pick<Database, 'group' | 'groups'> {
  const groups = new Map<number, ProjectGroup>();
  const groupOf = (node: number): ProjectGroup => ({
    name: `node ${node}`,
    projectIds: () => locations.projectsOf(node, query),
    together: (projectIds) => [
      ...Map.groupBy(projectIds, (id) => locations.shardOf(id) ?? id).values(),
    ],
  });
  return {
    group: ALL_PROJECTS,
    async groups() {
      await locations.refresh(query);
      const nodes = await query<{ node: number }>(NODES, []);
      return nodes.map(({ node }) => {
        const group = groups.get(node) ?? groupOf(node);
        groups.set(node, group);
        return group;
      });
    },
  };
}
