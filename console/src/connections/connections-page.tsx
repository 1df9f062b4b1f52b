/** The connections of the project, including those that need to reconnect. */
import { graphql } from 'react-relay';
import type { connectionsPage_project$data } from '../../__generated__/connectionsPage_project.graphql.ts';
import type { connectionsPageQuery } from '../../__generated__/connectionsPageQuery.graphql.ts';
import {
  ConsumerFilter,
  Filter,
  Search,
  TimeFilter,
  useFilter,
  useProjectLink,
  useSearch,
  useTextFilter,
  useTimeRange,
} from '../parts/filters.tsx';
import { Empty, ListPage, NotFound } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { formatStatus } from '../parts/status.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { ConnectCustomer } from './connect-customer.tsx';
import { ConnectionRows } from './connection-rows.tsx';
import { ConnectionSearch } from './connection-search.tsx';

/** A search uses a separate list, because the gateway refuses a search together with other filters. */
const PAGE_QUERY = graphql`
  query connectionsPageQuery(
    $project: String!
    $consumerRef: String
    $status: ConnectionStatus
    $createTime: TimeRangeInput
    $search: String
    $isSearching: Boolean!
  ) {
    project(idOrName: $project) {
      ...connectionsPage_project
        @arguments(consumerRef: $consumerRef, status: $status, createTime: $createTime)
        @skip(if: $isSearching)
        @alias(as: "all")
      ...connectionSearch_project
        @arguments(search: $search)
        @include(if: $isSearching)
        @alias(as: "matches")
    }
  }
`;

const CONNECTIONS = graphql`
  fragment connectionsPage_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    consumerRef: { type: "String" }
    status: { type: "ConnectionStatus" }
    createTime: { type: "TimeRangeInput" }
  )
  @refetchable(queryName: "connectionsPageNextQuery") {
    connections(
      first: $count
      after: $cursor
      consumerRef: $consumerRef
      status: $status
      createTime: $createTime
    )
      @connection(key: "connectionsPage_connections") {
      totalCount
      edges {
        node {
          id
          ...connectionRows_connection
        }
      }
    }
  }
`;

const STATUSES = ['WORKING', 'CREATED', 'BAD_CREDENTIALS'] as const;
const POLL_MS = 10_000;
const NO_CONNECTIONS = (
  <Empty title="No connections yet">
    Use “Connect customer”, or call generateConnection from your backend.
  </Empty>
);

const getConnections = ({ connections }: connectionsPage_project$data) => connections;

export default function ConnectionsPage({ project: projectIdOrName }: ConsolePageProps) {
  const consumerRef = useTextFilter('consumer');
  const status = useFilter('status', STATUSES);
  const createTime = useTimeRange();
  const { search, isSearching } = useSearch();
  const variables = {
    project: projectIdOrName,
    consumerRef,
    status,
    createTime,
    search,
    isSearching,
  };
  const { project } = usePageQuery<connectionsPageQuery>(PAGE_QUERY, variables, {
    everyMs: POLL_MS,
  });
  const linkTo = useProjectLink(projectIdOrName);
  if (!project) return <NotFound noun="project" />;
  return (
    <ListPage
      title="Connections"
      description="Accounts at providers that your customers have connected."
      actions={<ConnectCustomer project={projectIdOrName} />}
      query={PAGE_QUERY}
      variables={variables}
      filters={
        <>
          <Search label="Group or consumer" />
          <Filter
            name="status"
            label="Status"
            values={STATUSES}
            formatValue={formatStatus}
            isDisabled={isSearching}
          />
          <ConsumerFilter isDisabled={isSearching} />
          <TimeFilter isDisabled={isSearching} />
        </>
      }
    >
      {project.matches && <ConnectionSearch project={project.matches} linkTo={linkTo} />}
      {project.all && (
        <Paged
          fragment={CONNECTIONS}
          parent={project.all}
          list={getConnections}
          empty={NO_CONNECTIONS}
        >
          {(connections) => <ConnectionRows connections={connections} linkTo={linkTo} />}
        </Paged>
      )}
    </ListPage>
  );
}
