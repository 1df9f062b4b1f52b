/** Deliveries with their outcomes. */
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { deliveryRows_delivery$key } from '../../__generated__/deliveryRows_delivery.graphql.ts';
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
    attempts {
      attemptNumber
      responseStatus
      error
    }
    event {
      eventType
    }
    operation {
      id
    }
  }
`;

interface DeliveryRowsProps {
  project: string;
  deliveries: deliveryRows_delivery$key;
  /** True if the rows go to several destinations. */
  showsDestination?: boolean;
}

const COLUMNS = ['Attempts', 'Last response', 'Created', 'Next attempt', 'Actions'];
const DETAIL_COLUMNS = ['Attempts', 'Last response', 'Next attempt', 'Actions'];

export function DeliveryRows({ project, deliveries, showsDestination = false }: DeliveryRowsProps) {
  const linkTo = useProjectLink(project);
  const rows = useFragment(ROW, deliveries);
  const destinationColumns = showsDestination ? ['Destination'] : [];
  return (
    <Table
      label="Deliveries"
      columns={['Message', 'Status', ...destinationColumns, ...COLUMNS]}
      detailColumns={[...destinationColumns, ...DETAIL_COLUMNS]}
    >
      {rows.map(({ id, status, attempts, destination, createTime, nextAttemptTime, ...row }) => (
        <tr key={id}>
          <td>
            <Link href={linkTo(`deliveries/${id}`)} className="strong">
              {describeContent(row)}
            </Link>
            {showsDestination && (
              <div className="subline quiet">→ {destination?.name ?? 'deleted'}</div>
            )}
          </td>
          <td>
            <Status value={status} />
          </td>
          {showsDestination && <td>{destination?.name ?? 'deleted'}</td>}
          <td>{attempts.length}</td>
          <td>{attempts.at(-1)?.responseStatus ?? attempts.at(-1)?.error ?? '—'}</td>
          <td>
            <Time value={createTime} />
          </td>
          <td>
            <DueTime value={nextAttemptTime} />
          </td>
          <td>
            <RetryAction project={project} deliveryId={id} status={status} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

interface DeliveryContent {
  event: { eventType: string } | null | undefined;
  operation: { id: string } | null | undefined;
}

/** The content of a delivery. Changed fields and tests belong to neither an event nor an operation. */
export function describeContent({ event, operation }: DeliveryContent): string {
  if (event) return formatWords(event.eventType);
  return operation ? 'Records' : 'Message';
}
