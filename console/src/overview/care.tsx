/** The last failures, and the state of each destination. */
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { care_project$key } from '../../__generated__/care_project.graphql.ts';
import { DestinationState } from '../destinations/destination-state.tsx';
import { Empty } from '../parts/page.tsx';
import { formatWords } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';

const CARE = graphql`
  fragment care_project on Project {
    lastFailures: operations(first: 6, status: FAILED) {
      nodes {
        id
        actionType
        result
        createTime
        metadata {
          objects
        }
      }
    }
    destinations(first: 20) {
      nodes {
        id
        name
        type
        ...destinationState_destination
        pending: deliveries(status: PENDING) {
          totalCount
        }
        retrying: deliveries(status: RETRYING) {
          totalCount
        }
        failed: deliveries(status: FAILED) {
          totalCount
        }
      }
    }
  }
`;

interface CareProps {
  project: care_project$key;
  to: (path: string) => string;
}

export function LastFailures({ project, to }: CareProps) {
  const { nodes } = useFragment(CARE, project).lastFailures;
  if (nodes.length === 0) return <Empty title="No failures" />;
  return (
    <ul className="plain-list">
      {nodes.map(({ id, actionType, result, createTime, metadata }) => (
        <li key={id}>
          <Link href={to(`operations/${id}`)} className="strong">
            {formatWords(actionType)} {metadata.objects.join(', ')}
          </Link>
          <span className="quiet">
            <Time value={createTime} />
          </span>
          <span className="whole quiet">{result}</span>
        </li>
      ))}
    </ul>
  );
}

export function DestinationStates({ project, to }: CareProps) {
  const { nodes } = useFragment(CARE, project).destinations;
  if (nodes.length === 0) {
    return (
      <Empty title="No destinations yet">
        <Link href={to('destinations')}>Create one</Link> to receive events and records.
      </Empty>
    );
  }
  return (
    <ul className="plain-list">
      {nodes.map(({ id, name, type, pending, retrying, failed, ...row }) => (
        <li key={id}>
          <Link href={to(`destinations/${id}`)} className="strong">
            {name}
          </Link>
          {type === 'STREAM' ? (
            <span className="quiet">Clients read it; nothing is pushed.</span>
          ) : (
            <span className="row">
              <span className="quiet">
                {countsOf({ pending, retrying, failed }).map(({ status, count }, index) => (
                  <span key={status}>
                    {index > 0 && ', '}
                    <Link href={to(`destinations/${id}?status=${status}`)}>
                      {count.toLocaleString('en')} {formatWords(status).toLowerCase()}
                    </Link>
                  </span>
                ))}
              </span>
              <DestinationState destination={row} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

interface Counted {
  totalCount: number;
}

/** Deliveries that have not arrived, without zeros. */
function countsOf(counts: { pending: Counted; retrying: Counted; failed: Counted }) {
  return Object.entries(counts)
    .map(([name, { totalCount: count }]) => ({ status: name.toUpperCase(), count }))
    .filter(({ count }) => count > 0);
}
