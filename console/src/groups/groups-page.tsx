/** Lists the project's customers (groups) and their people (consumers). */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { groupsPage_project$key } from '../../__generated__/groupsPage_project.graphql.ts';
import type { groupsPageQuery } from '../../__generated__/groupsPageQuery.graphql.ts';
import { ConnectCustomer } from '../connections/connect-customer.tsx';
import { Search, useProjectLink, useSearch } from '../parts/filters.tsx';
import { Empty, NotFound, Page, Panel } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { Consumers } from './consumers.tsx';

const PAGE_QUERY = graphql`
  query groupsPageQuery($project: String!, $search: String) {
    project(idOrName: $project) {
      ...groupsPage_project @arguments(search: $search)
      ...consumers_project @arguments(search: $search)
    }
  }
`;

const GROUPS = graphql`
  fragment groupsPage_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    search: { type: "String" }
  )
  @refetchable(queryName: "groupsPageNextQuery") {
    groups(first: $count, after: $cursor, search: $search) @connection(key: "groupsPage_groups") {
      totalCount
      edges {
        node {
          id
          groupRef
          groupName
          createTime
          connections(first: 1) {
            totalCount
          }
          installations(first: 1) {
            totalCount
          }
        }
      }
    }
  }
`;

const COLUMNS = ['Name', 'Reference', 'Connections', 'Installations', 'Created'];
const DETAIL_COLUMNS = ['Reference', 'Created'];

export default function GroupsPage({ project: projectIdOrName }: ConsolePageProps) {
  const { search } = useSearch();
  const variables = { project: projectIdOrName, search };
  const { project } = usePageQuery<groupsPageQuery>(PAGE_QUERY, variables);
  const linkTo = useProjectLink(projectIdOrName);
  if (!project) return <NotFound noun="project" />;
  return (
    <Page
      title="Groups and consumers"
      description="A group is one of your customers; a consumer is one of its people. Both are created when accounts are connected."
      actions={<ConnectCustomer project={projectIdOrName} />}
      query={PAGE_QUERY}
      variables={variables}
    >
      <div className="filters">
        <Search label="Name or reference" />
      </div>
      <Panel title="Groups">
        <Groups project={project} linkTo={linkTo} />
      </Panel>
      <Panel title="Consumers">
        <Consumers project={project} projectName={projectIdOrName} linkTo={linkTo} />
      </Panel>
    </Page>
  );
}

interface GroupsProps {
  project: groupsPage_project$key;
  linkTo: (path: string) => string;
}

function Groups({ project, linkTo }: GroupsProps) {
  const empty = (
    <Empty title="No groups yet">A customer's first connection creates its group.</Empty>
  );
  return (
    <Paged fragment={GROUPS} parent={project} list={(data) => data.groups} empty={empty}>
      {(groups) => (
        <Table label="Groups" columns={COLUMNS} detailColumns={DETAIL_COLUMNS}>
          {groups.map(({ id, groupName, groupRef, connections, installations, createTime }) => (
            <tr key={id}>
              <td>
                <Link href={linkTo(`groups/${encodeURIComponent(groupRef)}`)} className="strong">
                  {groupName}
                </Link>
              </td>
              <td className="mono">{groupRef}</td>
              <td>{connections.totalCount.toLocaleString('en')}</td>
              <td>{installations.totalCount.toLocaleString('en')}</td>
              <td>
                <Time value={createTime} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Paged>
  );
}
