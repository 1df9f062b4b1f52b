/**
 * Consent in a window of the provider, or in this one. The step ends when the connection exists or the window is
 * closed.
 */
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

const START = graphql`
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
  const { run, isRunning, ...change } = useChange<consentStepMutation>(START);
  const problem = useCustomerProblem(change.problem, { isSetup: true });
  const [state, setState] = useState<ConsentState>('ready');
  const [packageUrl, setPackageUrl] = useState<string | null>(null);
  const consent = useRef<Window | null>(null);
  const connectionId = useChangedConnection(input, state === 'waiting');

  useEffect(() => {
    if (connectionId === null) return;
    consent.current?.close();
    notifyOpener({ type: 'connected', connectionId, provider: input.provider });
    refreshAll();
    onDone();
  }, [connectionId, input.provider, onDone]);

  useEffect(() => {
    if (state !== 'waiting') return;
    const timer = setInterval(() => consent.current?.closed && setState('abandoned'), POLL_MS);
    return () => clearInterval(timer);
  }, [state]);

  const start = async () => {
    // The click itself opens the window: browsers block windows that open later.
    consent.current = window.open('', 'consent', 'popup,width=560,height=720');
    const started = await run({ input: input as never });
    if (!started) return consent.current?.close();
    const { authorizeUrl, packageInstallUrl } = started.startOAuthConnect;
    setPackageUrl(packageInstallUrl ?? null);
    if (consent.current) consent.current.location.href = authorizeUrl;
    else window.open(authorizeUrl, '_blank');
    setState('waiting');
  };

  const continueHere = async () => {
    const started = await run({ input: { ...input, redirectUrl: getReturnUrl() } as never });
    if (started) openConsent(started.startOAuthConnect.authorizeUrl);
  };

  return (
    <div className="form">
      <output>
        {state === 'ready' && messages.opensWindow}
        {state === 'waiting' && messages.awaitsApproval}
        {state === 'abandoned' && messages.closedWindow}
      </output>
      {packageUrl && (
        <>
          <p>{messages.installFirst}</p>
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
          <Action isPending={isRunning} onPress={continueHere}>
            {messages.continueHere}
          </Action>
        )}
        <Action kind="primary" isPending={isRunning} onPress={start}>
          {state === 'ready' ? messages.openWindow : messages.reopenWindow}
        </Action>
      </div>
    </div>
  );
}

/** Returns the ID of the connection that the consent created or renewed. Null until then. */
function useChangedConnection(input: ConsentStepProps['input'], isWaiting: boolean): string | null {
  const environment = useRelayEnvironment();
  const [changedId, setChangedId] = useState<string | null>(null);
  const { projectIdOrName: project, provider } = input;
  useEffect(() => {
    if (!isWaiting) return;
    let before: Map<string, string> | null = null;
    const poll = async () => {
      const variables = { project, provider };
      const response = await fetchQuery<consentStepQuery>(
        environment,
        CONNECTIONS,
        variables,
      ).toPromise();
      const nodes = response?.project?.connections.nodes ?? [];
      const states = new Map(nodes.map((node) => [node.id, `${node.status} ${node.updateTime}`]));
      const previous = before;
      before ??= states;
      const changed = previous && nodes.find(({ id }) => previous.get(id) !== states.get(id));
      if (changed && changed.status !== 'BAD_CREDENTIALS') setChangedId(changed.id);
    };
    void poll();
    const timer = setInterval(() => void poll().catch(() => {}), POLL_MS);
    return () => clearInterval(timer);
  }, [environment, project, provider, isWaiting]);
  return changedId;
}
