/** The last failures, and the state of each destination. */
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { projectHealth_project$key } from '../../__generated__/projectHealth_project.graphql.ts';
import { DestinationState } from '../destinations/destination-state.tsx';
import { getOperationName } from '../operations/operation-name.ts';
import { OperationText } from '../operations/operation-text.tsx';
import { Empty } from '../parts/page.tsx';
import { Time } from '../parts/time.tsx';

const HEALTH = graphql`
  fragment projectHealth_project on Project @argumentDefinitions(dayStart: { type: "DateTime!" }) {
    lastFailures: operations(first: 6, status: FAILED) {
      nodes {
        id
        actionType
        result
        createTime
        metadata {
          objects
        }
        installation {
          group {
            groupName
          }
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
        failed: deliveries(status: FAILED, createTime: { from: $dayStart }) {
          totalCount
        }
      }
    }
  }
`;

interface ProjectHealthProps {
  project: projectHealth_project$key;
  linkTo: (path: string) => string;
}

export function LastFailures({ project, linkTo }: ProjectHealthProps) {
  const { nodes } = useFragment(HEALTH, project).lastFailures;
  if (nodes.length === 0) {
    return <Empty title="No failed operations">Failed reads and writes appear here.</Empty>;
  }
  return (
    <ul className="plain-list">
      {nodes.map(({ id, actionType, result, createTime, metadata, installation }) => (
        <li key={id}>
          <Link href={linkTo(`operations/${id}`)} className="strong">
            {getOperationName(actionType, metadata.objects)}
          </Link>
          <span className="quiet">
            <Time value={createTime} />
          </span>
          <span className="whole quiet">
            {installation && `${installation.group.groupName} · `}
            <OperationText text={result} namedObjects={metadata.objects} />
          </span>
        </li>
      ))}
    </ul>
  );
}

export function DestinationStates({ project, linkTo }: ProjectHealthProps) {
  const { nodes } = useFragment(HEALTH, project).destinations;
  if (nodes.length === 0) {
    return (
      <Empty title="No destinations yet">
        <Link href={linkTo('destinations')}>Create one</Link> to receive events and records.
      </Empty>
    );
  }
  return (
    <ul className="plain-list">
      {nodes.map(({ id, name, type, pending, retrying, failed, ...row }) => (
        <li key={id}>
          <Link href={linkTo(`destinations/${id}`)} className="strong">
            {name}
          </Link>
          <span className="row">
            {type !== 'STREAM' &&
              listUndelivered({ pending, retrying, failed }).map(({ label, filter, count }) => (
                <Link key={filter} href={linkTo(`destinations/${id}?${filter}`)}>
                  {count.toLocaleString('en')} {label}
                </Link>
              ))}
            <DestinationState destination={row} />
          </span>
        </li>
      ))}
    </ul>
  );
}

type DeliveryList = 'pending' | 'retrying' | 'failed';

/** Lists counts of deliveries that have not arrived, without zeros. */
function listUndelivered(lists: Record<DeliveryList, { totalCount: number }>) {
  const counts = [
    { label: 'pending', filter: 'status=PENDING', count: lists.pending.totalCount },
    { label: 'retrying', filter: 'status=RETRYING', count: lists.retrying.totalCount },
    {
      label: 'failed in 24 hours',
      filter: 'status=FAILED&time=day',
      count: lists.failed.totalCount,
    },
  ];
  return counts.filter(({ count }) => count > 0);
}
