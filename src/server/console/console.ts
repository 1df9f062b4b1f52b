/**
 * Serves the console at /console and the connect page at /connect from built files. All paths below /console return one
 * page, whose script routes them. The pages are public. They get all data from the API, with the visitor's credentials.
 */
import { join } from 'node:path';
import staticFiles from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../../domain/access/call.ts';
import { listAllowedOrigins } from '../../domain/access/origins.ts';
import { isStorableString } from '../../domain/base/storable-json.ts';
import { CALLBACK_PATH } from '../../domain/connections/provider/provider-app.ts';
import { ServiceUnavailable } from '../../kernel/errors.ts';
import { createCustomerPages } from '../customer-pages.ts';
import { toParagraphs } from '../html-page.ts';
import { sendBuiltPage } from './built-page.ts';
import { CONSOLE_DIST } from './console-build.ts';
import { isFromThisMachine } from './demo-sign-in.ts';

/**
 * Permits only the gateway's own scripts, styles and requests. The hash permits the style element that React Aria adds.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o='",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
];
const OWN_IMAGES = "img-src 'self' data:";
/** The connect page shows the project's logo, which may have any https URL. */
const IMAGES_WITH_LOGO = `${OWN_IMAGES} https:`;
/** Files whose names are stable. Clients must revalidate them at each use. */
const STABLE_NAME = /^[\w-]+\.(js|json|svg)$/;

export interface ConsoleParts {
  services: Services;
  /** Builds the console at the first call, if it is stale. */
  buildConsole: () => Promise<void>;
  /** Null if there is no demo, or if it is not filled yet. */
  findDemo: () => { apiKey: string } | null;
  /** Creates a token of the demo's builder that is valid for an hour. Undefined if the issuer is not the local one. */
  mintDemoToken: () => Promise<string | undefined>;
}

export function registerConsole(scope: FastifyInstance, parts: ConsoleParts): void {
  const { services, buildConsole } = parts;
  scope.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof ServiceUnavailable)) throw error;
    reply.header('retry-after', String(error.retryAfterSeconds));
    const pages = createCustomerPages(reply, null);
    const { unavailableTitle: title, serviceUnavailable } = pages.messages;
    return pages.send(503, { title, content: toParagraphs([serviceUnavailable]) });
  });
  registerDemo(scope, parts);
  scope.register(async (built) => {
    built.addHook('preHandler', buildConsole);
    await built.register(staticFiles, {
      root: join(CONSOLE_DIST, 'assets'),
      prefix: '/console/assets/',
      preCompressed: true,
      // The names contain a hash of the content.
      maxAge: '1y',
      immutable: true,
      // The folder may not exist until the first request builds it.
      suppressWarning: true,
    });
    registerConsolePage(built, services);
    registerConnectPage(built, services);
  });
}

function registerDemo(
  scope: FastifyInstance,
  { services, findDemo, mintDemoToken }: ConsoleParts,
): void {
  scope.get('/console/demo.json', async ({ headers, metadata }, reply) => {
    const { httpVersion, address } = metadata;
    const publicUrl = services.config.PUBLIC_URL;
    const isLocal = isFromThisMachine({ headers, httpVersion, address, publicUrl });
    const signIn = isLocal ? findDemo() : null;
    if (!signIn) return reply.code(204).send();
    return { apiKey: signIn.apiKey, bearerToken: await mintDemoToken() };
  });
}

function registerConsolePage(scope: FastifyInstance, services: Services): void {
  const send = ({ metadata: { path } }: FastifyRequest, reply: FastifyReply) => {
    const subpath = path.slice('/console/'.length);
    if (STABLE_NAME.test(subpath)) return sendFile(reply, subpath);
    // The page can be at any depth below /console, so its relative file URLs depend on the depth.
    const depth = path.split('/').length - 2;
    const basePath = depth === 0 ? 'console/' : `./${'../'.repeat(depth - 1)}`;
    const redirectUrl = services.publicUrl() + CALLBACK_PATH;
    const policy = createPolicy(OWN_IMAGES, []);
    return sendBuiltPage(reply, { name: 'index.html', basePath, policy, redirectUrl });
  };
  scope.get('/console', send);
  scope.get('/console/*', send);
}

function registerConnectPage(scope: FastifyInstance, services: Services): void {
  scope.get('/connect.js', (_request, reply) => sendFile(reply, 'connect.js'));
  scope.get('/connect', async (request, reply) => {
    const project = new URLSearchParams(request.url.split('?')[1]).get('project');
    if (project !== null && !isStorableString(project)) {
      const pages = createCustomerPages(reply, null);
      const { linkIncomplete: title, openPageAgain } = pages.messages;
      return pages.send(400, { title, content: toParagraphs([openPageAgain]) });
    }
    // The server does not see the token. It must belong to this project, so pages of this project may frame the page.
    const frameAncestors = project === null ? [] : await listAllowedOrigins(services, project);
    const policy = createPolicy(IMAGES_WITH_LOGO, frameAncestors);
    return sendBuiltPage(reply, { name: 'connect.html', basePath: 'console/', policy });
  });
}

function sendFile(reply: FastifyReply, name: string): FastifyReply {
  return reply
    .header('cache-control', 'no-cache')
    .sendFile(name, CONSOLE_DIST, { cacheControl: false });
}

/** Returns the content security policy of a page, with its directive for images and the origins that may frame it. */
function createPolicy(images: string, frameAncestors: readonly string[]): string[] {
  const ancestors = frameAncestors.length > 0 ? frameAncestors.join(' ') : "'none'";
  return [...CONTENT_SECURITY_POLICY, images, `frame-ancestors ${ancestors}`];
}
