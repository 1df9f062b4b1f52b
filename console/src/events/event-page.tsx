/** One event: its payload and its deliveries. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { eventPageQuery } from '../../__generated__/eventPageQuery.graphql.ts';
import { getOperationName } from '../operations/operation-name.ts';
import { Copyable, CopyableLink } from '../parts/copy.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { getIntegrationName } from '../parts/integration-name.ts';
import { Empty, NotFound, Page, Panel } from '../parts/page.tsx';
import { useProviderNames } from '../parts/provider-mark.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Status } from '../parts/status.tsx';
import { Facts, Json, Table } from '../parts/table.tsx';
import { DueTime, Time } from '../parts/time.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { getEventName } from './event-name.ts';

const PAGE_QUERY = graphql`
  query eventPageQuery($id: ID!) {
    node(id: $id) {
      ... on NotificationEvent {
        id
        eventType
        createTime
        data
        topics {
          id
          name
        }
        group {
          groupRef
          groupName
        }
        connection {
          id
          provider
        }
        installation {
          id
          integration {
            ...integrationName_integration @relay(mask: false)
          }
        }
        operation {
          id
          actionType
          metadata {
            objects
          }
        }
        deliveries(first: 50) {
          nodes {
            id
            status
            nextAttemptTime
            destination {
              name
            }
            attempts {
              attemptNumber
            }
          }
        }
      }
    }
  }
`;

const POLL_MS = 3_000;
type EventNode = NonNullable<eventPageQuery['response']['node']>;

export default function EventPage({ project, id = '' }: ConsolePageProps) {
  const variables = { id };
  const { node } = usePageQuery<eventPageQuery>(PAGE_QUERY, variables, { everyMs: POLL_MS });
  const linkTo = useProjectLink(project);
  const getProviderName = useProviderNames();
  if (!node?.id || !node.eventType) return <NotFound noun="event" />;
  const { group, connection, installation, operation } = node;
  const { proposalId } = node.data as { proposalId?: string };
  return (
    <Page title={getEventName(node.eventType)} query={PAGE_QUERY} variables={variables}>
      <Panel>
        <Facts
          facts={{
            Created: <Time value={node.createTime} />,
            Topics: node.topics?.map(({ name }) => name).join(', ') || 'none',
            Group: group && (
              <CopyableLink
                href={linkTo(`groups/${encodeURIComponent(group.groupRef)}`)}
                text={group.groupName}
                value={group.groupRef}
                label="group reference"
              />
            ),
            Connection: connection && (
              <CopyableLink
                href={linkTo(`connections/${connection.id}`)}
                text={getProviderName(connection.provider)}
                value={connection.id}
                label="connection ID"
              />
            ),
            Installation: installation && (
              <CopyableLink
                href={linkTo(`installations/${installation.id}`)}
                text={getIntegrationName(installation.integration)}
                value={installation.id}
                label="installation ID"
              />
            ),
            Operation: operation && (
              <CopyableLink
                href={linkTo(`operations/${operation.id}`)}
                text={getOperationName(operation.actionType, operation.metadata.objects)}
                value={operation.id}
                label="operation ID"
              />
            ),
            Proposal: proposalId && (
              <CopyableLink
                href={linkTo(`agents/${proposalId}`)}
                value={proposalId}
                label="proposal ID"
              />
            ),
            ID: <Copyable value={node.id} label="ID" />,
          }}
        />
      </Panel>
      <Panel title="Deliveries">
        <Deliveries event={node} linkTo={linkTo} />
      </Panel>
      <Panel title="Payload">
        <Json value={node.data} label="Payload" />
      </Panel>
    </Page>
  );
}

const COLUMNS = ['Destination', 'Status', 'Attempts', 'Next attempt'];
const DETAIL_COLUMNS = ['Attempts', 'Next attempt'];

function Deliveries({ event, linkTo }: { event: EventNode; linkTo: (path: string) => string }) {
  const nodes = event.deliveries?.nodes ?? [];
  if (nodes.length === 0) {
    return (
      <Empty title="No deliveries">
        When the event was recorded, none of its topics was routed to a destination.
      </Empty>
    );
  }
  return (
    <Table label="Deliveries" columns={COLUMNS} detailColumns={DETAIL_COLUMNS}>
      {nodes.map(({ id, status, destination, attempts, nextAttemptTime }) => (
        <tr key={id}>
          <td>
            <Link href={linkTo(`deliveries/${id}`)} className="strong">
              {destination?.name ?? 'deleted'}
            </Link>
          </td>
          <td>
            <Status value={status} />
          </td>
          <td>{attempts.length}</td>
          <td>
            <DueTime value={nextAttemptTime} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
