/** The projects of each node of a cluster: what looks after all projects does so for each node apart. */
import type { Database } from '../database.ts';
import { ALL_PROJECTS, type ProjectGroup } from '../projects/project-groups.ts';
import type { RunQuery } from '../rows.ts';
import { ANCHOR } from './table-places.ts';

/** A project that is new, or has moved, is looked after from then on. */
const FRESH_MS = 1_000;

const PLACES = `
  select x."projectId", x."shard"::text as "shard", p.groupid as "node"
  from (select "id" as "projectId", get_shard_id_for_distribution_column('"${ANCHOR}"', "id") as "shard" from "Project") x
  join pg_dist_placement p on p.shardid = x."shard"`;
const NODES = `
  select distinct p.groupid as "node" from pg_dist_placement p join pg_dist_shard s using (shardid)
  where s.logicalrelid = '"${ANCHOR}"'::regclass`;

interface Place {
  projectId: string;
  shard: string;
  node: number;
}

/** Of a cluster, by the coordinator's own metadata: no node is asked. */
export function groupsOfNodes(query: RunQuery): Pick<Database, 'group' | 'groups'> {
  const places = new Places(query);
  const groups = new Map<number, ProjectGroup>();
  return {
    group: ALL_PROJECTS,
    async groups() {
      await places.look();
      const nodes = await query<{ node: number }>(NODES, []);
      return nodes.map(({ node }) => {
        const group = groups.get(node) ?? places.groupOf(node);
        groups.set(node, group);
        return group;
      });
    },
  };
}

class Places {
  readonly #query: RunQuery;
  #shards = new Map<string, string>();
  #projectIds = new Map<number, string[]>();
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(query: RunQuery) {
    this.#query = query;
  }

  groupOf(node: number): ProjectGroup {
    return {
      name: `node ${node}`,
      projectIds: () => {
        if (performance.now() > this.#lookedMs + FRESH_MS) void this.look().catch(() => {});
        return this.#projectIds.get(node) ?? [];
      },
      together: (projectIds) => [
        ...Map.groupBy(projectIds, (id) => this.#shards.get(id) ?? id).values(),
      ],
    };
  }

  /** If it fails, what was known holds. */
  async look(): Promise<void> {
    this.#lookedMs = performance.now();
    const places = await this.#query<Place>(PLACES, []);
    this.#shards = new Map(places.map(({ projectId, shard }) => [projectId, shard]));
    const byNode = Map.groupBy(places, ({ node }) => node);
    this.#projectIds = new Map(
      [...byNode].map(([node, some]) => [node, some.map(({ projectId }) => projectId)]),
    );
  }
}
