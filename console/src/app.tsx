/** Finds the session and the page that the URL names. */
import { useEffect, useMemo, useState } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { Redirect, Route, Router, Switch } from 'wouter';
import { BASE } from './network/connection-state.ts';
import { createEnvironment } from './network/environment.ts';
import { Loaded, Missing } from './parts/page.tsx';
import { ProjectsPage } from './session/projects-page.tsx';
import { headersOf, renewDemo, storeCredential, storedCredential } from './session/session.ts';
import { SignIn } from './session/sign-in.tsx';
import { PLACES } from './shell/places.ts';
import { Shell } from './shell/shell.tsx';

export function App() {
  const [credential, setCredential] = useState(storedCredential);
  const signedIn = (given: string | null) => {
    storeCredential(given);
    setCredential(given);
  };
  return (
    <Router base={`${BASE}/console`}>
      {credential === null ? (
        <SignIn reason={null} onSignedIn={signedIn} />
      ) : (
        <SignedIn credential={credential} onSignOut={() => signedIn(null)} />
      )}
    </Router>
  );
}

interface SignedInProps {
  credential: string;
  onSignOut: () => void;
}

function SignedIn({ credential, onSignOut }: SignedInProps) {
  const headers = useMemo(() => headersOf(credential), [credential]);
  const environment = useMemo(() => createEnvironment(headers), [headers]);
  useEffect(() => renewDemo(credential, headers), [credential, headers]);
  return (
    <RelayEnvironmentProvider environment={environment}>
      <Switch>
        <Route path="/">
          <Loaded place="projects">
            <ProjectsPage onSignOut={onSignOut} />
          </Loaded>
        </Route>
        <Route path="/:project/*?">
          {({ project, '*': below = '' }) => (
            <Shell project={decodeURIComponent(project)} onSignOut={onSignOut}>
              <ProjectPage project={decodeURIComponent(project)} below={below ?? ''} />
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

function ProjectPage({ project, below }: { project: string; below: string }) {
  const [path = '', id] = below.split('/').map(decodeURIComponent);
  const place = PLACES.find((one) => one.path === path);
  const Shown = id ? place?.One : place?.List;
  if (!Shown) return <Missing what="page" />;
  return (
    <Loaded place={`${project}/${below}`}>
      <Shown project={project} id={id} />
    </Loaded>
  );
}
