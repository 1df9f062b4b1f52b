/** The projects of each node of a cluster: what looks after all projects does so for each node apart. */
import type { Database } from '../database.ts';
import { ALL_PROJECTS, type ProjectGroup } from '../projects/project-groups.ts';
import type { RunQuery } from '../rows.ts';
import type { ProjectPlaces } from './project-places.ts';
import { ANCHOR } from './table-places.ts';

const NODES = `
  select distinct p.groupid as "node" from pg_dist_placement p join pg_dist_shard s using (shardid)
  where s.logicalrelid = '"${ANCHOR}"'::regclass`;

/** Of a cluster, by the coordinator's own metadata: no node is asked. */
export function groupsOfNodes(
  query: RunQuery,
  places: ProjectPlaces,
): Pick<Database, 'group' | 'groups'> {
  const groups = new Map<number, ProjectGroup>();
  const groupOf = (node: number): ProjectGroup => ({
    name: `node ${node}`,
    projectIds: () => places.projectsOf(node, query),
    together: (projectIds) => [
      ...Map.groupBy(projectIds, (id) => places.shardOf(id) ?? id).values(),
    ],
  });
  return {
    group: ALL_PROJECTS,
    async groups() {
      await places.look(query);
      const nodes = await query<{ node: number }>(NODES, []);
      return nodes.map(({ node }) => {
        const group = groups.get(node) ?? groupOf(node);
        groups.set(node, group);
        return group;
      });
    },
  };
}
