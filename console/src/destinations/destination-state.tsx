/** The state of a destination: whether a webhook is enabled, failing or disabled. A stream has no state. */
import { graphql, useFragment } from 'react-relay';
import type { destinationState_destination$key } from '../../__generated__/destinationState_destination.graphql.ts';
import { Status } from '../parts/status.tsx';
import { Elapsed } from '../parts/time.tsx';

const STATE = graphql`
  fragment destinationState_destination on Destination {
    type
    status
    failingSince
    failedAttempts
  }
`;

/**
 * Shows that an enabled webhook is failing, or that a webhook was disabled because it failed. For a stream, shows that
 * clients pull it.
 */
export function DestinationState({
  destination,
}: {
  destination: destinationState_destination$key;
}) {
  const { type, status, failingSince, failedAttempts } = useFragment(STATE, destination);
  if (type === 'STREAM') return <span className="quiet">Clients pull this stream</span>;
  if (failingSince == null) return <Status value={status} />;
  if (status === 'DISABLED') return <Status value={status} tone="bad" />;
  return (
    <span>
      <Status value="FAILING" />{' '}
      <span className="quiet">
        for <Elapsed since={failingSince} />, {failedAttempts.toLocaleString('en')}{' '}
        {failedAttempts === 1 ? 'attempt' : 'attempts'}
      </span>
    </span>
  );
}
