/** One destination: its state, its secret, and what it was sent. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { destinationPageQuery } from '../../__generated__/destinationPageQuery.graphql.ts';
import { Filter, useAddress, useFilter } from '../parts/filters.tsx';
import { Missing, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Status, wordsOf } from '../parts/status.tsx';
import { Facts } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { PageProps } from '../shell/places.ts';
import { DeliveriesList } from './deliveries-list.tsx';
import { DestinationActions } from './destination-actions.tsx';

const QUERY = graphql`
  query destinationPageQuery($id: ID!, $status: DeliveryStatus) {
    node(id: $id) {
      ... on Destination @alias(as: "destination") {
        id
        name
        type
        url
        headers
        status
        disabledReason
        createTime
        ...destinationActions_destination
        ...deliveriesList_destination @arguments(status: $status)
      }
    }
  }
`;

const STATUSES = ['PENDING', 'SUCCEEDED', 'FAILED'] as const;
const LOOK_MS = 3_000;

export default function DestinationPage({ project, id = '' }: PageProps) {
  const [status, setStatus] = useFilter('status', STATUSES);
  const variables = { id, status };
  const { node: found } = usePageQuery<destinationPageQuery>(QUERY, variables, {
    everyMs: LOOK_MS,
  });
  const node = found?.destination;
  const address = useAddress(project);
  if (!node) return <Missing what="destination" />;
  const { headers } = node;
  return (
    <Page
      title={node.name}
      about={<Link href={address('destinations')}>Destinations</Link>}
      actions={<DestinationActions project={project} destination={node} />}
      query={QUERY}
      variables={variables}
    >
      <Panel>
        <Facts
          of={{
            Status: <Status of={node.status} />,
            Reason: node.disabledReason,
            Type: wordsOf(node.type),
            Address: node.url && <code>{node.url}</code>,
            Headers: headers ? Object.keys(headers).join(', ') : null,
            Made: <Time of={node.createTime} />,
            Id: <code>{node.id}</code>,
          }}
        />
      </Panel>
      <Panel
        title="Deliveries"
        actions={<Filter label="Status" values={STATUSES} value={status} onChange={setStatus} />}
      >
        <DeliveriesList project={project} destination={node} />
      </Panel>
    </Page>
  );
}
