/** The frame around each page: navigation, the project, and whether the gateway is reachable. */
import { type ReactNode, useState, useSyncExternalStore } from 'react';
import { graphql } from 'react-relay';
import { Link, useLocation } from 'wouter';
import type { shellQuery } from '../../__generated__/shellQuery.graphql.ts';
import { BASE, connectionState } from '../network/connection-state.ts';
import { Action } from '../parts/form.tsx';
import { Loaded } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { PLACES } from './places.ts';
import { ThemeSwitch } from './theme.tsx';

const QUERY = graphql`
  query shellQuery($project: String!) {
    project(idOrName: $project) {
      id
      name
      appName
    }
    viewer {
      kind
      builder {
        primaryEmail
      }
    }
  }
`;

/** The server writes these attributes into the page. */
const { dataset: page } = document.documentElement;

interface ShellProps {
  project: string;
  onSignOut: () => void;
  children: ReactNode;
}

export function Shell({ project, onSignOut, children }: ShellProps) {
  const [location] = useLocation();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to content
      </a>
      <LostBanner />
      <nav className={isOpen ? 'side open' : 'side'} aria-label="Console">
        <div className="brand">
          <img src={`${BASE}/console/icon.svg`} alt="" width="26" height="26" />
          <Loaded path={project} refusedPage={<span className="names strong">{project}</span>}>
            <ProjectName project={project} />
          </Loaded>
          <Action
            kind="quiet"
            aria-expanded={isOpen}
            aria-label="Menu"
            onPress={() => setOpen(!isOpen)}
          >
            ☰
          </Action>
        </div>
        <ul>
          {PLACES.filter(({ List }) => List).map(({ path, name }) => {
            const address = path ? `/${project}/${path}` : `/${project}`;
            const isHere = path
              ? location.startsWith(address)
              : location.replace(/\/$/, '') === address;
            return (
              <li key={name}>
                <Link
                  href={address}
                  {...(isHere && { 'aria-current': 'page' })}
                  onClick={() => setOpen(false)}
                >
                  {name}
                </Link>
              </li>
            );
          })}
        </ul>
        <div className="foot">
          <a href={`${BASE}/start`}>Getting started</a>
          <a href={`${BASE}/v1/docs`}>REST reference</a>
          {page.docs !== undefined && <a href={`${BASE}/docs/`}>Documentation</a>}
          <ThemeSwitch />
          <Action kind="quiet" onPress={onSignOut}>
            Sign out
          </Action>
          <span className="quiet">Version {page.version}</span>
        </div>
      </nav>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function ProjectName({ project: idOrName }: { project: string }) {
  const { project } = usePageQuery<shellQuery>(QUERY, { project: idOrName });
  return (
    <div className="names">
      <Link href="/" className="strong" title="Other projects">
        {project?.name ?? idOrName}
      </Link>
      <span className="quiet">{project?.appName}</span>
    </div>
  );
}

function LostBanner() {
  const isLost = useSyncExternalStore(connectionState.subscribe, () => connectionState.isLost);
  return (
    <output className="lost">
      {isLost && 'Connection to the gateway lost. Reconnecting… No events are missed.'}
    </output>
  );
}
