/** Opens a Citus cluster. Other folders import it through `database/cluster/cluster.ts`. */
import type { Log } from '../../kernel/log.ts';
import type { RunQuery } from '../connect/run-query.ts';
import { openDatabaseSession, type Server } from '../connect/sessions/database-session.ts';
import type { ServerRouting } from '../connect/sessions/read-bursts.ts';
import type { PoolOptions } from '../connect/sessions/session-pool.ts';
import { ALL_PROJECTS, type ShardGroups } from '../statements/projects/shard-groups.ts';
import { NodeWatch } from './node-watch.ts';
import { ProjectLocations } from './project-locations.ts';

/** The interface of a cluster for the rest of the gateway. */
export interface Cluster extends Disposable {
  /** Options for the pools whose statements reach the nodes. */
  pools: Required<Pick<PoolOptions, 'Client' | 'findRefusal'>>;
  /** The nodes of a statement, for reads that are sent together. */
  servers: ServerRouting;
  /** Creates one shard group for each node. */
  createShardGroups(query: RunQuery): ShardGroups;
}

export async function openCluster(server: Server, log: Log): Promise<Cluster> {
  // Imported here, because only a cluster needs the SQL parser, which is large.
  const { createRefusalFinder, createRoutedSession } = await import('./routed-session.ts');
  const locations = new ProjectLocations();
  const watch = new NodeWatch({ canCommit: (nodeId) => canNodeCommit(server, nodeId), log });
  const findRefusal = createRefusalFinder({ locations, watch });
  return {
    pools: { Client: createRoutedSession({ locations, watch }), findRefusal },
    servers: { getServerKey: (values) => locations.listNodes(values).join(), findRefusal },
    createShardGroups: (query) => ({
      shardGroup: ALL_PROJECTS,
      listShardGroups: () => locations.createShardGroups(query),
    }),
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
async function canNodeCommit(server: Server, nodeId: number): Promise<boolean> {
  const name = 'integration-gateway nodes';
  const session = await openDatabaseSession({ ...server, name, limitMs: PROBE_MS_MAX });
  try {
    const { rows } = await session.query<{ canCommit: boolean | null }>(CAN_COMMIT, [
      nodeId,
      PROBE,
    ]);
    return rows[0]?.canCommit ?? false;
  } catch {
    return false;
  } finally {
    void session.end();
  }
}
