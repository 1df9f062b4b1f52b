/** Sends GraphiQL, which works without internet access. If the demo is on, the page opens with tabs. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../../domain/access/call.ts';
import { sendBuiltPage } from '../console/built-page.ts';
import { isFromThisMachine } from '../console/demo-sign-in.ts';

export interface GraphiqlTab {
  query: string;
  headers: Record<string, string>;
}

/** The demo's content of the page. */
export interface GraphiqlContent {
  tabs: GraphiqlTab[];
  /** Queries by the name of the variable whose value they select. The page runs them if a person sets no value. */
  variableQueries: Record<string, string>;
}

/** Returns the content for /graphql or for a project's typed API. Called at each request for the page. */
export type FindGraphiqlContent = (projectIdOrName: string | undefined) => GraphiqlContent;

interface GraphiqlParts {
  services: Services;
  findGraphiqlContent: FindGraphiqlContent;
  buildConsole: () => Promise<void>;
}

/** True if a browser opens the path as a page. */
export function isPageRequest({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && (headers.accept?.includes('text/html') ?? false);
}

export async function sendGraphiqlPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { services, findGraphiqlContent, buildConsole }: GraphiqlParts,
): Promise<FastifyReply> {
  await buildConsole();
  const { projectIdOrName, path } = request.metadata;
  const { tabs, variableQueries } = findGraphiqlContent(projectIdOrName);
  const shownTabs = isOpenedLocally(request, services) ? tabs : removeHeaders(tabs);
  return sendBuiltPage(reply, {
    name: 'graphiql.html',
    basePath: `${'../'.repeat(path.split('/').length - 2)}console/`,
    policy: CONTENT_SECURITY_POLICY,
    options: createOptions({ tabs: shownTabs, variableQueries }, projectIdOrName),
  });
}

/** Permits only the gateway's own scripts and requests. Menus and dialogs of GraphiQL add style elements. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'font-src data:',
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

function createOptions(
  { tabs, variableQueries }: GraphiqlContent,
  projectIdOrName: string | undefined,
): object {
  const isTyped = projectIdOrName !== undefined;
  const title = isTyped ? 'Typed API' : 'Integration gateway';
  const [first] = tabs;
  if (!first)
    return { title, isTyped, defaultQuery: isTyped ? DEFAULT_TYPED_QUERY : DEFAULT_QUERY };
  return {
    title,
    isTyped,
    variableQueries,
    defaultHeaders: formatJson(first.headers),
    defaultTabs: tabs.map(({ query, headers }) => ({ query, headers: formatJson(headers) })),
  };
}

/**
 * True if a person on this machine opened the page. The browser then sends no Origin header. It sends one if a script
 * of another page fetches the page.
 */
function isOpenedLocally(
  { headers, metadata: { httpVersion, address } }: FastifyRequest,
  { config }: Services,
): boolean {
  const localRequest = { headers, httpVersion, address, publicUrl: config.PUBLIC_URL };
  return headers.origin === undefined && isFromThisMachine(localRequest);
}

function removeHeaders(tabs: GraphiqlTab[]): GraphiqlTab[] {
  return tabs.map((tab) => ({ ...tab, headers: {} }));
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
