/**
 * The console at /console: built files, and one page for every other address below it, which its own script reads.
 * It is for people and needs no credentials: what it shows comes over the API, with those of its reader.
 */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Log } from '../../log.ts';
import type { Handler, RequestFacts } from '../http/request-facts.ts';
import { page } from '../plain-page.ts';
import { BUILT, buildIfOld } from './build-console.ts';
import { type BuiltFile, ENCODINGS, listBuiltFiles } from './built-files.ts';
import { type DemoSignIn, isFromThisMachine } from './demo-sign-in.ts';

/** Scripts, styles and requests of the gateway's own alone. React Aria adds one style element, which is named here. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o='",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PATH = '/console';
const PAGE = 'index.html';
const DEMO = `${PATH}/demo.json`;

export interface ConsoleParts {
  log: Log;
  /** Null if there is no demo, or not yet. */
  demo: () => DemoSignIn | null;
}

export function createConsole({ log, demo }: ConsoleParts): Handler {
  let files: Promise<Map<string, BuiltFile>> | undefined;
  const open = async () => {
    await buildIfOld(log);
    return listBuiltFiles(BUILT).catch(() => new Map<string, BuiltFile>());
  };
  return (req, res, facts) => {
    const { path } = facts;
    if (path === DEMO) return sendDemo(req, res, { facts, demo: demo() });
    files ??= open();
    answer(req, res, { path, files }).catch((error: unknown) => {
      if (!res.headersSent) log.error({ err: error, path }, 'console.failed');
      res.destroy();
    });
  };
}

function sendDemo(
  req: IncomingMessage,
  res: ServerResponse,
  { facts, demo }: { facts: RequestFacts; demo: DemoSignIn | null },
) {
  if (!demo || !isFromThisMachine(req, facts.address)) return void res.writeHead(204).end();
  const { apiKey, bearerToken } = demo;
  res.writeHead(200, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ apiKey, bearerToken }));
}

interface ConsoleRequest {
  path: string;
  files: Promise<Map<string, BuiltFile>>;
}

async function answer(req: IncomingMessage, res: ServerResponse, request: ConsoleRequest) {
  const files = await request.files;
  const below = request.path.slice(PATH.length + 1);
  const file = files.get(below);
  const index = files.get(PAGE);
  if (file && file !== index) return sendFile(req, res, file);
  if (below.startsWith('assets/')) return void res.writeHead(404).end();
  if (!index) return sendMissing(res);
  return sendPage(req, res, { page: index, below: request.path });
}

async function sendFile(req: IncomingMessage, res: ServerResponse, built: BuiltFile) {
  const { file, type, isHashed, etag, encodings } = built;
  const caching = isHashed ? 'public, max-age=31536000, immutable' : 'no-cache';
  res
    .setHeader('cache-control', caching)
    .setHeader('vary', 'Accept-Encoding')
    .setHeader('etag', etag);
  if (req.headers['if-none-match'] === etag) return void res.writeHead(304).end();
  const accepted = String(req.headers['accept-encoding'] ?? '');
  const chosen = ENCODINGS.find(([name]) => encodings.has(name) && accepted.includes(name));
  if (chosen) res.setHeader('content-encoding', chosen[0]);
  res.writeHead(200, { 'content-type': type });
  if (req.method === 'HEAD') return void res.end();
  await pipeline(createReadStream(file + (chosen?.[1] ?? '')), res);
}

/** What the page loads lies beside /console, however deep its own address is. */
async function sendPage(
  req: IncomingMessage,
  res: ServerResponse,
  { page: { file, etag }, below }: { page: BuiltFile; below: string },
) {
  const depth = below.split('/').length - 2;
  const up = depth === 0 ? 'console/' : `./${'../'.repeat(depth - 1)}`;
  const tag = `${etag.slice(0, -1)}-${depth}"`;
  res.setHeader('cache-control', 'no-cache').setHeader('etag', tag);
  res.setHeader('content-security-policy', POLICY).setHeader('referrer-policy', 'no-referrer');
  if (req.headers['if-none-match'] === tag) return void res.writeHead(304).end();
  const text = (await readFile(file, 'utf8')).replaceAll('="./', `="${up}`);
  res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  res.end(req.method === 'HEAD' ? undefined : text);
}

async function sendMissing(res: ServerResponse) {
  const answered = page(503, 'The console is not built', [
    'A production install has no packages to build it with. Build it where all packages are installed, by `npm run console`, and bring the folder console/dist along.',
  ]);
  res.writeHead(answered.status, Object.fromEntries(answered.headers)).end(await answered.text());
}
