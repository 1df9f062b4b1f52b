/** Registers health checks and simple pages: the start page, problem pages, and the pages of an OAuth flow. */
import { isAbsolute } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../domain/access/call.ts';
import { PROBLEMS_PATH } from '../kernel/errors.ts';
import { type Html, html } from '../kernel/html.ts';
import { VERSION } from '../kernel/version.ts';
import { hasDocs } from './docs/docs.ts';
import { sendPage } from './html-page.ts';
import { getGatewayUrl } from './http/gateway-url.ts';
import { registerOAuthPages } from './oauth-pages.ts';
import { sendProblemPage } from './problem-page.ts';

export interface PageParts {
  services: Services;
  /** The path of the file with the demo's key. Null if there is no demo, or if it is not filled yet. */
  demoFile: () => string | null;
  /** False until the server has started, and while it stops. */
  isReady: () => boolean;
}

/** Registers the health checks. They use no slot, because they must respond under full load. */
export function registerHealth(app: FastifyInstance, { services, isReady }: PageParts): void {
  app.get('/livez', async () => ({ status: 'live', version: VERSION }));
  app.get('/readyz', async (_request, reply) => {
    const isDatabaseReached = await services.database.ping().then(
      () => true,
      () => false,
    );
    const canServe = isDatabaseReached && isReady();
    return reply.code(canServe ? 200 : 503).send({
      status: canServe ? 'ready' : 'not ready',
      database: isDatabaseReached ? 'reached' : 'not reached',
    });
  });
}

export function registerPages(app: FastifyInstance, parts: PageParts): void {
  const { services } = parts;
  app.get('/', (request, reply) => sendRoot(reply, createStartLinks(parts, request)));
  app.get('/start', (request, reply) => sendStartPage(reply, createStartLinks(parts, request)));
  for (const path of [PROBLEMS_PATH, `${PROBLEMS_PATH}/*`]) {
    app.get(path, ({ metadata }, reply) => sendProblemPage(reply, metadata.path));
  }
  app.register(async (scope) => registerOAuthPages(scope, services));
}

function createStartLinks({ services, demoFile }: PageParts, request: FastifyRequest): StartLinks {
  return {
    url: getGatewayUrl(services, request),
    sandboxUrl: services.sandboxUrl(),
    demoFile: demoFile(),
    hasDocs: hasDocs(),
  };
}

interface StartLinks {
  /** The gateway's URL. */
  url: string;
  /** Empty if the sandbox is off. */
  sandboxUrl: string;
  /** The path of the file with the demo's key. Null if there is no demo. */
  demoFile: string | null;
  /** True if the documentation site is built. */
  hasDocs: boolean;
}

function sendStartPage(reply: FastifyReply, startLinks: StartLinks): FastifyReply {
  const content = renderContent(startLinks);
  return sendPage(reply, 200, { title: 'Integration gateway', content });
}

/**
 * Redirects browsers to the console, and sends JSON to programs. The redirect is relative, so that it also works behind
 * a proxy.
 */
function sendRoot(reply: FastifyReply, { url, sandboxUrl, hasDocs }: StartLinks): FastifyReply {
  reply.header('vary', 'Accept');
  const isForPerson = reply.request.headers.accept?.includes('text/html');
  if (isForPerson) return reply.redirect('console');
  // Fastify's own serializer would add a charset, which the media type does not define.
  return reply
    .type('application/json')
    .serializer(JSON.stringify)
    .send({
      console: `${url}/console`,
      graphql: `${url}/graphql`,
      rest: `${url}/v1`,
      openapi: `${url}/v1/openapi.json`,
      reference: `${url}/v1/docs`,
      ...(hasDocs && { documentation: `${url}/docs/` }),
      ...(sandboxUrl && { sandbox: sandboxUrl }),
      health: `${url}/readyz`,
    });
}

