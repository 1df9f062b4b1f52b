/** Opens a Citus cluster. Other folders import it through `database/cluster.ts`. */
import type { Log } from '../../log.ts';
import type { Database } from '../database.ts';
import type { JobDatabase } from '../job-database.ts';
import { ALL_PROJECTS, type ProjectGroup } from '../projects/project-groups.ts';
import type { ServerRouting } from '../reads/read-bursts.ts';
import type { RunQuery } from '../rows.ts';
import { openSession, type Server } from '../sessions/session.ts';
import type { PoolOptions } from '../sessions/session-pool.ts';
import { NodeWatch } from './node-watch.ts';
import { Nodes } from './nodes.ts';
import { ANCHOR } from './table-placement.ts';

/** The interface of a cluster for the rest of the gateway. */
export interface Cluster extends Disposable {
  /** Options for the pools whose statements reach the nodes. */
  pools: Required<Pick<PoolOptions, 'Client' | 'findRefusal'>>;
  /** The nodes of a statement, for reads that are sent together. */
  servers: ServerRouting;
  /** Options of the job queue, whose tables stay on the coordinator. */
  queue: JobDatabase['options'];
  /** Creates one group of projects for each node. */
  createGroups(query: RunQuery): Pick<Database, 'group' | 'groups'>;
}

export async function openCluster(server: Server, log: Log): Promise<Cluster> {
  // Imported here, because only a cluster needs the SQL parser, which is large.
  const { createRefusalFinder, createRoutedSession } = await import('./routed-session.ts');
  const locations = new ProjectLocations();
  const canCommit = (node: number) => canNodeCommit(server, node);
  const { findNode, listNodes } = locations;
  const watch = new NodeWatch({ findNode, listNodes, canCommit, log });
  const findRefusal = createRefusalFinder(watch);
  return {
    pools: { Client: createRoutedSession({ nodes: new Nodes(watch, log), watch }), findRefusal },
    servers: {
      getServerKey: (values) => watch.listStatementNodes(values).join(),
      findRefusal: (text, values) => findRefusal({ text, values }),
    },
    queue: { backend: 'citus' },
    createGroups: (query) => createNodeGroups(query, locations),
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  };
}

/** A probe that has not committed within this time has failed. */
const PROBE_MS_MAX = 1_500;

/** A change without row locks. Its commit waits for the disk and the standby of the node, as every commit does. */
const PROBE = "select pg_logical_emit_message(true, 'gateway', '')";

const CAN_COMMIT = `
  select bool_and(probe."success") as "canCommit" from pg_dist_node node
  cross join lateral master_run_on_worker(array[node.nodename], array[node.nodeport], array[$2], false) probe
  where node.groupid = $1 and node.noderole = 'primary'`;

/** True if the node commits. The coordinator opens a new connection, because an open connection may wait or be lost. */
async function canNodeCommit(server: Server, node: number): Promise<boolean> {
  const name = 'integration-gateway nodes';
  const session = await openSession({ ...server, name, limitMs: PROBE_MS_MAX });
  try {
    const { rows } = await session.query<{ canCommit: boolean | null }>(CAN_COMMIT, [node, PROBE]);
    return rows[0]?.canCommit ?? false;
  } catch {
    return false;
  } finally {
    void session.end();
  }
}

const NODES = `
  select distinct groupid as "node" from pg_dist_placement join pg_dist_shard using (shardid)
  where logicalrelid = '"${ANCHOR}"'::regclass`;

function createNodeGroups(
  query: RunQuery,
  locations: ProjectLocations,
): Pick<Database, 'group' | 'groups'> {
  const createGroup = (node: number): ProjectGroup => ({
    name: `node ${node}`,
    projectIds: () => locations.listProjects(node, query),
    splitIntoParts: (projectIds) => [
      ...Map.groupBy(projectIds, (id) => locations.findShard(id) ?? id).values(),
    ],
  });
  return {
    group: ALL_PROJECTS,
    async groups() {
      await locations.refresh(query);
      const nodes = await query<{ node: number }>(NODES, []);
      return nodes.map(({ node }) => createGroup(node));
    },
  };
}

/** The age from which locations are refreshed. A new or moved project is found after this time. */
const LOCATIONS_AGE_MS_MAX = 1_000;

const LOCATIONS = `
  select project."projectId", project."shard"::text as "shard", placement.groupid as "node"
  from (
    select "id" as "projectId", get_shard_id_for_distribution_column('"${ANCHOR}"', "id") as "shard" from "Project"
  ) project
  join pg_dist_placement placement on placement.shardid = project."shard"`;

interface Location {
  projectId: string;
  shard: string;
  node: number;
}

/**
 * The shard and the node of each project's rows, and the projects of each node. The coordinator's metadata contains them,
 * so no node is queried.
 */
class ProjectLocations {
  #locations = new Map<string, Location>();
  #projectIdsByNode = new Map<number, string[]>();
  #refreshedMs = Number.NEGATIVE_INFINITY;

  /** Returns the node as of the last `refresh`. Undefined for a newer project. */
  findNode = (projectId: string): number | undefined => this.#locations.get(projectId)?.node;

  listNodes = (): number[] => [...this.#projectIdsByNode.keys()];

  findShard = (projectId: string): string | undefined => this.#locations.get(projectId)?.shard;

  /** Returns the projects of a node. Starts a refresh if the locations are older than LOCATIONS_AGE_MS_MAX. */
  listProjects(node: number, query: RunQuery): string[] {
    if (performance.now() > this.#refreshedMs + LOCATIONS_AGE_MS_MAX)
      void this.refresh(query).catch(() => {});
    return this.#projectIdsByNode.get(node) ?? [];
  }

  /** Reads the locations. If it fails, the earlier ones stay. */
  async refresh(query: RunQuery): Promise<void> {
    this.#refreshedMs = performance.now();
    const locations = await query<Location>(LOCATIONS, []);
    this.#locations = new Map(locations.map((location) => [location.projectId, location]));
    const byNode = Map.groupBy(locations, ({ node }) => node);
    this.#projectIdsByNode = new Map(
      [...byNode].map(([node, nodeLocations]) => [
        node,
        nodeLocations.map(({ projectId }) => projectId),
      ]),
    );
  }
}
