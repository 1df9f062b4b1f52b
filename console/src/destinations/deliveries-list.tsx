/** Deliveries of a destination, newest first. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { deliveriesList_destination$key } from '../../__generated__/deliveriesList_destination.graphql.ts';
import { useProjectLink } from '../parts/filters.tsx';
import { Empty } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { DeliveryRows } from './delivery-rows.tsx';

const DELIVERIES = graphql`
  fragment deliveriesList_destination on Destination
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    status: { type: "DeliveryStatus" }
    createTime: { type: "TimeRangeInput" }
  )
  @refetchable(queryName: "deliveriesListNextQuery") {
    deliveries(
      first: $count
      after: $cursor
      status: $status
      createTime: $createTime
      order: NEWEST_FIRST
    ) @connection(key: "deliveriesList_deliveries") {
      totalCount
      edges {
        node {
          id
          ...deliveryRows_delivery
        }
      }
    }
  }
`;

interface DeliveriesListProps {
  project: string;
  destination: deliveriesList_destination$key;
}

export function DeliveriesList({ project, destination }: DeliveriesListProps) {
  const linkTo = useProjectLink(project);
  const empty = (
    <Empty title="No deliveries yet">
      <Link href={linkTo('routes')}>A route</Link> sends events here. For records, name this
      destination in an integration's objects.
    </Empty>
  );
  return (
    <Paged
      fragment={DELIVERIES}
      parent={destination}
      list={(data) => data.deliveries}
      empty={empty}
    >
      {(deliveries) => <DeliveryRows project={project} deliveries={deliveries} />}
    </Paged>
  );
}
