/** GraphiQL. Its page works without internet, and has ready tabs if the demo is on. */
import type { GraphiQLOptions } from 'graphql-yoga';

export interface GraphiqlTab {
  query: string;
  headers: Record<string, string>;
}

export function graphiqlOptions(tabs: GraphiqlTab[]): GraphiQLOptions {
  const title = 'Integration gateway';
  const [first] = tabs;
  if (!first) return { title, defaultQuery: DEFAULT_QUERY };
  return {
    title,
    defaultHeaders: json(first.headers),
    defaultTabs: tabs.map(({ query, headers }) => ({ query, headers: json(headers) })),
  };
}

/**
 * GraphiQL moves its tabs while it loads, and hides that for as long as they have no focus: the first click on
 * a tab focuses it, the tab jumps from under the pointer, and the click is lost. So the tabs never move. Where the
 * demo's tabs and the name beside them don't have room together, the name goes: it is the window's title too.
 */
const TABS_STAY = `<style>
.graphiql-tab { transform: none !important }
@media (width < 1400px) { .graphiql-logo { display: none !important } }
</style>`;

/** A text of many megabytes, which is loaded when the page is first opened. */
export async function graphiqlPage(options?: GraphiQLOptions): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  return String(renderGraphiQL(options)).replace('</head>', `${TABS_STAY}</head>`);
}

const DEFAULT_QUERY = `# Put an API key into the Headers tab: { "x-api-key": "ik_..." }
{
  viewer {
    kind
    scopes
  }
}
`;

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
