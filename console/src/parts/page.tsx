/** The layout of every page: a title, actions, the query for GraphiQL, and errors. */
import { Component, type ReactNode, Suspense, useContext, useEffect } from 'react';
import type { GraphQLTaggedNode } from 'relay-runtime';
import { getRequest } from 'relay-runtime';
import { Link } from 'wouter';
import { BASE } from '../network/connection-state.ts';
import { useDocument } from '../network/documents.ts';
import { getDocumentId } from '../network/fetch-graphql.ts';
import { type Problem, toProblem } from '../network/problem.ts';
import { AncestorsContext, Breadcrumbs } from './breadcrumbs.tsx';
import { Action } from './form.tsx';
import { usePartMessages } from './part-messages.ts';
import { refreshAll } from './refresh.ts';

interface PageProps {
  title: ReactNode;
  /** The title of the browser tab, if `title` is not a string. */
  name?: string;
  /** A text below the title. */
  description?: ReactNode;
  actions?: ReactNode;
  /** The query of the page, to open in GraphiQL. */
  query?: GraphQLTaggedNode;
  variables?: object;
  children: ReactNode;
}

export function Page({ title, name, description, actions, query, variables, children }: PageProps) {
  const tabTitle = name ?? (typeof title === 'string' ? title : 'Console');
  useEffect(() => {
    document.title = `${tabTitle} · Console`;
  }, [tabTitle]);
  return (
    <>
      <Breadcrumbs current={tabTitle} />
      <header className="page-head">
        <div>
          <h1>{title}</h1>
          {description && <div className="quiet">{description}</div>}
        </div>
        <div className="row">
          {actions}
          {query && <GraphiqlLink query={query} variables={variables ?? {}} />}
        </div>
      </header>
      {children}
    </>
  );
}

interface ListPageProps extends PageProps {
  filters: ReactNode;
}

/** A page with one list and its filters. */
export function ListPage({ filters, children, ...page }: ListPageProps) {
  return (
    <Page {...page}>
      <div className="filters">{filters}</div>
      <section className="card">{children}</section>
    </Page>
  );
}

/**
 * A link to GraphiQL with the page's query. GraphiQL uses the browser session. Keys and tokens are never put
 * into a URL, so users enter them in the Headers tab.
 */
function GraphiqlLink({ query, variables }: { query: GraphQLTaggedNode; variables: object }) {
  const text = useDocument(getDocumentId(getRequest(query).params));
  const params = new URLSearchParams({
    query: text ?? '',
    variables: JSON.stringify(variables, null, 2),
  });
  const address = text ? `${BASE}/graphql?${params}` : `${BASE}/graphql`;
  return (
    <a className="action quiet graphiql" href={address} target="_blank" rel="noreferrer">
      Open in GraphiQL
    </a>
  );
}

interface PanelProps {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Panel({ title, actions, children }: PanelProps) {
  return (
    <section className="card">
      {(title || actions) && (
        <div className="card-head">
          {title && <h2>{title}</h2>}
          <div className="row">{actions}</div>
        </div>
      )}
      {children}
    </section>
  );
}

interface LoadedProps {
  /** A new key remounts the content. */
  resetKey: string;
  /** Replaces the content if the gateway refused it. Default: the reason and a retry button. */
  errorFallback?: ReactNode;
  children: ReactNode;
}

/** A section with its own loading and error states, so that other sections stay visible. */
export function Loaded({ resetKey, errorFallback, children }: LoadedProps) {
  return (
    <ErrorBoundary key={resetKey} errorFallback={errorFallback}>
      <Suspense fallback={<Loading />}>{children}</Suspense>
    </ErrorBoundary>
  );
}

export function Loading() {
  const messages = usePartMessages();
  return (
    <output className="loading">
      <span className="quiet">{messages.loading}</span>
    </output>
  );
}

type ErrorBoundaryProps = Pick<LoadedProps, 'errorFallback' | 'children'>;

class ErrorBoundary extends Component<ErrorBoundaryProps, { problem: Problem | null }> {
  override state = { problem: null };

  static getDerivedStateFromError(error: unknown) {
    return { problem: toProblem(error) };
  }

  override render() {
    const { problem } = this.state;
    const retry = () => {
      this.setState({ problem: null });
      refreshAll();
    };
    const { errorFallback, children } = this.props;
    if (!problem) return children;
    return errorFallback ?? <ProblemCard problem={problem} onRetry={retry} />;
  }
}

const HEADINGS: Record<string, string> = {
  FORBIDDEN: 'Not allowed',
  GRAPHQL_VALIDATION_FAILED: 'This page is outdated',
  NOT_FOUND: 'Not found',
  UNAUTHENTICATED: 'Signed out',
};

function ProblemCard({ problem, onRetry }: { problem: Problem; onRetry: () => void }) {
  const messages = usePartMessages();
  return (
    <div className="card empty" role="alert">
      <h1>{HEADINGS[problem.code] ?? problem.document.title}</h1>
      <p>{problem.message}</p>
      {problem.code === 'FORBIDDEN' && (
        <p className="quiet">Sign in with a key that has this scope, or as a builder.</p>
      )}
      <Action onPress={onRetry}>{messages.retry}</Action>
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="strong">{title}</p>
      {children && <div className="quiet">{children}</div>}
    </div>
  );
}

/** Reports that no object has this ID or name, or that the user may not see it. */
export function NotFound({ noun }: { noun: string }) {
  const ancestors = useContext(AncestorsContext);
  const { name, path } = noun === 'project' ? PROJECTS : (ancestors.at(-1) ?? PROJECTS);
  const isProject = noun !== 'project' && ancestors.length === 1;
  return (
    <>
      <Breadcrumbs current="Not found" />
      <div className="card empty" role="alert">
        <h1>Not found</h1>
        <p>
          There is no {noun} at this URL{noun !== 'page' && ', or it was deleted'}.
        </p>
        <Link href={path}>Go to {isProject ? 'Overview' : name}</Link>
      </div>
    </>
  );
}

const PROJECTS = { name: 'your projects', path: '/?all' };
