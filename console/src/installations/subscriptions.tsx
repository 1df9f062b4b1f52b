/** The changes that the provider pushes to the gateway, and the state of each subscription. */
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type { subscriptions_installation$key } from '../../__generated__/subscriptions_installation.graphql.ts';
import { Panel } from '../parts/page.tsx';
import { formatWords, Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { ObjectName } from './object-name.tsx';

const SUBSCRIPTIONS = graphql`
  fragment subscriptions_installation on Installation {
    subscriptions {
      objectName
      mappedObjectName
      kinds
      status
      error
      eventCount
      lastEventTime
      destination {
        id
        name
      }
    }
  }
`;

interface SubscriptionsProps {
  installation: subscriptions_installation$key;
  linkTo: (path: string) => string;
}

const COLUMNS = ['Object', 'Status', 'Last event', 'Changes', 'Events', 'Destination'];

export function Subscriptions({ installation, linkTo }: SubscriptionsProps) {
  const { subscriptions } = useFragment(SUBSCRIPTIONS, installation);
  if (subscriptions.length === 0) return null;
  return (
    <Panel title="Subscriptions at the provider">
      <Table label="Subscriptions at the provider" columns={COLUMNS}>
        {subscriptions.map(({ objectName, kinds, status, error, destination, ...row }) => (
          <tr key={objectName}>
            <td>
              <ObjectName objectName={objectName} mappedObjectName={row.mappedObjectName} />
            </td>
            <td>
              <Status value={status} /> <span className="quiet">{error}</span>
            </td>
            <td>
              <Time value={row.lastEventTime} none="none yet" />
            </td>
            <td>{kinds.map(formatWords).join(', ')}</td>
            <td>{row.eventCount.toLocaleString('en')}</td>
            <td>
              {destination ? (
                <Link href={linkTo(`destinations/${destination.id}`)}>{destination.name}</Link>
              ) : (
                'none'
              )}
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}
