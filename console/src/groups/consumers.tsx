/** Lists the consumers of a project, across all groups. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { consumers_project$key } from '../../__generated__/consumers_project.graphql.ts';
import { Empty } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { RenameConsumer } from './rename.tsx';

const CONSUMERS = graphql`
  fragment consumers_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    search: { type: "String" }
  )
  @refetchable(queryName: "consumersNextQuery") {
    consumers(first: $count, after: $cursor, search: $search)
      @connection(key: "consumers_consumers") {
      totalCount
      edges {
        node {
          id
          consumerRef
          consumerName
          createTime
          connections(first: 1) {
            totalCount
          }
        }
      }
    }
  }
`;

interface ConsumersProps {
  project: consumers_project$key;
  projectName: string;
  linkTo: (path: string) => string;
}

export function Consumers({ project, projectName, linkTo }: ConsumersProps) {
  const empty = (
    <Empty title="No consumers yet">They are created when your customers connect accounts.</Empty>
  );
  return (
    <Paged fragment={CONSUMERS} parent={project} list={(data) => data.consumers} empty={empty}>
      {(consumers) => (
        <Table
          label="Consumers"
          columns={['Name', 'Reference', 'Connections', 'Created', 'Actions']}
          detailColumns={['Connections']}
        >
          {consumers.map(({ id, consumerName, consumerRef, connections, createTime }) => {
            const connectionsPath = linkTo(
              `connections?consumer=${encodeURIComponent(consumerRef)}`,
            );
            return (
              <tr key={id}>
                <td>
                  <Link href={connectionsPath} className="strong">
                    {consumerName}
                  </Link>
                </td>
                <td className="mono">{consumerRef}</td>
                <td>
                  <Link href={connectionsPath}>{connections.totalCount.toLocaleString('en')}</Link>
                </td>
                <td>
                  <Time value={createTime} />
                </td>
                <td>
                  <RenameConsumer
                    project={projectName}
                    consumerRef={consumerRef}
                    consumerName={consumerName}
                  />
                </td>
              </tr>
            );
          })}
        </Table>
      )}
    </Paged>
  );
}
