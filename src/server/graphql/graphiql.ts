/** Renders GraphiQL, which works without internet access. If the demo is on, the page opens with tabs. */
import type { GraphiQLOptions } from 'graphql-yoga';

export interface GraphiqlTab {
  query: string;
  headers: Record<string, string>;
}

/** Returns the options of GraphiQL for a project's typed API, or for `/graphql` without a project. */
export function createGraphiqlOptions(
  tabs: GraphiqlTab[],
  projectIdOrName: string | undefined,
): GraphiQLOptions {
  const isTyped = projectIdOrName !== undefined;
  const title = isTyped ? 'Typed API' : 'Integration gateway';
  const [first] = tabs;
  if (!first) return { title, defaultQuery: isTyped ? DEFAULT_TYPED_QUERY : DEFAULT_QUERY };
  return {
    title,
    defaultHeaders: formatJson(first.headers),
    defaultTabs: tabs.map(({ query, headers }) => ({ query, headers: formatJson(headers) })),
  };
}

/**
 * Keeps GraphiQL's tabs in position. By default, an unfocused tab moves away from the pointer when it is clicked, so
 * the first click is lost. Inactive tabs shrink until all tabs fit, and narrow windows hide the logo to leave space for
 * them.
 */
const TAB_STYLE = `<style>
.graphiql-tab { transform: none !important }
.graphiql-tabs { gap: 4px }
.graphiql-tab:not(.graphiql-tab-active) { flex-shrink: 1; min-width: 36px }
.graphiql-tab .graphiql-tab-button { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.graphiql-tab:not(.graphiql-tab-active) .graphiql-tab-button { padding-right: var(--px-8) }
@media (width < 1400px) { .graphiql-logo { display: none !important } }
</style>`;

/** Renders the page. The renderer has many megabytes of code, so it is loaded at the first request. */
export async function renderGraphiqlPage(options?: GraphiQLOptions): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  return String(renderGraphiQL(options)).replace('</head>', `${TAB_STYLE}</head>`);
}

const DEFAULT_QUERY = `# Put an API key into the Headers tab: { "x-api-key": "ik_..." }
{
  viewer {
    kind
    scopes
  }
}
`;

const DEFAULT_TYPED_QUERY = `# Put an API key into the Headers tab: { "x-api-key": "ik_..." }
# The schema then has the objects of the project's manifests.
{
  _contract
}
`;

function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
