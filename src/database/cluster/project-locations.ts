/** The nodes of a cluster, and where the rows of each project are. The coordinator knows both, so no node is queried. */

import type { RunQuery } from '../connect/run-query.ts';
import type { ShardGroup } from '../statements/projects/shard-groups.ts';
import { ANCHOR } from './table-placement.ts';

/** The age from which the locations of projects are read again. A new or moved project is found after this time. */
const PROJECTS_AGE_MS_MAX = 1_000;
/** Shards rarely move to a node that had none. */
const NODES_AGE_MS_MAX = 5_000;

const PROJECTS = `
  select project."id", project."shard"::text as "shard", placement.groupid as "node"
  from (
    select "id", get_shard_id_for_distribution_column('"${ANCHOR}"', "id") as "shard" from "Project"
  ) project
  join pg_dist_placement placement on placement.shardid = project."shard"`;

interface PlacedProject {
  id: string;
  shard: string;
  node: number;
}

/**
 * Selects the nodes that have shards, each with a key that hashes to one of its shards. The subquery calls the function
 * once for each key. In a join condition, it would be called for each pair of a key and a shard of any table, which takes
 * seconds.
 */
const NODES = `
  select distinct on (placement.groupid) placement.groupid as "id", shard_key."number"::text as "key"
  from (
    select min("number") as "number", get_shard_id_for_distribution_column('"${ANCHOR}"', "number"::text) as "shard"
    from generate_series(1, 4000) "number" group by 2
  ) shard_key
  join pg_dist_placement placement on placement.shardid = shard_key."shard"
  order by placement.groupid, shard_key."number"`;

interface ShardNode {
  id: number;
  key: string;
}

export class ProjectLocations {
  /** By id. */
  #projects = new Map<unknown, PlacedProject>();
  #projectsByNode = new Map<number, PlacedProject[]>();
  #projectsReadMs = Number.NEGATIVE_INFINITY;
  #nodes: readonly ShardNode[] = [];
  #nodesReadMs = Number.NEGATIVE_INFINITY;

  /** The nodes at the last `readNodes`. */
  get nodeIds(): number[] {
    return this.#nodes.map(({ id }) => id);
  }

  async readNodes(query: RunQuery): Promise<readonly ShardNode[]> {
    if (performance.now() > this.#nodesReadMs + NODES_AGE_MS_MAX) {
      this.#nodes = await query<ShardNode>(NODES, []);
      this.#nodesReadMs = performance.now();
    }
    return this.#nodes;
  }

  /** Returns the nodes of the projects among the values, as of the last read. Omits projects that are newer. */
  listNodes(values: readonly unknown[]): number[] {
    const nodes = values.flat().flatMap((value) => this.#projects.get(value)?.node ?? []);
    return [...new Set(nodes)];
  }

  /** Groups projects whose rows are on the same shard. A project that is newer than the last read is alone. */
  groupByShard(projectIds: readonly string[]): string[][] {
    const idsByShard = Map.groupBy(projectIds, (id) => this.#projects.get(id)?.shard ?? id);
    return [...idsByShard.values()];
  }

  /** Creates a shard group for the projects of each node. */
  async createShardGroups(query: RunQuery): Promise<ShardGroup[]> {
    await this.#readProjects(query);
    const nodes = await this.readNodes(query);
    return nodes.map(({ id }) => ({
      name: `node ${id}`,
      projectIds: () => this.#listProjectsOf(id, query),
      splitIntoParts: (projectIds) => this.groupByShard(projectIds),
    }));
  }

  /** Returns the projects of the node as of the last read. Starts a read if that is too old. */
  #listProjectsOf(nodeId: number, query: RunQuery): string[] {
    if (performance.now() > this.#projectsReadMs + PROJECTS_AGE_MS_MAX)
      void this.#readProjects(query).catch(() => {});
    return (this.#projectsByNode.get(nodeId) ?? []).map(({ id }) => id);
  }

  /** If it fails, the earlier locations stay. */
  async #readProjects(query: RunQuery): Promise<void> {
    this.#projectsReadMs = performance.now();
    const projects = await query<PlacedProject>(PROJECTS, []);
    this.#projects = new Map(projects.map((project) => [project.id, project]));
    this.#projectsByNode = Map.groupBy(projects, ({ node }) => node);
  }
}
