/** Opens the provider's consent page in a popup or in this window, and waits until the connection exists. */
import { useEffect, useRef, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { consentStepMutation } from '../__generated__/consentStepMutation.graphql.ts';
import type { consentStepQuery } from '../__generated__/consentStepQuery.graphql.ts';
import type { Problem } from '../src/network/problem.ts';
import { Action, Refusal } from '../src/parts/form.tsx';
import { useChange } from '../src/parts/queries.ts';
import { refreshAll } from '../src/parts/refresh.ts';
import { getReturnUrl, openConsent } from './consent-redirect.ts';
import { useCustomerProblem } from './customer-problem.ts';
import type { Parties } from './integration-card.tsx';
import { useMessages } from './messages.ts';
import { isFramed, notifyOpener } from './opener.ts';

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

type ConsentInput = Parties & { projectIdOrName: string; provider: string };

/** `blocked`: the browser opened no window. `abandoned`: the person closed the window. */
type ConsentState = 'ready' | 'blocked' | 'waiting' | 'abandoned';

export interface Consent {
  state: ConsentState;
  isStarting: boolean;
  problem: Problem | null;
  /** Where the customer installs the package of the app. Null if the provider requires none. */
  packageUrl: string | null;
  /** Opens the consent page. Must be called in the handler of a click, because browsers block other popups. */
  start: (input: ConsentInput) => Promise<void>;
  restart: () => Promise<void>;
  cancel: () => void;
}

/** A consent at a provider: in this window, or in a popup if a page frames this one. `onDone` runs when it is complete. */
export function useConsent(onDone: () => void): Consent {
  const { run, isRunning, ...change } = useChange<consentStepMutation>(START_OAUTH_CONNECT);
  const problem = useCustomerProblem(change.problem, { isSetup: true });
  const [state, setState] = useState<ConsentState>('ready');
  const [input, setInput] = useState<ConsentInput | null>(null);
  const [packageUrl, setPackageUrl] = useState<string | null>(null);
  const consentWindow = useRef<Window | null>(null);
  const connectionId = useChangedConnection(input, state === 'waiting');

  useEffect(() => {
    if (connectionId === null || input === null) return;
    consentWindow.current?.close();
    setState('ready');
    notifyOpener({ type: 'connected', connectionId, provider: input.provider });
    refreshAll();
    onDone();
  }, [connectionId, input, onDone]);

  useEffect(() => {
    if (state !== 'waiting') return;
    const timer = setInterval(
      () => consentWindow.current?.closed && setState('abandoned'),
      POLL_MS,
    );
    return () => clearInterval(timer);
  }, [state]);

  const startInPopup = async (newInput: ConsentInput) => {
    setInput(newInput);
    // The popup must open before the mutation ends, because browsers block popups that do not follow a click.
    const popup = window.open('', 'consent', 'popup,width=560,height=720');
    consentWindow.current = popup;
    if (!popup) return setState('blocked');
    const started = await run({ input: newInput as never });
    if (!started) return popup.close();
    const { authorizeUrl, packageInstallUrl } = started.startOAuthConnect;
    setPackageUrl(packageInstallUrl ?? null);
    popup.location.href = authorizeUrl;
    setState('waiting');
  };

  const startInThisWindow = async (newInput: ConsentInput) => {
    const started = await run({ input: { ...newInput, redirectUrl: getReturnUrl() } as never });
    if (!started) return;
    const { authorizeUrl, packageInstallUrl } = started.startOAuthConnect;
    openConsent(authorizeUrl, packageInstallUrl ?? null);
  };

  // Providers do not let other pages frame their sign-in pages.
  const start = isFramed ? startInPopup : startInThisWindow;
  return {
    state,
    isStarting: isRunning,
    problem,
    packageUrl,
    start,
    restart: async () => {
      if (input) await start(input);
    },
    cancel: () => {
      consentWindow.current?.close();
      setState('ready');
    },
  };
}

/** Shows a consent in a popup until it is complete. */
export function ConsentProgress({ consent }: { consent: Consent }) {
  const messages = useMessages();
  const { state, packageUrl } = consent;
  return (
    <div className="form">
      <output>
        {state === 'blocked' && messages.windowBlocked}
        {state === 'waiting' && messages.waitingForConsent}
        {state === 'abandoned' && messages.windowClosed}
      </output>
      {packageUrl && <PackageLink url={packageUrl} />}
      <Refusal problem={consent.problem} />
      <div className="row end">
        <Action onPress={consent.cancel}>{messages.cancel}</Action>
        <Action kind="primary" isPending={consent.isStarting} onPress={consent.restart}>
          {state === 'blocked' ? messages.openWindow : messages.reopenWindow}
        </Action>
      </div>
    </div>
  );
}

/** Some providers refuse an app until its package is installed in the account. */
export function PackageLink({ url }: { url: string }) {
  const messages = useMessages();
  return (
    <>
      <p>{messages.installPackageFirst}</p>
      <a href={url} target="_blank" rel="noreferrer">
        {messages.installPackage}
      </a>
    </>
  );
}

/** Returns the ID of the connection that the consent has created or renewed, or null if there is none yet. */
function useChangedConnection(input: ConsentInput | null, isWaiting: boolean): string | null {
  const environment = useRelayEnvironment();
  const [changedId, setChangedId] = useState<string | null>(null);
  const { projectIdOrName: project, provider } = input ?? {};
  useEffect(() => {
    if (!isWaiting || project === undefined || provider === undefined) return;
    setChangedId(null);
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
