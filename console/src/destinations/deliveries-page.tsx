/** Deliveries of the project, newest first. */
import { graphql } from 'react-relay';
import type { deliveriesPage_project$data } from '../../__generated__/deliveriesPage_project.graphql.ts';
import type { deliveriesPageQuery } from '../../__generated__/deliveriesPageQuery.graphql.ts';
import { NotificationEventType as EVENT_TYPES } from '../../__generated__/enums.ts';
import { getEventName } from '../events/event-name.ts';
import { Filter, TimeFilter, useFilter, useTimeRange } from '../parts/filters.tsx';
import { Empty, ListPage, NotFound } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { ConsolePageProps } from '../shell/pages.ts';
import { DeliveryRows } from './delivery-rows.tsx';
import { DELIVERY_STATUSES } from './delivery-statuses.ts';
import { RetryMany } from './retry-many.tsx';

const PAGE_QUERY = graphql`
  query deliveriesPageQuery(
    $project: String!
    $status: DeliveryStatus
    $eventType: NotificationEventType
    $createTime: TimeRangeInput
  ) {
    project(idOrName: $project) {
      ...deliveriesPage_project
        @arguments(status: $status, eventType: $eventType, createTime: $createTime)
    }
  }
`;

const DELIVERIES = graphql`
  fragment deliveriesPage_project on Project
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
    status: { type: "DeliveryStatus" }
    eventType: { type: "NotificationEventType" }
    createTime: { type: "TimeRangeInput" }
  )
  @refetchable(queryName: "deliveriesPageNextQuery") {
    deliveries(
      first: $count
      after: $cursor
      status: $status
      eventType: $eventType
      createTime: $createTime
    ) @connection(key: "deliveriesPage_deliveries") {
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

const POLL_MS = 5_000;
const NO_DELIVERIES = (
  <Empty title="No deliveries">
    Route events to a destination, or install an integration that reads records.
  </Empty>
);

const getDeliveries = ({ deliveries }: deliveriesPage_project$data) => deliveries;

export default function DeliveriesPage({ project: projectIdOrName }: ConsolePageProps) {
  const status = useFilter('status', DELIVERY_STATUSES);
  const eventType = useFilter('type', EVENT_TYPES);
  const createTime = useTimeRange();
  const variables = { project: projectIdOrName, status, eventType, createTime };
  const { project } = usePageQuery<deliveriesPageQuery>(PAGE_QUERY, variables, {
    everyMs: POLL_MS,
  });
  if (!project) return <NotFound noun="project" />;
  return (
    <ListPage
      title="Deliveries"
      description="Messages to destinations. Failed messages are retried until they succeed or run out of retries."
      actions={<RetryMany project={projectIdOrName} status={status} createTime={createTime} />}
      query={PAGE_QUERY}
      variables={variables}
      filters={
        <>
          <Filter name="status" label="Status" values={DELIVERY_STATUSES} />
          <Filter name="type" label="Event" values={EVENT_TYPES} formatValue={getEventName} />
          <TimeFilter />
        </>
      }
    >
      <Paged fragment={DELIVERIES} parent={project} list={getDeliveries} empty={NO_DELIVERIES}>
        {(deliveries) => (
          <DeliveryRows project={projectIdOrName} deliveries={deliveries} showsDestination />
        )}
      </Paged>
    </ListPage>
  );
}
