/** A table of deliveries with their outcomes. */
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { deliveryRows_delivery$key } from '../../__generated__/deliveryRows_delivery.graphql.ts';
import { getEventName } from '../events/event-name.ts';
import { useProjectLink } from '../parts/filters.tsx';
import { formatWords, Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { DueTime, Time } from '../parts/time.tsx';
import { RetryAction } from './retry-action.tsx';

const ROW = graphql`
  fragment deliveryRows_delivery on Delivery @relay(plural: true) {
    id
    status
    createTime
    nextAttemptTime
    destination {
      name
    }
    group {
      groupName
    }
    attempts {
      responseStatus
      error
    }
    kind
    objectName
    event {
      eventType
    }
    operation {
      metadata {
        objects
      }
    }
  }
`;

interface DeliveryRowsProps {
  project: string;
  deliveries: deliveryRows_delivery$key;
  /** True if the rows belong to several destinations. */
  showsDestination?: boolean;
}

const DETAIL_COLUMNS = ['Group', 'Destination', 'Attempts', 'Last response', 'Actions'];
/** Statuses for which a retry is offered. */
const UNDELIVERED = ['FAILED', 'RETRYING'];

export function DeliveryRows({ project, deliveries, showsDestination = false }: DeliveryRowsProps) {
  const linkTo = useProjectLink(project);
  const rows = useFragment(ROW, deliveries);
  const columns = [
    'Message',
    'Status',
    'Group',
    ...(showsDestination ? ['Destination'] : []),
    'Attempts',
    'Last response',
    'Created',
    'Actions',
  ];
  return (
    <Table label="Deliveries" columns={columns} detailColumns={DETAIL_COLUMNS}>
      {rows.map(({ id, status, group, attempts, destination, ...row }) => (
        <tr key={id}>
          <td>
            <Link href={linkTo(`deliveries/${id}`)} className="strong">
              {describeContent(row)}
            </Link>
            <div className="subline quiet">
              {group?.groupName}
              {showsDestination && ` → ${destination?.name ?? 'deleted'}`}
            </div>
          </td>
          <td>
            <Status value={status} />
            {row.nextAttemptTime && (
              <div className="quiet">
                Next attempt <DueTime value={row.nextAttemptTime} />
              </div>
            )}
          </td>
          <td>{group?.groupName ?? '—'}</td>
          {showsDestination && <td>{destination?.name ?? 'deleted'}</td>}
          <td>{attempts.length}</td>
          <td>{attempts.at(-1)?.responseStatus ?? attempts.at(-1)?.error ?? '—'}</td>
          <td>
            <Time value={row.createTime} />
          </td>
          <td>
            <RetryAction
              project={project}
              deliveryId={id}
              status={status}
              kind={UNDELIVERED.includes(status) ? 'plain' : 'quiet'}
            />
          </td>
        </tr>
      ))}
    </Table>
  );
}

interface DeliveryContent {
  kind: string;
  objectName: string | null | undefined;
  event: { readonly eventType: string } | null | undefined;
  operation: { readonly metadata: { readonly objects: readonly string[] } } | null | undefined;
}

/** Describes the content of a delivery. Events and operations are null after their retention. */
export function describeContent({ kind, objectName, event, operation }: DeliveryContent): string {
  if (event) return getEventName(event.eventType);
  if (operation) return `Records of ${operation.metadata.objects.join(', ')}`;
  if (kind === 'CHANGES') return `Change of ${objectName}`;
  if (kind === 'FIELD_CHANGES') return `Changed fields of ${objectName}`;
  return kind === 'TEST' ? 'Test message' : formatWords(kind);
}
