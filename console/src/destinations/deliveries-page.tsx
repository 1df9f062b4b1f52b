/** What the project's destinations were sent, newest first. */
import { graphql, usePaginationFragment } from 'react-relay';
import type { deliveriesPage_project$key } from '../../__generated__/deliveriesPage_project.graphql.ts';
import type { deliveriesPageNextQuery } from '../../__generated__/deliveriesPageNextQuery.graphql.ts';
import type { deliveriesPageQuery } from '../../__generated__/deliveriesPageQuery.graphql.ts';
import { NotificationEventType as EVENT_TYPES } from '../../__generated__/enums.ts';
import { Filter, TimeFilter, useAddress, useFilter, useTimeRange } from '../parts/filters.tsx';
import { Empty, Missing, Page } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { PageProps } from '../shell/places.ts';
import { DeliveryRows } from './delivery-rows.tsx';
import { RetryMany } from './retry-many.tsx';
import { STATUSES } from './statuses.ts';

const QUERY = graphql`
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

const LIST = graphql`
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

const LOOK_MS = 5_000;

export default function DeliveriesPage({ project: idOrName }: PageProps) {
  const [status, setStatus] = useFilter('status', STATUSES);
  const [eventType, setType] = useFilter('type', EVENT_TYPES);
  const createTime = useTimeRange();
  const variables = { project: idOrName, status, eventType, createTime };
  const { project } = usePageQuery<deliveriesPageQuery>(QUERY, variables, { everyMs: LOOK_MS });
  if (!project) return <Missing what="project" />;
  return (
    <Page
      title="Deliveries"
      about="Each is one message to one destination. It is sent until it is taken or given up."
      actions={<RetryMany project={idOrName} status={status} createTime={createTime} />}
      query={QUERY}
      variables={variables}
    >
      <div className="filters">
        <Filter label="Status" values={STATUSES} value={status} onChange={setStatus} />
        <Filter label="Event" values={EVENT_TYPES} value={eventType} onChange={setType} />
        <TimeFilter />
      </div>
      <section className="card">
        <List idOrName={idOrName} project={project} />
      </section>
    </Page>
  );
}

function List({ idOrName, project }: { idOrName: string; project: deliveriesPage_project$key }) {
  const address = useAddress(idOrName);
  const { data, ...pages } = usePaginationFragment<
    deliveriesPageNextQuery,
    deliveriesPage_project$key
  >(LIST, project);
  return (
    <Paged
      list={data.deliveries}
      pages={pages}
      empty={<Empty title="No delivery">Events and records that are sent are shown here.</Empty>}
    >
      {(deliveries) => (
        <DeliveryRows
          project={idOrName}
          deliveries={deliveries}
          address={address}
          showsDestination
        />
      )}
    </Paged>
  );
}
