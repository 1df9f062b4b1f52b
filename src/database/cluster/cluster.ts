/**
 * The interface to a database whose rows are distributed over several servers. Everything about such a database is in
 * `citus/`, and this is the only file outside of that folder that imports it. A test checks this.
 */

export {
  type ClusterSchema,
  findClusterSchema,
  isCluster,
  isDistributed,
} from './cluster-schema.ts';
export { type Cluster, openCluster } from './open-cluster.ts';
