/**
 * Creates a link to the connect page on which the customer reconnects one account. The connection and its
 * installations remain.
 */
import { graphql } from 'react-relay';
import type { reconnectLinkMutation } from '../../__generated__/reconnectLinkMutation.graphql.ts';
import { CopyableValue, FormDialog } from '../parts/dialog.tsx';
import { Time } from '../parts/time.tsx';

const CREATE_SESSION_TOKEN = graphql`
  mutation reconnectLinkMutation($input: CreateSessionTokenInput!) {
    createSessionToken(input: $input) {
      connectUrl
      expireTime
    }
  }
`;

/** The maximum lifetime of the link's token. */
const HOUR_SECONDS = 3_600;

interface ReconnectLinkProps {
  project: string;
  connectionId: string;
  groupRef: string;
  consumerRef: string;
}

export function ReconnectLink({
  project,
  connectionId,
  groupRef,
  consumerRef,
}: ReconnectLinkProps) {
  return (
    <FormDialog<reconnectLinkMutation>
      triggerLabel="Reconnect link"
      title="Reconnect link"
      submitLabel="Create link"
      mutation={CREATE_SESSION_TOKEN}
      variables={() => ({
        input: {
          projectIdOrName: project,
          groupRef,
          consumerRef,
          expiresInSeconds: HOUR_SECONDS,
        },
      })}
      skipRefetch
      renderResult={({ createSessionToken }) => {
        const { connectUrl, expireTime } = createSessionToken;
        const url = new URL(connectUrl);
        url.searchParams.set('connection', connectionId);
        return (
          <CopyableValue
            explanation={
              <>
                Send it to the person who connected the account: the link expires{' '}
                <Time value={expireTime} isInSentence />.
              </>
            }
            value={url.href}
            label="Reconnect link"
          />
        );
      }}
    >
      <p className="quiet">
        The connect page opens with the form of this account. The connection and its installations
        stay.
      </p>
    </FormDialog>
  );
}
