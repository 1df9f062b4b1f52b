/** Search for connections by the beginning of a word in the name of their group or consumer. */
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
  const empty = (
    <Empty title="No connections match. Search by the beginning of a group's or consumer's name." />
  );
  return (
    <Paged fragment={FOUND} parent={project} list={(data) => data.found} empty={empty}>
      {(connections) => <ConnectionRows connections={connections} address={address} />}
    </Paged>
  );
}
