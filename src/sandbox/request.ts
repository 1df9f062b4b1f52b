/** Requests and responses of the sandbox's routes. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { parseBounded } from '../work/bounded-parse.ts';
import { findJsonExcess } from '../work/json-size.ts';
import { SandboxRefusal } from './sandbox-refusal.ts';

/** The maximum size of a request body. A batch of 100 long records has about a tenth of it. */
const BODY_BYTES_MAX = 1024 * 1024;

export interface SandboxRequest {
  method: string;
  path: string;
  /** The values of the route's `:name` segments. */
  params: Record<string, string>;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
  /** The name of the caller. Empty on routes that need no credentials. */
  caller: string;
}

export interface SandboxResponse {
  status: number;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  html?: string;
}

/** Reads the body to its end, even if it is too long, so that the client receives the 413. */
export async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  if (bytes > BODY_BYTES_MAX) {
    const message = `A body has at most ${BODY_BYTES_MAX} bytes`;
    throw new SandboxRefusal(413, { code: 'body_too_large', message });
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Throws SandboxRefusal for a body that is not JSON, or has too many values. */
export function parseJsonBody({ body }: Pick<SandboxRequest, 'body'>): unknown {
  const excess = findJsonExcess(body);
  if (excess)
    throw new SandboxRefusal(413, { code: 'body_too_large', message: `The body ${excess}` });
  try {
    return JSON.parse(body);
  } catch {
    throw new SandboxRefusal(400, { code: 'malformed_json', message: 'The body is not JSON' });
  }
}

/** Returns the parsed value. Throws SandboxRefusal, which names every invalid member. */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = parseBounded(schema, value);
  if (result.success) return result.data;
  const [first, ...moreProblems] = result.error.issues.map((issue) => ({
    code: 'invalid_request',
    message: issue.message,
    field: issue.path.join('.'),
  }));
  throw new SandboxRefusal(400, [first!, ...moreProblems]);
}
