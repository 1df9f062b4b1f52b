/** One delivery: its attempts and its message. */
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { deliveryPageQuery } from '../../__generated__/deliveryPageQuery.graphql.ts';
import type { retryAction_outcome$key } from '../../__generated__/retryAction_outcome.graphql.ts';
import { getEventName } from '../events/event-name.ts';
import { getOperationName } from '../operations/operation-name.ts';
import { Copyable, CopyableLink } from '../parts/copy.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { Empty, NotFound, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Status } from '../parts/status.tsx';
import { Facts, Json, Table } from '../parts/table.tsx';
import { DueTime, Time } from '../parts/time.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { describeContent } from './delivery-rows.tsx';
import { OUTCOME, RetryAction } from './retry-action.tsx';

const PAGE_QUERY = graphql`
  query deliveryPageQuery($id: ID!) {
    node(id: $id) {
      ... on Delivery @alias(as: "delivery") {
        id
        createTime
        body
        bodyBytes
        kind
        objectName
        destination {
          id
          name
        }
        group {
          groupRef
          groupName
        }
        event {
          id
          eventType
        }
        operation {
          id
          actionType
          metadata {
            objects
          }
        }
        ...retryAction_outcome
      }
    }
  }
`;

const POLL_MS = 2_000;
const COLUMNS = ['Attempt', 'Response', 'Time', 'Duration', 'Response body'];

export default function DeliveryPage({ project, id = '' }: ConsolePageProps) {
  const variables = { id };
  const { node } = usePageQuery<deliveryPageQuery>(PAGE_QUERY, variables, { everyMs: POLL_MS });
  const linkTo = useProjectLink(project);
  const delivery = node?.delivery;
  const outcome = useFragment<retryAction_outcome$key>(OUTCOME, delivery);
  if (!delivery || !outcome) return <NotFound noun="delivery" />;
  const { destination, group, event, operation } = delivery;
  const { attempts } = outcome;
  const receiver = destination ? `“${destination.name}”` : 'a deleted destination';
  return (
    <Page
      title={`${describeContent(delivery)} to ${receiver}`}
      actions={<RetryAction project={project} deliveryId={delivery.id} status={outcome.status} />}
      query={PAGE_QUERY}
      variables={variables}
    >
      <Panel>
        <Facts
          facts={{
            Status: <Status value={outcome.status} />,
            Reason: outcome.failureReason,
            Group: group && (
              <Link href={linkTo(`groups/${encodeURIComponent(group.groupRef)}`)}>
                {group.groupName}
              </Link>
            ),
            Destination: destination && (
              <Link href={linkTo(`destinations/${destination.id}`)}>{destination.name}</Link>
            ),
            Created: <Time value={delivery.createTime} />,
            'Next attempt': outcome.nextAttemptTime && <DueTime value={outcome.nextAttemptTime} />,
            Event: event && (
              <CopyableLink
                href={linkTo(`events/${event.id}`)}
                text={getEventName(event.eventType)}
                value={event.id}
                label="event ID"
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
            ID: <Copyable value={delivery.id} label="ID" />,
          }}
        />
      </Panel>
      <Panel title="Attempts">
        {attempts.length === 0 ? (
          <Empty title="No attempts yet" />
        ) : (
          <Table label="Attempts" columns={COLUMNS}>
            {attempts.map(({ attemptNumber, responseStatus, error, durationMs, ...row }) => (
              <tr key={attemptNumber}>
                <td>{attemptNumber}</td>
                <td>{error ?? responseStatus}</td>
                <td>
                  <Time value={row.createTime} />
                </td>
                <td>{durationMs.toLocaleString('en')} ms</td>
                <td className="outcome mono">{row.responseBody ?? '—'}</td>
              </tr>
            ))}
          </Table>
        )}
      </Panel>
      <Panel title={`Body (${delivery.bodyBytes.toLocaleString('en')} bytes)`}>
        {delivery.body ? (
          <Json value={delivery.body} label="Body" />
        ) : (
          <Empty title="Body not available">
            Reading the body requires the payloads:read scope. Bodies are deleted after the
            retention period.
          </Empty>
        )}
      </Panel>
    </Page>
  );
}
