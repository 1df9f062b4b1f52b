/** Sends built files: hashed ones for good, pages to be asked for again. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type BuiltFile, ENCODINGS } from './built-files.ts';

/** Scripts, styles and requests of the gateway's own alone. React Aria adds one style element, which is named here. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o='",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
];

export async function sendFile(req: IncomingMessage, res: ServerResponse, built: BuiltFile) {
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

interface Sent {
  page: BuiltFile;
  /** From the page's address to what it loads. */
  up: string;
  /** Origins whose pages may frame it. */
  framedBy: readonly string[];
}

export async function sendPage(
  req: IncomingMessage,
  res: ServerResponse,
  { page: { file, etag }, up, framedBy }: Sent,
) {
  const ancestors = framedBy.length > 0 ? framedBy.join(' ') : "'none'";
  const policy = [...POLICY, `frame-ancestors ${ancestors}`].join('; ');
  const tag = `${etag.slice(0, -1)}-${up.length}"`;
  res.setHeader('cache-control', 'no-cache').setHeader('etag', tag);
  res.setHeader('content-security-policy', policy).setHeader('referrer-policy', 'no-referrer');
  if (req.headers['if-none-match'] === tag) return void res.writeHead(304).end();
  const text = (await readFile(file, 'utf8')).replaceAll('="./', `="${up}`);
  res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  res.end(req.method === 'HEAD' ? undefined : text);
}
