/**
 * The search results: connections whose group or consumer has a name with a word that starts with the search text.
 */
import { graphql } from 'react-relay';
import type { connectionSearch_project$key } from '../../__generated__/connectionSearch_project.graphql.ts';
import { Empty } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { ConnectionRows } from './connection-rows.tsx';

const MATCHING_CONNECTIONS = graphql`
  fragment connectionSearch_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    search: { type: "String" }
  )
  @refetchable(queryName: "connectionSearchNextQuery") {
    matches: connections(first: $count, after: $cursor, search: $search)
      @connection(key: "connectionSearch_matches") {
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

interface ConnectionSearchProps {
  project: connectionSearch_project$key;
  linkTo: (path: string) => string;
}

export function ConnectionSearch({ project, linkTo }: ConnectionSearchProps) {
  const empty = (
    <Empty title="No connections match">
      Search by the beginning of a group's or consumer's name.
    </Empty>
  );
  return (
    <Paged
      fragment={MATCHING_CONNECTIONS}
      parent={project}
      list={(data) => data.matches}
      empty={empty}
    >
      {(connections) => <ConnectionRows connections={connections} linkTo={linkTo} />}
    </Paged>
  );
}
