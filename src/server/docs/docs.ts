/**
 * Serves the documentation site at /docs. Until `npm run docs` has built its files, every page returns 404.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import files from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { sendPage, toParagraphs } from '../html-page.ts';

const DOCS_DIST = join(import.meta.dirname, '..', '..', '..', 'docs', 'dist');

/**
 * Permits only the gateway's own resources and style attributes: code blocks use them for syntax colors. The hash
 * permits the style element that suppresses transitions while the theme switches between light and dark.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'sha256-skqujXORqzxt1aE0NNXxujEanPTX6raoqSscTV/Ww/Y='",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** True if the site is built. It may be built after the start. */
export function hasDocs(): boolean {
  return existsSync(join(DOCS_DIST, 'index.html'));
}

/** Registers the site in a context with the prefix /docs. */
export async function registerDocs(scope: FastifyInstance, folder = DOCS_DIST): Promise<void> {
  // The folder may not exist when the process starts.
  await scope.register(files, {
    root: folder,
    serve: false,
    preCompressed: true,
    suppressWarning: true,
  });
  scope.addHook('onRequest', (_request, reply, done) => {
    reply.headers({
      'content-security-policy': CONTENT_SECURITY_POLICY,
      'referrer-policy': 'no-referrer',
    });
    done();
  });
  scope.get<{ Params: { '*'?: string } }>('/*', async ({ params }, reply) => {
    const path = params['*'] ?? '';
    // The names of assets contain a hash of the content.
    if (path.startsWith('assets/')) return reply.sendFile(path, { maxAge: '1y', immutable: true });
    reply.header('cache-control', 'no-cache');
    return reply.sendFile(toFilePath(path), { cacheControl: false });
  });
  // The redirect is relative, so that it also works behind a proxy that adds a path prefix.
  scope.get('', (_request, reply) => reply.redirect('docs/'));
  scope.setNotFoundHandler(async (_request, reply) => {
    const text = await readFile(join(folder, '404.html'), 'utf8').catch(() => null);
    if (text === null) return sendPage(reply, 404, NOT_BUILT_PAGE);
    reply.header('cache-control', 'no-cache').type('text/html; charset=utf-8');
    return reply.code(404).send(text);
  });
}

/** URLs of pages have no extension. */
function toFilePath(path: string): string {
  if (path === '' || path.endsWith('/')) return `${path}index.html`;
  return /\.\w+$/.test(path) || path.startsWith('files/') ? path : `${path}.html`;
}

const NOT_BUILT_PAGE = {
  title: 'The documentation is not built',
  content: toParagraphs([
    'Run `npm run docs` in the folder of the gateway, then reload this page. The same pages are Markdown files in the folder docs.',
  ]),
};
