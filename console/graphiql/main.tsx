/** GraphiQL with an explorer. The server writes the tabs into the page. */
import { explorerPlugin } from '@graphiql/plugin-explorer';
import { GraphiQL, type GraphiQLProps } from 'graphiql';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { createRoot } from 'react-dom/client';
import 'graphiql/style.css';
import '@graphiql/plugin-explorer/style.css';
import './graphiql.css';
import { createFetcher } from './fetch-operation.ts';

/** The tabs that GraphiQL keeps in the browser's storage. */
interface TabsState {
  tabs: { query: string | null; variables: string | null; headers: string | null }[];
  activeTabIndex: number;
}

/** The options of `createGraphiqlOptions` in src/server/graphql/graphiql.ts. */
interface Options extends Pick<GraphiQLProps, 'defaultQuery' | 'defaultHeaders' | 'defaultTabs'> {
  title: string;
  /** True for the typed API of a project, whose schema GraphiQL queries with the caller's key. */
  isTyped: boolean;
  /** Absent without the demo. */
  variableQueries?: Record<string, string>;
}

const {
  title,
  isTyped,
  variableQueries = {},
  ...options
}: Options = JSON.parse(getElement('options').textContent);
document.title = title;

/** Loads the schema from a file, which browsers keep. The response to an introspection query is 12 times as large. */
async function loadSchema(): Promise<GraphQLSchema> {
  const { default: text } = await import('../../schema.graphql?raw');
  return buildSchema(text, { assumeValid: true });
}

const pageUrl = new URL(location.href);
const activeTab = findActiveTab();
const query = pageUrl.searchParams.get('query') ?? activeTab?.query;
const variables =
  pageUrl.searchParams.get('variables') ??
  (query === activeTab?.query ? activeTab?.variables : undefined);
const fetcher = createFetcher(variableQueries);
const plugins = [explorerPlugin({ showAttribution: true })];

/**
 * Returns the tab that was open when the person left the page. GraphiQL stores its tabs, but adds a new one unless it gets
 * all texts of a stored tab. It does not store the headers outside of the tabs.
 */
function findActiveTab(): TabsState['tabs'][number] | undefined {
  const state: TabsState | null = JSON.parse(localStorage.getItem('graphiql:tabState') ?? 'null');
  return state?.tabs[state.activeTabIndex];
}

/** Keeps the query in the URL, so that a person can share the page. */
function showInUrl(text: string): void {
  pageUrl.searchParams.set('query', text);
  history.replaceState({}, '', pageUrl);
}

const schema = isTyped ? undefined : await loadSchema();

createRoot(getElement('root')).render(
  <GraphiQL
    {...options}
    {...(schema && { schema })}
    {...(query != null && { query })}
    {...(variables != null && { variables })}
    {...(activeTab?.headers != null && { headers: activeTab.headers })}
    fetcher={fetcher}
    plugins={plugins}
    shouldPersistHeaders
    schemaDescription
    inputValueDeprecation
    onEditQuery={showInUrl}
  />,
);

function getElement(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`Bug: page without the element ${id}`);
  return element;
}
