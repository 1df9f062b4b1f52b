/** One event: its payload and its deliveries. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { eventPageQuery } from '../../__generated__/eventPageQuery.graphql.ts';
import { Copyable, CopyableLink, CopyButton } from '../parts/copy.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { Empty, NotFound, Page, Panel } from '../parts/page.tsx';
import { useProviderNames } from '../parts/provider-mark.tsx';
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
          provider
          group {
            groupRef
            groupName
          }
        }
        installation {
          id
          integration {
            name
          }
          group {
            groupRef
            groupName
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
  const getProviderName = useProviderNames();
  if (!node?.id || !node.eventType) return <NotFound noun="event" />;
  const { connection, installation, operation } = node;
  const proposal = findProposal(node);
  return (
    <Page title={formatWords(node.eventType)} query={QUERY} variables={variables}>
      <Panel>
        <Facts
          facts={{
            Created: <Time value={node.createTime} />,
            Topics: node.topics?.map(({ name }) => name).join(', ') || 'none',
            Connection: connection && (
              <NamedLink
                href={linkTo(`connections/${connection.id}`)}
                name={`${formatGroup(connection)} · ${getProviderName(connection.provider)}`}
                id={connection.id}
                label="connection ID"
              />
            ),
            Installation: installation && (
              <NamedLink
                href={linkTo(`installations/${installation.id}`)}
                name={`${formatGroup(installation)} · ${installation.integration.name}`}
                id={installation.id}
                label="installation ID"
              />
            ),
            Operation: operation && (
              <NamedLink
                href={linkTo(`operations/${operation.id}`)}
                name={`${formatWords(operation.actionType)} ${operation.metadata.objects.join(', ')}`}
                id={operation.id}
                label="operation ID"
              />
            ),
            Proposal: proposal && (
              <CopyableLink
                href={linkTo(`agents/${proposal.id}`)}
                value={proposal.id}
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

interface NamedLinkProps {
  href: string;
  name: string;
  id: string;
  /** The name of the ID, for screen readers. */
  label: string;
}

/** The name of another object, which leads to its page, with a button that copies its ID. */
function NamedLink({ href, name, id, label }: NamedLinkProps) {
  return (
    <span className="copyable">
      <Link href={href}>{name}</Link>
      <CopyButton value={id} label={label} />
    </span>
  );
}

function formatGroup({ group }: Pick<NonNullable<EventNode['connection']>, 'group'>): string {
  return group.groupName || group.groupRef;
}

/** The proposal that the event is about. */
function findProposal({ data }: EventNode): { id: string } | null {
  const { proposalId } = data as { proposalId?: string };
  return proposalId === undefined ? null : { id: proposalId };
}

const COLUMNS = ['Delivery', 'Destination', 'Status', 'Attempts', 'Next attempt'];
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
              {formatWords(event.eventType ?? '')}
            </Link>
          </td>
          <td>
            {destination ? (
              <Link href={linkTo(`destinations/${destination.id}`)}>{destination.name}</Link>
            ) : (
              'deleted'
            )}
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
