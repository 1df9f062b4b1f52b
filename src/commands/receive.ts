/**
 * Receives webhooks on this machine and prints them, one JSON object per line, with the result of the signature check:
 * `SIGNING_SECRET=whsec_... npm run receive -- [--port 4100]`. The option --secret works too, but process lists show it.
 * The gateway can reach the command if ALLOWED_PRIVATE_TARGETS contains 127.0.0.1/32.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { isSigned } from '../deliveries/sign.ts';
import { SECRET_PREFIX } from '../deliveries/signing-secret.ts';
import { CommandError, parseOptions, printError } from './run-command.ts';
import { answerHelp } from './usage.ts';

const USAGE =
  'Usage: SIGNING_SECRET=whsec_... npm run receive -- [--port 4100], or with --secret whsec_...';
/** Far more than a message needs. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;

function readOptions(args: string[]): { secret: string; port: number } {
  const text = { type: 'string' } as const;
  const { secret = process.env.SIGNING_SECRET, port = '4100' } = parseOptions(
    USAGE,
    () => parseArgs({ args, options: { secret: text, port: text } }).values,
  );
  if (!secret?.startsWith(SECRET_PREFIX)) {
    throw new CommandError(
      `SIGNING_SECRET or --secret: must start with ${SECRET_PREFIX}\n${USAGE}`,
    );
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new CommandError(`--port: must be a number from 0 to 65535\n${USAGE}`);
  }
  return { secret, port: Number(port) };
}

/** Returns the body. Null if it is too large. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Prints the message and returns the status of the response. */
async function receive(request: IncomingMessage, secret: string): Promise<number> {
  const body = await readBody(request);
  if (body === null) return 413;
  const verified = isSigned(body, request.headers, { secret, nowSeconds: Date.now() / 1000 });
  const id = request.headers['webhook-id'] ?? null;
  console.log(JSON.stringify({ id, verified, message: parseJson(body) }));
  return verified ? 204 : 401;
}

answerHelp(USAGE);
try {
  const { secret, port } = readOptions(process.argv.slice(2));
  const server = createServer((request, response) => {
    receive(request, secret).then(
      (status) => response.writeHead(status).end(),
      () => response.destroy(),
    );
  });
  server.on('error', (error) => {
    console.error(error.message);
    process.exit(1);
  });
  server.listen(port, '127.0.0.1', () => {
    const { port: boundPort } = server.address() as AddressInfo;
    console.error(`Listening on http://127.0.0.1:${boundPort}`);
  });
} catch (error) {
  printError(error);
  process.exit(1);
}
