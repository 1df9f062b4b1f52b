/** One event: its payload and its deliveries. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { eventPageQuery } from '../../__generated__/eventPageQuery.graphql.ts';
import { Copyable, CopyableLink } from '../parts/copy.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { Empty, NotFound, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { formatWords, Status } from '../parts/status.tsx';
import { Facts, Json, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';

const QUERY = graphql`
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
        connection {
          id
        }
        installation {
          id
        }
        operation {
          id
        }
        deliveries(first: 50) {
          totalCount
          nodes {
            id
            status
            createTime
            nextAttemptTime
            destination {
              id
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
  const { node } = usePageQuery<eventPageQuery>(QUERY, variables, { everyMs: POLL_MS });
  const linkTo = useProjectLink(project);
  if (!node?.id || !node.eventType) return <NotFound noun="event" />;
  const renderLink = (path: string, label: string, target: { id: string } | null | undefined) =>
    target && (
      <CopyableLink href={linkTo(`${path}/${target.id}`)} value={target.id} label={label} />
    );
  return (
    <Page title={formatWords(node.eventType)} query={QUERY} variables={variables}>
      <Panel>
        <Facts
          facts={{
            Created: <Time value={node.createTime} />,
            Topics: node.topics?.map(({ name }) => name).join(', ') || 'none',
            Connection: renderLink('connections', 'connection ID', node.connection),
            Installation: renderLink('installations', 'installation ID', node.installation),
            Operation: renderLink('operations', 'operation ID', node.operation),
            Proposal: renderLink('agents', 'proposal ID', findProposal(node)),
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

/** The proposal that the event is about. */
function findProposal({ data }: EventNode): { id: string } | null {
  const { proposalId } = data as { proposalId?: string };
  return proposalId === undefined ? null : { id: proposalId };
}

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
    <Table label="Deliveries" columns={['Destination', 'Status', 'Attempts', 'Next attempt']}>
      {nodes.map(({ id, status, destination, attempts, nextAttemptTime }) => (
        <tr key={id}>
          <td>
            <Link href={linkTo(`deliveries/${id}`)}>{destination?.name ?? 'deleted'}</Link>
          </td>
          <td>
            <Status value={status} />
          </td>
          <td>{attempts.length}</td>
          <td>
            <Time value={nextAttemptTime} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
