/**
 * The upper bound for any peer: node:http with one prepared statement per request and JSON.stringify. This peer does not
 * parse GraphQL: the operation's name selects the statement, and the response has GraphQL's format. With duties, it
 * authenticates callers and logs requests.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import pg from 'pg';
import { pino } from 'pino';
import type { Document, Variables } from '../workloads.ts';
import { createAuthenticate, hasDuties, openLogStream } from './duties.ts';
import { readEnvironment } from './environment.ts';
import { createKey } from './new-key.ts';
import { createPage, decodeCursor } from './page.ts';
import { CONNECTIONS_JOINED, CREATE_KEY, FIND_OPERATION, PAGE, toConnectionNode } from './sql.ts';

const { port, databaseUrl, poolSize, projectId } = readEnvironment();
const pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize });

type Row = Record<string, unknown>;

const query = async (name: string, text: string, values: unknown[]): Promise<Row[]> =>
  (await pool.query({ name, text, values })).rows;

const RESOLVERS: Record<Document, (variables: Variables) => unknown> = {
  Ping: () => ({ __typename: 'Query' }),
  async Operations({ project, first, after }) {
    const belowId = after ? decodeCursor(String(after)) : null;
    const size = Number(first);
    const rows = await query('page', PAGE, [project, belowId, size + 1]);
    return { project: { operations: createPage(rows as { id: string }[], size) } };
  },
  async Connections({ project }) {
    const rows = await query('connections', CONNECTIONS_JOINED, [project]);
    const [firstRow] = rows;
    if (!firstRow) return { project: null };
    const { projectId: id, projectName: name, appName } = firstRow;
    const edges = rows.map((row) => ({ node: toConnectionNode(row) }));
    return { project: { id, name, appName, connections: { edges } } };
  },
  async Node({ id }) {
    const [node] = await query('node', FIND_OPERATION, [id, projectId]);
    return { node: node ?? null };
  },
  async CreateKey({ project }) {
    const { key, values } = createKey(String(project), 'bench', ['READ']);
    const [apiKey] = await query('key', CREATE_KEY, values);
    return { createApiKey: { apiKey, key } };
  },
};

async function respond(
  { headers }: IncomingMessage,
  body: string,
  response: ServerResponse,
): Promise<void> {
  if (hasDuties && !(await authenticate(headers['x-api-key']))) {
    return void response.writeHead(401).end();
  }
  const { operationName, variables = {} } = JSON.parse(body);
  const data: unknown = await RESOLVERS[operationName as Document](variables);
  const text = Buffer.from(JSON.stringify({ data }));
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': text.length,
  });
  response.end(text);
}

const authenticate = createAuthenticate(pool, projectId);
const log = pino({}, openLogStream());

/** Logs the request when its response has been sent. */
function logEnd({ method, url, socket }: IncomingMessage, response: ServerResponse): void {
  const startMs = performance.now();
  response.on('close', () => {
    const { statusCode: status } = response;
    const ms = Math.round(performance.now() - startMs);
    log.info({ method, url, ip: socket.remoteAddress, status, ms }, 'request.ended');
  });
}

createServer((request, response) => {
  if (hasDuties) logEnd(request, response);
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  // A failed statement ends the process, because later figures would be useless.
  request.on('end', () => void respond(request, body, response));
}).listen(port, '127.0.0.1');
