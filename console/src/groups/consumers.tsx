/** The people of all groups. */
import { graphql, usePaginationFragment } from 'react-relay';
import type { consumers_project$key } from '../../__generated__/consumers_project.graphql.ts';
import type { consumersNextQuery } from '../../__generated__/consumersNextQuery.graphql.ts';
import { Empty } from '../parts/page.tsx';
import { More, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

const LIST = graphql`
  fragment consumers_project on Project
  @argumentDefinitions(count: { type: "Int", defaultValue: 25 }, cursor: { type: "String" })
  @refetchable(queryName: "consumersNextQuery") {
    consumers(first: $count, after: $cursor) @connection(key: "consumers_consumers") {
      totalCount
      edges {
        node {
          id
          consumerRef
          consumerName
          createTime
        }
      }
    }
  }
`;

export function Consumers({ project }: { project: consumers_project$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    consumersNextQuery,
    consumers_project$key
  >(LIST, project);
  const { edges, totalCount } = data.consumers;
  if (edges.length === 0) return <Empty title="No consumer yet" />;
  return (
    <>
      <Table label="Consumers" columns={['Name', 'Reference', 'Made']}>
        {edges.map(({ node: { id, consumerName, consumerRef, createTime } }) => (
          <tr key={id}>
            <td>{consumerName}</td>
            <td className="mono">{consumerRef}</td>
            <td>
              <Time of={createTime} />
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
