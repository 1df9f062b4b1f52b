/** Starts a new consent for a connection, in a popup with the provider's page. */
import { graphql } from 'react-relay';
import type { consentActionMutation } from '../../__generated__/consentActionMutation.graphql.ts';
import { Action, Refusal } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';
import { refreshAll } from '../parts/refresh.ts';

const START_OAUTH_UPDATE = graphql`
  mutation consentActionMutation($input: StartOAuthUpdateInput!) {
    startOAuthUpdate(input: $input) {
      authorizeUrl
    }
  }
`;

const POLL_MS = 500;

export function ConsentAction({
  input,
}: {
  input: { projectIdOrName: string; connectionId: string };
}) {
  const { run, isRunning, problem } = useChange<consentActionMutation>(START_OAUTH_UPDATE);
  const startConsent = async () => {
    // The popup must open before the mutation ends, because browsers block popups that do not follow a click.
    const consentWindow = window.open('', 'consent', 'popup,width=560,height=720');
    const started = await run({ input });
    if (!consentWindow) return;
    if (!started) return consentWindow.close();
    consentWindow.location.href = started.startOAuthUpdate.authorizeUrl;
    const timer = setInterval(() => {
      if (!consentWindow.closed) return;
      clearInterval(timer);
      refreshAll();
    }, POLL_MS);
  };
  return (
    <>
      <Refusal problem={problem} />
      <Action isPending={isRunning} onPress={startConsent}>
        Renew consent
      </Action>
    </>
  );
}