/** Uses relative links to the gateway, which also work at URLs that the gateway does not know. */
function renderContent(startLinks: StartLinks): Html {
  const { url, sandboxUrl, demoFile, hasDocs } = startLinks;
  return html`<p>The gateway runs at <code>${url}</code>.</p>
<dl>
<div><dt><a href="console">Console</a></dt>
<dd>Connections, operations, events and failures, at <code>${url}/console</code>.</dd></div>
<div><dt><a href="graphql">GraphiQL</a></dt>
<dd>Explore and run the GraphQL API, at <code>${url}/graphql</code>.</dd></div>
<div><dt><a href="v1/docs">REST reference</a></dt>
<dd>Describes the REST API, also as an <a href="v1/openapi.json">OpenAPI document</a> for programs.</dd></div>
${hasDocs ? renderDocsRow() : html``}${sandboxUrl ? renderSandboxRow(sandboxUrl) : html``}${demoFile === null ? html`` : renderKeyRow(demoFile)}</dl>
${demoFile === null ? renderFirstCommand(url) : renderDemoCommands(url, demoFile)}`;
}

function renderDocsRow(): Html {
  return html`<div><dt><a href="docs/">Documentation</a></dt>
<dd>Guides and references, with search.</dd></div>\n`;
}

function renderSandboxRow(sandboxUrl: string): Html {
  return html`<div><dt><a href="${sandboxUrl}">Sandbox CRM</a></dt>
<dd>The built-in provider for trials, at <code>${sandboxUrl}</code>.</dd></div>\n`;
}

function renderKeyRow(demoFile: string): Html {
  return html`<div><dt>The demo's key</dt>
<dd><code>apiKey</code> in <code>${demoFile}</code>, which also has ids and a builder's token.
In a browser on the gateway's machine, GraphiQL already has it.</dd></div>\n`;
}

/** Renders the first commands of the README. A test compares both. */
function renderDemoCommands(url: string, demoFile: string): Html {
  const readMember = (member: string) =>
    `node -p ${quoteForShell(`require(${toRequirePath(demoFile)}).${member}`)}`;
  return html`<h2>First commands</h2>
<p>Run them in the folder of the project. A click selects a block. List the demo's operations:</p>
<pre tabindex="0">key=$(${readMember('apiKey')})
curl -s ${url}/graphql -H "x-api-key: $key" -H 'content-type: application/json' \\
  -d '{"query":"{ project { operations(first: 3) { totalCount nodes { id status result } } } }"}'</pre>
<p>Write a record to the sandbox, then list its records:</p>
<pre tabindex="0">curl -s ${url}/graphql -H "x-api-key: $key" -H 'content-type: application/json' -d '{"query":
  "mutation { writeRecords(input: { integrationIdOrName: \\"crm-sync\\", objectName: \\"deals\\", groupRef: \\"acme\\", type: CREATE, records: { record: { name: \\"A deal\\" } } }) { operation { id status result } result { recordId } } }"}'
curl -s "$(${readMember('sandboxUrl')})/objects/deals/records"</pre>
<p>List the integrations over REST:</p>
<pre tabindex="0">curl -s "${url}/v1/projects/demo/integrations" -H "x-api-key: $key"</pre>
<p>docs/quickstart.md continues with a project of your own.</p>`;
}

function renderFirstCommand(url: string): Html {
  return html`<h2>First command</h2>
<p>With an API key of a project in <code>$key</code>:</p>
<pre tabindex="0">curl -s ${url}/graphql -H "x-api-key: $key" -H 'content-type: application/json' \\
  -d '{"query":"{ viewer { kind scopes } }"}'</pre>
<p>docs/quickstart.md shows how to create a project and its keys.</p>`;
}

/** Returns a path that `require` does not mistake for a package name. */
function toRequirePath(file: string): string {
  return JSON.stringify(isAbsolute(file) ? file : `./${file}`);
}

/** Quotes a string as a single word of a shell. */
function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
