/** Finds the session and the page that the URL names. */
import { useEffect, useMemo, useState } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { Redirect, Route, Router, Switch } from 'wouter';
import { BASE } from './network/connection-state.ts';
import { createEnvironment } from './network/environment.ts';
import { AncestorsContext } from './parts/breadcrumbs.tsx';
import { Loaded, Missing } from './parts/page.tsx';
import { ProjectsPage } from './session/projects-page.tsx';
import { headersOf, renewDemo, storeCredential, storedCredential } from './session/session.ts';
import { SignIn } from './session/sign-in.tsx';
import { PLACES } from './shell/places.ts';
import { Shell } from './shell/shell.tsx';

export function App() {
  const [credential, setCredential] = useState(storedCredential);
  const signedIn = (apiKey: string | null) => {
    storeCredential(apiKey);
    setCredential(apiKey);
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
          <Loaded path="projects">
            <ProjectsPage onSignOut={onSignOut} />
          </Loaded>
        </Route>
        <Route path="/:project/*?">
          {({ project, '*': subpath = '' }) => (
            <Shell project={decodeURIComponent(project)} onSignOut={onSignOut}>
              <ProjectPage project={decodeURIComponent(project)} below={subpath ?? ''} />
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

function ProjectPage({ project, below: subpath }: { project: string; below: string }) {
  const [path = '', id] = subpath.split('/').map(decodeURIComponent);
  const page = PLACES.find((candidate) => candidate.path === path);
  const PageComponent = id ? page?.DetailPage : page?.List;
  const ancestors = useMemo(() => {
    const root = `/${encodeURIComponent(project)}`;
    if (!page?.path) return [];
    return [
      { name: project, path: root },
      ...(id ? [{ name: page.name, path: `${root}/${page.path}` }] : []),
    ];
  }, [project, page, id]);
  if (!PageComponent) return <Missing noun="page" />;
  return (
    <AncestorsContext value={ancestors}>
      <Loaded path={`${project}/${subpath}`}>
        <PageComponent project={project} id={id} />
      </Loaded>
    </AncestorsContext>
  );
}
