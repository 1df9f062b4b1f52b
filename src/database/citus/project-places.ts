/** Where the projects of a cluster are, by the coordinator's own metadata: no node is asked. */
import type { RunQuery } from '../rows.ts';
import { ANCHOR } from './table-places.ts';

/** A project that is new, or has moved, is looked after from then on. */
const FRESH_MS = 1_000;

const PLACES = `
  select x."projectId", x."shard"::text as "shard", p.groupid as "node"
  from (select "id" as "projectId", get_shard_id_for_distribution_column('"${ANCHOR}"', "id") as "shard" from "Project") x
  join pg_dist_placement p on p.shardid = x."shard"`;

interface Place {
  projectId: string;
  shard: string;
  node: number;
}

export class ProjectPlaces {
  #places = new Map<string, Place>();
  #projectIds = new Map<number, string[]>();
  #lookedMs = Number.NEGATIVE_INFINITY;

  /** As of the last look; undefined for a project that is newer. */
  nodeOf = (projectId: string): number | undefined => this.#places.get(projectId)?.node;

  nodes = (): number[] => [...this.#projectIds.keys()];

  shardOf = (projectId: string): string | undefined => this.#places.get(projectId)?.shard;

  /** Of a node. If they are known for long, they are looked at again meanwhile. */
  projectsOf(node: number, query: RunQuery): string[] {
    if (performance.now() > this.#lookedMs + FRESH_MS) void this.look(query).catch(() => {});
    return this.#projectIds.get(node) ?? [];
  }

  /** If it fails, what was known holds. */
  async look(query: RunQuery): Promise<void> {
    this.#lookedMs = performance.now();
    const places = await query<Place>(PLACES, []);
    this.#places = new Map(places.map((place) => [place.projectId, place]));
    const byNode = Map.groupBy(places, ({ node }) => node);
    this.#projectIds = new Map(
      [...byNode].map(([node, some]) => [node, some.map(({ projectId }) => projectId)]),
    );
  }
}
