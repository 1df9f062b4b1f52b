/** GraphiQL: its page works with no internet, and has ready tabs where the demo runs. */
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
