/** Opens the provider's consent page in a popup or in this window, and waits until the connection exists. */
import { useEffect, useRef, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { consentStepMutation } from '../__generated__/consentStepMutation.graphql.ts';
import type { consentStepQuery } from '../__generated__/consentStepQuery.graphql.ts';
import { Action, Refusal } from '../src/parts/form.tsx';
import { useChange } from '../src/parts/queries.ts';
import { refreshAll } from '../src/parts/refresh.ts';
import { useCustomerProblem } from './customer-problem.ts';
import type { Parties } from './integration-card.tsx';
import { useMessages } from './messages.ts';
import { isFramed, notifyOpener } from './opener.ts';
import { getReturnUrl, openConsent } from './session-token.ts';

const START_OAUTH_CONNECT = graphql`
  mutation consentStepMutation($input: StartOAuthConnectInput!) {
    startOAuthConnect(input: $input) {
      authorizeUrl
      packageInstallUrl
    }
  }
`;

const CONNECTIONS = graphql`
  query consentStepQuery($project: String!, $provider: String!) {
    project(idOrName: $project) {
      connections(first: 20, provider: $provider) {
        nodes {
          id
          status
          updateTime
          createTime
        }
      }
    }
  }
`;

const POLL_MS = 700;

interface ConsentStepProps {
  input: Parties & { projectIdOrName: string; provider: string };
  onDone: () => void;
}

type ConsentState = 'ready' | 'waiting' | 'abandoned';

export function ConsentStep({ input, onDone }: ConsentStepProps) {
  const messages = useMessages();
  const { run, isRunning, ...change } = useChange<consentStepMutation>(START_OAUTH_CONNECT);
  const problem = useCustomerProblem(change.problem, { isSetup: true });
  const [state, setState] = useState<ConsentState>('ready');
  const [packageUrl, setPackageUrl] = useState<string | null>(null);
  const consentWindow = useRef<Window | null>(null);
  const connectionId = useChangedConnection(input, state === 'waiting');

  useEffect(() => {
    if (connectionId === null) return;
    consentWindow.current?.close();
    notifyOpener({ type: 'connected', connectionId, provider: input.provider });
    refreshAll();
    onDone();
  }, [connectionId, input.provider, onDone]);

  useEffect(() => {
    if (state !== 'waiting') return;
    const timer = setInterval(
      () => consentWindow.current?.closed && setState('abandoned'),
      POLL_MS,
    );
    return () => clearInterval(timer);
  }, [state]);

  const startInPopup = async () => {
    // The popup must open before the mutation ends, because browsers block popups that do not follow a click.
    consentWindow.current = window.open('', 'consent', 'popup,width=560,height=720');
    const started = await run({ input: input as never });
    if (!started) return consentWindow.current?.close();
    const { authorizeUrl, packageInstallUrl } = started.startOAuthConnect;
    setPackageUrl(packageInstallUrl ?? null);
    if (consentWindow.current) consentWindow.current.location.href = authorizeUrl;
    else window.open(authorizeUrl, '_blank');
    setState('waiting');
  };

  const startInThisWindow = async () => {
    const started = await run({ input: { ...input, redirectUrl: getReturnUrl() } as never });
    if (started) openConsent(started.startOAuthConnect.authorizeUrl);
  };

  return (
    <div className="form">
      <output>
        {state === 'ready' && messages.providerOpensWindow}
        {state === 'waiting' && messages.waitingForConsent}
        {state === 'abandoned' && messages.windowClosed}
      </output>
      {packageUrl && (
        <>
          <p>{messages.installPackageFirst}</p>
          <a href={packageUrl} target="_blank" rel="noreferrer">
            {messages.installPackage}
          </a>
        </>
      )}
      <Refusal problem={problem} />
      <div className="row end">
        <Action onPress={onDone}>{messages.cancel}</Action>
        {/* Providers do not let other pages frame their sign-in pages. */}
        {!isFramed && (
          <Action isPending={isRunning} onPress={startInThisWindow}>
            {messages.continueInThisWindow}
          </Action>
        )}
        <Action kind="primary" isPending={isRunning} onPress={startInPopup}>
          {state === 'ready' ? messages.openWindow : messages.reopenWindow}
        </Action>
      </div>
    </div>
  );
}

/** Returns the ID of the connection that the consent has created or renewed, or null if there is none yet. */
function useChangedConnection(input: ConsentStepProps['input'], isWaiting: boolean): string | null {
  const environment = useRelayEnvironment();
  const [changedId, setChangedId] = useState<string | null>(null);
  const { projectIdOrName: project, provider } = input;
  useEffect(() => {
    if (!isWaiting) return;
    let initialVersions: Map<string, string> | null = null;
    const poll = async () => {
      const variables = { project, provider };
      const response = await fetchQuery<consentStepQuery>(
        environment,
        CONNECTIONS,
        variables,
      ).toPromise();
      const nodes = response?.project?.connections.nodes ?? [];
      const versions = new Map(nodes.map((node) => [node.id, `${node.status} ${node.updateTime}`]));
      initialVersions ??= versions;
      const previousVersions = initialVersions;
      const changed = nodes.find(({ id }) => previousVersions.get(id) !== versions.get(id));
      if (changed && changed.status !== 'BAD_CREDENTIALS') setChangedId(changed.id);
    };
    void poll();
    const timer = setInterval(() => void poll().catch(() => {}), POLL_MS);
    return () => clearInterval(timer);
  }, [environment, project, provider, isWaiting]);
  return changedId;
}
