/**
 * The interface to a database whose rows are spread over several servers. Everything about such a database is in
 * `citus/`, and this is the only file outside of that folder that imports it. A test checks this.
 */

export {
  type ClusterSchema,
  findClusterSchema,
  hasExtension as isCluster,
  isSpread,
} from './citus/cluster-schema.ts';
export { type Cluster, openCluster } from './citus/open-cluster.ts';
