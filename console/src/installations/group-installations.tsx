/** What a group has installed. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { groupInstallationsQuery } from '../../__generated__/groupInstallationsQuery.graphql.ts';
import { useAddress } from '../parts/filters.tsx';
import { Empty } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

const QUERY = graphql`
  query groupInstallationsQuery($project: String!, $groupRef: String!) {
    project(idOrName: $project) {
      installations(first: 50, groupRef: $groupRef) {
        nodes {
          id
          healthStatus
          createTime
          integration {
            name
          }
        }
      }
    }
  }
`;

export function GroupInstallations({ project, groupRef }: { project: string; groupRef: string }) {
  const address = useAddress(project);
  const found = usePageQuery<groupInstallationsQuery>(QUERY, { project, groupRef });
  const nodes = found.project?.installations.nodes ?? [];
  if (nodes.length === 0) {
    return <Empty title="No installation">The group has installed no integration.</Empty>;
  }
  return (
    <Table label="Installations" columns={['Integration', 'Health', 'Made']}>
      {nodes.map(({ id, integration, healthStatus, createTime }) => (
        <tr key={id}>
          <td>
            <Link href={address(`installations/${id}`)}>{integration.name}</Link>
          </td>
          <td>
            <Status of={healthStatus} />
          </td>
          <td>
            <Time of={createTime} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
