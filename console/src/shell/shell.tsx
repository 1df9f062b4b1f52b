/** The layout around each page: navigation, search, the project, and whether the gateway is reachable. */
import { lazy, type ReactNode, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { Button } from 'react-aria-components';
import { Link, useLocation } from 'wouter';
import { BASE, connectionState } from '../network/connection-state.ts';
import { Action } from '../parts/form.tsx';
import { SECTIONS } from './pages.ts';
import { ProjectSwitcher } from './project-switcher.tsx';
import { ThemeSwitch } from './theme.tsx';

const SearchDialog = lazy(() => import('./search-dialog.tsx'));

/** The server writes these attributes into the HTML page. */
const { dataset: page } = document.documentElement;
const SEARCH_KEYS = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K';

interface ShellProps {
  project: string;
  onSignOut: () => void;
  children: ReactNode;
}

export function Shell({ project, onSignOut, children }: ShellProps) {
  const [isOpen, setOpen] = useState(false);
  const [isSearching, setSearching] = useSearchShortcut();
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to content
      </a>
      <LostBanner />
      <nav className={isOpen ? 'side open' : 'side'} aria-label="Console">
        <div className="brand">
          <img src={`${BASE}/console/icon.svg`} alt="" width="26" height="26" />
          <ProjectSwitcher project={project} />
          <Action
            kind="quiet"
            aria-expanded={isOpen}
            aria-label="Menu"
            onPress={() => setOpen(!isOpen)}
          >
            ☰
          </Action>
        </div>
        <Button className="search" onPress={() => setSearching(true)}>
          Search
          <kbd>{SEARCH_KEYS}</kbd>
        </Button>
        <Menu project={project} onOpened={() => setOpen(false)} />
        <div className="foot">
          {page.docs !== undefined && <a href={`${BASE}/docs/`}>Documentation</a>}
          <a href={`${BASE}/start`}>First commands</a>
          <a href={`${BASE}/v1/docs`}>REST reference</a>
          <a href={`${BASE}/graphql`}>GraphiQL</a>
          <ThemeSwitch />
          <Action kind="quiet" onPress={onSignOut}>
            Sign out
          </Action>
          <span className="version quiet">Version {page.version}</span>
        </div>
      </nav>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      {isSearching && (
        <Suspense>
          <SearchDialog project={project} onClose={() => setSearching(false)} />
        </Suspense>
      )}
    </div>
  );
}

function Menu({ project, onOpened }: { project: string; onOpened: () => void }) {
  const [location] = useLocation();
  const root = `/${encodeURIComponent(project)}`;
  const isHere = (path: string) =>
    path ? location.startsWith(`${root}/${path}`) : location.replace(/\/$/, '') === root;
  return (
    <div className="menu">
      {SECTIONS.map(({ name: section, pages }) => (
        <div key={section}>
          {section && <p className="menu-heading">{section}</p>}
          <ul {...(section && { 'aria-label': section })}>
            {pages.map(({ path, name }) => (
              <li key={path}>
                <Link
                  href={path ? `${root}/${path}` : root}
                  {...(isHere(path) && { 'aria-current': 'page' })}
                  onClick={onOpened}
                >
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}

/** Returns whether the search is open. ⌘K and Ctrl+K open and close it. */
function useSearchShortcut(): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setOpen((isOpen) => !isOpen);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return [isOpen, setOpen];
}

function LostBanner() {
  const isLost = useSyncExternalStore(connectionState.subscribe, () => connectionState.isLost);
  return (
    <output className="lost">
      {isLost && 'Connection to the gateway lost. Reconnecting… No events are missed.'}
    </output>
  );
}
