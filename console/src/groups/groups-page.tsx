/** The builder's users who share access, and each of them. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { groupsPageQuery } from '../../__generated__/groupsPageQuery.graphql.ts';
import { useAddress } from '../parts/filters.tsx';
import { Empty, Missing, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { PageProps } from '../shell/places.ts';
import { Consumers } from './consumers.tsx';

const QUERY = graphql`
  query groupsPageQuery($project: String!) {
    project(idOrName: $project) {
      groups(first: 100) {
        totalCount
        nodes {
          id
          groupRef
          groupName
          createTime
        }
      }
      ...consumers_project
    }
  }
`;

export default function GroupsPage({ project: idOrName }: PageProps) {
  const variables = { project: idOrName };
  const { project } = usePageQuery<groupsPageQuery>(QUERY, variables);
  const address = useAddress(idOrName);
  if (!project) return <Missing what="project" />;
  const { nodes, totalCount } = project.groups;
  return (
    <Page
      title="Groups and consumers"
      about="A group is a customer of yours, a consumer one of its people. Connecting creates them."
      query={QUERY}
      variables={variables}
    >
      <Panel title={`Groups (${totalCount})`}>
        {nodes.length === 0 ? (
          <Empty title="No group yet">The first connection of a customer creates one.</Empty>
        ) : (
          <Table label="Groups" columns={['Name', 'Reference', 'Made']}>
            {nodes.map(({ id, groupName, groupRef, createTime }) => (
              <tr key={id}>
                <td>
                  <Link href={address(`groups/${encodeURIComponent(groupRef)}`)} className="strong">
                    {groupName}
                  </Link>
                </td>
                <td className="mono">{groupRef}</td>
                <td>
                  <Time of={createTime} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Panel>
      <Panel title="Consumers">
        <Consumers project={project} />
      </Panel>
    </Page>
  );
}
