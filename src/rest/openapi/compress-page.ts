import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

/** The OpenAPI document, and the files that make up almost all of the page's 2.7 MB. */
const LARGE_PATHS = [
  '/openapi.json',
  '/docs/json',
  '/docs/static/swagger-ui-bundle.js',
  '/docs/static/swagger-ui-standalone-preset.js',
  '/docs/static/swagger-ui.css',
];
/** Takes a tenth of the CPU time of the best compression, for a size that is a tenth larger. */
const QUALITY = 6;

const compress = promisify(brotliCompress);

/**
 * Compresses the OpenAPI document and the large files of the reference page, because Swagger UI serves them
 * uncompressed. Each file is compressed at its first request and then kept: less than 1 MB in all.
 */
export function compressPage(scope: FastifyInstance, basePath: string): void {
  const compressed = new Map<string, Promise<Buffer>>();
  const largePaths = new Set(LARGE_PATHS.map((path) => basePath + path));
  scope.addHook('onSend', async ({ method, url, headers }, reply, payload) => {
    const [path = ''] = url.split('?');
    if (method !== 'GET' || reply.statusCode !== 200 || !largePaths.has(path)) return payload;
    const vary = [reply.getHeader('vary'), 'accept-encoding'].filter(Boolean).join(', ');
    reply.header('vary', vary);
    if (!/\bbr\b/.test(String(headers['accept-encoding']))) return payload;
    let result = compressed.get(path);
    if (result) {
      if (payload instanceof Readable) payload.destroy();
    } else {
      result = compressPayload(payload);
      compressed.set(path, result);
      result.catch(() => compressed.delete(path));
    }
    reply.removeHeader('content-length').removeHeader('accept-ranges');
    reply.header('content-encoding', 'br');
    return result;
  });
}

async function compressPayload(payload: unknown): Promise<Buffer> {
  const content =
    payload instanceof Readable ? await buffer(payload) : Buffer.from(String(payload));
  const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY };
  return compress(content, { params });
}
