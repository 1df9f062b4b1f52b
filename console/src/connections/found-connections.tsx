/** Connections by the beginning of a word of their group or consumer. */
import { graphql, usePaginationFragment } from 'react-relay';
import type { foundConnections_project$key } from '../../__generated__/foundConnections_project.graphql.ts';
import type { foundConnectionsNextQuery } from '../../__generated__/foundConnectionsNextQuery.graphql.ts';
import { Empty } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { ConnectionRows } from './connection-rows.tsx';

const FOUND = graphql`
  fragment foundConnections_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    search: { type: "String" }
  )
  @refetchable(queryName: "foundConnectionsNextQuery") {
    found: connections(first: $count, after: $cursor, search: $search)
      @connection(key: "foundConnections_found") {
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

interface FoundConnectionsProps {
  project: foundConnections_project$key;
  address: (path: string) => string;
}

export function FoundConnections({ project, address }: FoundConnectionsProps) {
  const { data, ...pages } = usePaginationFragment<
    foundConnectionsNextQuery,
    foundConnections_project$key
  >(FOUND, project);
  return (
    <Paged
      list={data.found}
      pages={pages}
      empty={<Empty title="No group or consumer of that name has a connection" />}
    >
      {(connections) => <ConnectionRows connections={connections} address={address} />}
    </Paged>
  );
}
