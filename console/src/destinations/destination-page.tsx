/** One destination: its state, its secret and its deliveries. */
import { lazy } from 'react';
import { graphql } from 'react-relay';
import type { destinationPageQuery } from '../../__generated__/destinationPageQuery.graphql.ts';
import { Copyable } from '../parts/copy.tsx';
import { Filter, TimeFilter, useFilter, useTimeRange } from '../parts/filters.tsx';
import { Loaded, NotFound, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { formatWords } from '../parts/status.tsx';
import { Facts } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { DeliveriesList } from './deliveries-list.tsx';
import { DELIVERY_STATUSES } from './delivery-statuses.ts';
import { DestinationActions } from './destination-actions.tsx';
import { DestinationState } from './destination-state.tsx';
import { RetryMany } from './retry-many.tsx';
import { StreamTail } from './stream-tail.tsx';

const PAGE_QUERY = graphql`
  query destinationPageQuery(
    $id: ID!
    $status: DeliveryStatus
    $createTime: TimeRangeInput
  ) {
    node(id: $id) {
      ... on Destination @alias(as: "destination") {
        id
        name
        type
        url
        headers
        disabledReason
        createTime
        ...destinationState_destination
        ...destinationActions_destination
        ...deliveriesList_destination @arguments(status: $status, createTime: $createTime)
      }
    }
  }
`;

/** Plots load separately, so that the state does not wait for them. */
const DestinationActivity = lazy(() => import('./destination-activity.tsx'));
const StreamActivity = lazy(() => import('./stream-activity.tsx'));

const POLL_MS = 3_000;

export default function DestinationPage({ project, id = '' }: ConsolePageProps) {
  const status = useFilter('status', DELIVERY_STATUSES);
  const createTime = useTimeRange();
  const variables = { id, status, createTime };
  const { node } = usePageQuery<destinationPageQuery>(PAGE_QUERY, variables, {
    everyMs: POLL_MS,
  });
  const destination = node?.destination;
  if (!destination) return <NotFound noun="destination" />;
  const { headers } = destination;
  return (
    <Page
      title={destination.name}
      actions={<DestinationActions project={project} destination={destination} />}
      query={PAGE_QUERY}
      variables={variables}
    >
      <Panel>
        <Facts
          facts={{
            Status: <DestinationState destination={destination} />,
            Reason: destination.disabledReason,
            Type: formatWords(destination.type),
            URL: destination.url && <Copyable value={destination.url} label="URL" />,
            Headers: headers ? Object.keys(headers).join(', ') : null,
            Created: <Time value={destination.createTime} />,
            ID: <Copyable value={destination.id} label="ID" />,
          }}
        />
      </Panel>
      {destination.type === 'STREAM' ? (
        <>
          <Loaded resetKey={`activity of ${destination.id}`}>
            <StreamActivity id={destination.id} />
          </Loaded>
          <StreamTail key={destination.id} id={destination.id} />
        </>
      ) : (
        <>
          <Loaded resetKey={`activity of ${destination.id}`}>
            <DestinationActivity id={destination.id} />
          </Loaded>
          <Panel
            title="Deliveries"
            actions={
              <RetryMany
                project={project}
                destinationId={destination.id}
                status={status}
                createTime={createTime}
              />
            }
          >
            <div className="filters">
              <Filter name="status" label="Status" values={DELIVERY_STATUSES} />
              <TimeFilter />
            </div>
            <DeliveriesList project={project} destination={destination} />
          </Panel>
        </>
      )}
    </Page>
  );
}
