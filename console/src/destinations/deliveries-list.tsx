/** What a destination was sent, newest first. */
import { graphql, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type { deliveriesList_destination$key } from '../../__generated__/deliveriesList_destination.graphql.ts';
import type { deliveriesListNextQuery } from '../../__generated__/deliveriesListNextQuery.graphql.ts';
import { useAddress } from '../parts/filters.tsx';
import { Empty } from '../parts/page.tsx';
import { Status, wordsOf } from '../parts/status.tsx';
import { More, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { RetryAction } from './retry-action.tsx';

const LIST = graphql`
  fragment deliveriesList_destination on Destination
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    status: { type: "DeliveryStatus" }
  )
  @refetchable(queryName: "deliveriesListNextQuery") {
    deliveries(first: $count, after: $cursor, status: $status)
      @connection(key: "deliveriesList_deliveries") {
      totalCount
      edges {
        node {
          id
          status
          createTime
          nextAttemptTime
          failureReason
          attempts {
            attemptNumber
            responseStatus
            error
          }
          event {
            eventType
          }
          operation {
            id
          }
        }
      }
    }
  }
`;

interface DeliveriesListProps {
  project: string;
  destination: deliveriesList_destination$key;
}

const COLUMNS = ['Message', 'Status', 'Attempts', 'Last answer', 'Made', 'Next attempt', 'Again'];

export function DeliveriesList({ project, destination }: DeliveriesListProps) {
  const address = useAddress(project);
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    deliveriesListNextQuery,
    deliveriesList_destination$key
  >(LIST, destination);
  const { edges, totalCount } = data.deliveries;
  if (edges.length === 0) {
    return (
      <Empty title="Nothing was sent">
        <Link href={address('routes')}>A route</Link> leads events here; an integration's objects
        name the destination of their records.
      </Empty>
    );
  }
  return (
    <>
      <Table label="Deliveries" columns={COLUMNS}>
        {edges.map(({ node: { id, status, attempts, event, ...of } }) => (
          <tr key={id}>
            <td>
              <Link href={address(`deliveries/${id}`)} className="strong">
                {event ? wordsOf(event.eventType) : 'Records'}
              </Link>
            </td>
            <td>
              <Status of={status} />
            </td>
            <td>{attempts.length}</td>
            <td>{attempts.at(-1)?.responseStatus ?? attempts.at(-1)?.error ?? '—'}</td>
            <td>
              <Time of={of.createTime} />
            </td>
            <td>
              <Time of={of.nextAttemptTime} />
            </td>
            <td>
              <RetryAction project={project} deliveryId={id} />
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
