/** Connections by the beginning of a word of their group or consumer. */
import { graphql } from 'react-relay';
import type { foundConnections_project$key } from '../../__generated__/foundConnections_project.graphql.ts';
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
  const empty = <Empty title="No group or consumer of that name has a connection" />;
  return (
    <Paged fragment={FOUND} of={project} list={(data) => data.found} empty={empty}>
      {(connections) => <ConnectionRows connections={connections} address={address} />}
    </Paged>
  );
}
