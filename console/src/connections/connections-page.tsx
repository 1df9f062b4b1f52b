/** The connections of the project, with those that need care. */
import { graphql, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type { connectionsPage_project$key } from '../../__generated__/connectionsPage_project.graphql.ts';
import type { connectionsPageNextQuery } from '../../__generated__/connectionsPageNextQuery.graphql.ts';
import type { connectionsPageQuery } from '../../__generated__/connectionsPageQuery.graphql.ts';
import { Filter, useAddress, useFilter } from '../parts/filters.tsx';
import { Empty, Missing, Page } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Status, schemeName } from '../parts/status.tsx';
import { More, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { PageProps } from '../shell/places.ts';

const QUERY = graphql`
  query connectionsPageQuery($project: String!, $status: ConnectionStatus) {
    project(idOrName: $project) {
      ...connectionsPage_project @arguments(status: $status)
    }
  }
`;

const LIST = graphql`
  fragment connectionsPage_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    status: { type: "ConnectionStatus" }
  )
  @refetchable(queryName: "connectionsPageNextQuery") {
    connections(first: $count, after: $cursor, status: $status)
      @connection(key: "connectionsPage_connections") {
      totalCount
      edges {
        node {
          id
          provider
          status
          authScheme
          createTime
          group {
            groupRef
            groupName
          }
          consumer {
            consumerName
          }
        }
      }
    }
  }
`;

const STATUSES = ['WORKING', 'CREATED', 'BAD_CREDENTIALS'] as const;
const LOOK_MS = 10_000;

export default function ConnectionsPage({ project: idOrName }: PageProps) {
  const [status, setStatus] = useFilter('status', STATUSES);
  const variables = { project: idOrName, status };
  const { project } = usePageQuery<connectionsPageQuery>(QUERY, variables, { everyMs: LOOK_MS });
  if (!project) return <Missing what="project" />;
  return (
    <Page
      title="Connections"
      about="Accounts at providers that groups and consumers have connected."
      query={QUERY}
      variables={variables}
    >
      <div className="filters">
        <Filter label="Status" values={STATUSES} value={status} onChange={setStatus} />
      </div>
      <section className="card">
        <List project={project} address={useAddress(idOrName)} />
      </section>
    </Page>
  );
}

interface ListProps {
  project: connectionsPage_project$key;
  address: (path: string) => string;
}

function List({ project, address }: ListProps) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    connectionsPageNextQuery,
    connectionsPage_project$key
  >(LIST, project);
  const { edges, totalCount } = data.connections;
  if (edges.length === 0) {
    return (
      <Empty title="No connection">
        A customer connects on the connect page, or your backend calls generateConnection.
      </Empty>
    );
  }
  return (
    <>
      <Table
        label="Connections"
        columns={['Group', 'Consumer', 'Provider', 'Status', 'Scheme', 'Made']}
      >
        {edges.map(({ node }) => (
          <tr key={node.id}>
            <td>
              <Link href={address(`connections/${node.id}`)} className="strong">
                {node.group.groupName || node.group.groupRef}
              </Link>
            </td>
            <td>{node.consumer.consumerName}</td>
            <td>{node.provider}</td>
            <td>
              <Status of={node.status} />
            </td>
            <td>{schemeName(node.authScheme)}</td>
            <td>
              <Time of={node.createTime} />
            </td>
          </tr>
        ))}
      </Table>
      <More
        shown={edges.length}
        total={totalCount}
        hasNext={hasNext}
        isLoading={isLoadingNext}
        loadNext={loadNext}
      />
    </>
  );
}
