/** Shows the page that the URL names, or the sign-in if there is no credential. */
import { useCallback, useEffect, useMemo, useState } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { Redirect, Route, Router, Switch } from 'wouter';
import { BASE } from './network/connection-state.ts';
import { createEnvironment } from './network/environment.ts';
import { AncestorsContext } from './parts/breadcrumbs.tsx';
import { Loaded, Loading, NotFound } from './parts/page.tsx';
import { endSession, readSignInState } from './session/browser-session.ts';
import {
  BROWSER_SESSION,
  type Credential,
  createHeaders,
  keepDemoTokenFresh,
  readStoredCredential,
  storeCredential,
} from './session/credential.ts';
import { ProjectsPage } from './session/projects-page.tsx';
import { SessionWatch } from './session/session-watch.tsx';
import { SignIn } from './session/sign-in.tsx';
import { CONSOLE_PAGES } from './shell/pages.ts';
import { Shell } from './shell/shell.tsx';

/** The delay before the next attempt if the gateway is unreachable. */
const RETRY_MS = 2_000;
const SESSION_ENDED = 'Your session has ended. Sign in again.';
const STILL_SIGNED_IN =
  'The gateway did not respond, so this browser may still be signed in. Try to sign out again later.';

export function App() {
  const { credential, reason, signIn, signOut, end } = useCredential();
  return (
    <Router base={`${BASE}/console`}>
      {credential === undefined && <Loading />}
      {credential === null && <SignIn reason={reason} onSignedIn={signIn} />}
      {credential && <SignedIn credential={credential} onSignOut={signOut} onEnded={end} />}
      {credential === BROWSER_SESSION && <SessionWatch onSignOut={signOut} onEnded={end} />}
    </Router>
  );
}

/**
 * The credential of this tab, or else the browser session. Undefined while it is loading, and null if there
 * is none.
 */
function useCredential() {
  const [credential, setCredential] = useState<Credential | null | undefined>(
    () => readStoredCredential() ?? undefined,
  );
  const [reason, setReason] = useState<string | null>(null);
  const isUnknown = credential === undefined;
  useEffect(() => {
    if (!isUnknown) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const find = async () => {
      const state = await readSignInState();
      if (state) setCredential(state.session && BROWSER_SESSION);
      else timer = setTimeout(() => void find(), RETRY_MS);
    };
    void find();
    return () => clearTimeout(timer);
  }, [isUnknown]);
  const change = useCallback((next: Credential | null, nextReason: string | null = null) => {
    storeCredential(next);
    setReason(nextReason);
    setCredential(next);
  }, []);
  return {
    credential,
    reason,
    signIn: change,
    signOut: useCallback(async () => {
      const signOut = credential === BROWSER_SESSION ? await endSession() : { providerUrl: null };
      change(null, signOut ? null : STILL_SIGNED_IN);
      if (signOut?.providerUrl) location.assign(signOut.providerUrl);
    }, [credential, change]),
    end: useCallback(() => change(null, SESSION_ENDED), [change]),
  };
}

interface SignedInProps {
  credential: Credential;
  onSignOut: () => void;
  /** Called when the gateway refuses the browser session. */
  onEnded: () => void;
}

function SignedIn({ credential, onSignOut, onEnded }: SignedInProps) {
  const headers = useMemo(() => createHeaders(credential), [credential]);
  const environment = useMemo(
    () => createEnvironment(headers, credential === BROWSER_SESSION ? onEnded : undefined),
    [headers, credential, onEnded],
  );
  useEffect(() => keepDemoTokenFresh(credential, headers), [credential, headers]);
  return (
    <RelayEnvironmentProvider environment={environment}>
      <Switch>
        <Route path="/">
          <Loaded resetKey="projects">
            <ProjectsPage onSignOut={onSignOut} />
          </Loaded>
        </Route>
        <Route path="/:project/*?">
          {({ project, '*': subpath = '' }) => (
            <Shell project={decodeURIComponent(project)} onSignOut={onSignOut}>
              <ProjectPage project={decodeURIComponent(project)} subpath={subpath ?? ''} />
            </Shell>
          )}
        </Route>
        <Route>
          <Redirect to="/" />
        </Route>
      </Switch>
    </RelayEnvironmentProvider>
  );
}

function ProjectPage({ project, subpath }: { project: string; subpath: string }) {
  const [path = '', id] = subpath.split('/').map(decodeURIComponent);
  const page = CONSOLE_PAGES.find((candidate) => candidate.path === path);
  const PageComponent = id ? page?.DetailPage : page?.List;
  const ancestors = useMemo(() => {
    const root = `/${encodeURIComponent(project)}`;
    if (page?.path === '') return [];
    const listPath = id ? page?.path : page?.parent;
    const list = CONSOLE_PAGES.find((candidate) => candidate.path === listPath);
    return [
      { name: project, path: root },
      ...(list ? [{ name: list.name, path: `${root}/${list.path}` }] : []),
    ];
  }, [project, page, id]);
  return (
    <AncestorsContext value={ancestors}>
      {PageComponent ? (
        <Loaded resetKey={`${project}/${subpath}`}>
          <PageComponent project={project} id={id} />
        </Loaded>
      ) : (
        <NotFound noun="page" />
      )}
    </AncestorsContext>
  );
}
