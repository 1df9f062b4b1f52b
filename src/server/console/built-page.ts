/** Sends the built pages: the console, the connect page and GraphiQL. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply } from 'fastify';
import { VERSION } from '../../kernel/version.ts';
import { hasDocs } from '../docs/docs.ts';
import { sendPage, toParagraphs } from '../html-page.ts';
import { CONSOLE_DIST, CONSOLE_MISSING_ADVICE } from './console-build.ts';

interface BuiltPage {
  /** The page's file in the folder of the build. */
  name: string;
  /** The relative path from the page to the folder of its files. */
  basePath: string;
  /** The directives of the content security policy. */
  policy: readonly string[];
  /** The OAuth redirect URL that builders register at providers. */
  redirectUrl?: string;
  /** Data for the script of the page. It replaces the content of the element with the id `options`. */
  options?: object;
}

/** Sends the page, or 304 if the browser has it. Sends 503 if it is not built. */
export async function sendBuiltPage(
  reply: FastifyReply,
  { name, basePath, policy, redirectUrl, options }: BuiltPage,
): Promise<FastifyReply> {
  const template = await readFile(join(CONSOLE_DIST, name), 'utf8').catch(() => null);
  if (template === null) return sendPage(reply, 503, NOT_BUILT_PAGE);
  const attributes = [
    `data-version="${VERSION}"`,
    ...(hasDocs() ? ['data-docs'] : []),
    ...(redirectUrl ? [`data-redirect-url="${redirectUrl}"`] : []),
  ];
  const text = template
    .replaceAll('="./', `="${basePath}`)
    .replace('<html', `<html ${attributes.join(' ')}`)
    .replace(OPTIONS_ELEMENT, () => createOptionsElement(options ?? {}));
  const etag = `"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
  reply.headers({
    etag,
    'cache-control': 'no-cache',
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'referrer-policy': 'no-referrer',
  });
  if (reply.request.headers['if-none-match'] === etag) return reply.code(304).send();
  return reply.send(text);
}

const OPTIONS_ELEMENT = createOptionsElement({});

/** Escapes `<`, so that no text ends the element. */
function createOptionsElement(options: object): string {
  const json = JSON.stringify(options).replaceAll('<', '\\u003c');
  return `<script type="application/json" id="options">${json}</script>`;
}

const NOT_BUILT_PAGE = {
  title: 'The console is not built',
  content: toParagraphs([CONSOLE_MISSING_ADVICE]),
};
