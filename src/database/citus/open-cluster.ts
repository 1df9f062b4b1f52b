/** Opens a Citus cluster. Other parts import it through `database/cluster.ts`. */
import type { Log } from '../../log.ts';
import type { Database } from '../database.ts';
import type { JobDatabase } from '../job-database.ts';
import type { Servers } from '../reads/read-bursts.ts';
import type { RunQuery } from '../rows.ts';
import { openSession, type Server } from '../sessions/session.ts';
import type { PoolOptions } from '../sessions/session-pool.ts';
import { NodeWatch } from './node-watch.ts';
import { Nodes } from './nodes.ts';
import { loadParser } from './parser.ts';
import { groupsOfNodes, ProjectLocations } from './project-locations.ts';
import { refusalsOf, routedSessions } from './routed-session.ts';

/** A node that commits nothing over a new connection within this time counts as failed. */
const ANSWER_MAX_MS = 1_500;

/** A write without row locks. Its commit waits for the disk and the standby, as every commit does. */
const CHANGE = "select pg_logical_emit_message(true, 'gateway', '')";

const ANSWERS = `
  select bool_and(a."success") as "isSo" from pg_dist_node n
  cross join lateral master_run_on_worker(array[n.nodename], array[n.nodeport], array[$2], false) a
  where n.groupid = $1 and n.noderole = 'primary'`;

/** The interface of a cluster for the rest of the gateway. */
export interface Cluster extends Disposable {
  /** Options for the pools whose statements reach the nodes. */
  pools: Required<Pick<PoolOptions, 'Client' | 'refusal'>>;
  /** The nodes of a statement, for reads that are sent together. */
  servers: Servers;
  /** Options of the job queue, whose tables stay on the coordinator. */
  queue: JobDatabase['options'];
  /** The groups of projects that fail apart from each other. */
  groups(query: RunQuery): Pick<Database, 'group' | 'groups'>;
}

export async function openCluster(server: Server, log: Log): Promise<Cluster> {
  await loadParser();
  const locations = new ProjectLocations();
  const answers = (node: number) => nodeAnswers(server, node);
  const watch = new NodeWatch({ ...locations, answers, log });
  const refusal = refusalsOf(watch);
  return {
    pools: { Client: routedSessions({ nodes: new Nodes(watch, log), watch }), refusal },
    servers: {
      of: (values) => watch.nodesOf(values).join(),
      refusal: (text, values) => refusal({ text, values }),
    },
    queue: { backend: 'citus' },
    groups: (query) => groupsOfNodes(query, locations),
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  };
}

/** True if the node commits. The coordinator opens a new connection, because an open one may wait for a lock or be lost. */
async function nodeAnswers(server: Server, node: number): Promise<boolean> {
  const name = 'integration-gateway nodes';
  const session = await openSession({ ...server, name, limitMs: ANSWER_MAX_MS });
  try {
    const { rows } = await session.query<{ isSo: boolean | null }>(ANSWERS, [node, CHANGE]);
    return rows[0]?.isSo ?? false;
  } catch {
    return false;
  } finally {
    void session.end();
  }
}
