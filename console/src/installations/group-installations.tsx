/** Installations of a group. */
import { graphql } from 'react-relay';
import type { groupInstallationsQuery } from '../../__generated__/groupInstallationsQuery.graphql.ts';
import { useAddress } from '../parts/filters.tsx';
import { Empty } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { InstallationRows } from './installation-rows.tsx';

const QUERY = graphql`
  query groupInstallationsQuery($project: String!, $groupRef: String!) {
    project(idOrName: $project) {
      installations(first: 50, groupRef: $groupRef) {
        nodes {
          id
          ...installationRows_installation
        }
      }
    }
  }
`;

export function GroupInstallations({ project, groupRef }: { project: string; groupRef: string }) {
  const address = useAddress(project);
  const data = usePageQuery<groupInstallationsQuery>(QUERY, { project, groupRef });
  const nodes = data.project?.installations.nodes ?? [];
  if (nodes.length === 0) {
    return (
      <Empty title="No installations yet">
        The group installs integrations on the connect page.
      </Empty>
    );
  }
  return <InstallationRows installations={nodes} address={address} />;
}
