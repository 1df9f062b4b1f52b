/** The upper bound for a provider's events: node:http with one signature check and one insert for each request. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';
import { SECRET, type Subscribed } from '../parts/inbound/subscribed.ts';
import { readEnvironment } from './environment.ts';

const { port, databaseUrl, poolSize, projectId } = readEnvironment();
const { providerAppId, installationId }: Subscribed = JSON.parse(process.env.SUBSCRIBED ?? '{}');
const pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize });
const INSERT = `
  insert into "ProviderEvent" ("projectId", "installationId", "objectName", "nativeId",
    "providerAppId", "recordId", "kind", "nativeType", "eventTime", "changedFields", "content")
  select $1, $2, event->>'objectName', event->>'id', $3, event->>'recordId', 'DELETE', event->>'type',
    (event->>'occurredAt')::timestamptz, '{}', jsonb_build_object('raw', event)
  from jsonb_array_elements($4::jsonb) event
  on conflict do nothing`;

function isSigned(header: string, body: Buffer): boolean {
  const [, seconds = '', signature = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const expected = createHmac('sha256', SECRET).update(`${seconds}.`).update(body).digest();
  const digest = Buffer.from(signature, 'hex');
  return digest.length === expected.length && timingSafeEqual(digest, expected);
}

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    if (request.method === 'GET') return response.end('ok');
    const body = Buffer.concat(chunks);
    if (!isSigned(String(request.headers['x-sandbox-signature']), body)) {
      return response.writeHead(401).end();
    }
    const events = JSON.stringify(JSON.parse(body.toString()).events);
    const values = [projectId, installationId, providerAppId, events];
    await pool.query({ name: 'insert', text: INSERT, values });
    response.writeHead(204).end();
  });
}).listen(port, '127.0.0.1');
