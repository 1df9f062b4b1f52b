/**
 * The upper bound for moving records: node:http with one statement before the provider's call and one statement after the
 * call. The operation's name selects the work, and the response has GraphQL's format.
 */
import { createHmac } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import pg from 'pg';
import { Pool } from 'undici';
import { newId } from '../../src/kernel/ids.ts';
import { createVault } from '../../src/kernel/secrets.ts';
import type { BenchProject } from '../bench-project.ts';
import { ENCRYPTION_KEY } from '../fill.ts';
import type { MovingDocument } from '../parts/moving/documents.ts';
import { readEnvironment } from './environment.ts';
import {
  BEGIN_WRITE,
  CREATE_CONNECTION,
  END_WRITE,
  ENQUEUE_MESSAGE,
  RECORD_SENT,
} from './moving-sql.ts';

const { port, databaseUrl, poolSize, projectId } = readEnvironment();
const { SANDBOX_URL = '', BENCH_PROJECT = '{}' } = process.env;
const { integrationId, installations, topicId, destinationId }: BenchProject =
  JSON.parse(BENCH_PROJECT);
const pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize });
const provider = new Pool(SANDBOX_URL, { connections: 64, pipelining: 1 });
const vault = createVault([ENCRYPTION_KEY]);
const API_KEY = 'sandbox-key-bench';
const KEY_HEADERS = { 'x-api-key': API_KEY };
/** The number of concurrent messages to a destination. */
const CONCURRENT_POSTS = 8;

interface Page {
  records: object[];
  nextCursor: string | null;
}

interface WriteInput {
  groupRef: string;
  mode?: 'SYNCHRONOUS' | 'ASYNCHRONOUS';
  records: { record?: object; batch?: { record: object }[] };
}

async function callProvider(path: string, body: object, idempotencyKey: string): Promise<object> {
  const response = await provider.request({
    method: 'POST',
    path,
    headers: {
      'content-type': 'application/json',
      'x-api-key': API_KEY,
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify(body),
  });
  const text = await response.body.text();
  if (response.statusCode >= 300) throw new Error(text);
  return JSON.parse(text);
}

async function writeRecords({ groupRef, mode = 'SYNCHRONOUS', records: input }: WriteInput) {
  const { record, batch } = input;
  const { installationId, configId, groupId } = installations[groupRef]!;
  const records = batch ? batch.map((item) => item.record) : [record];
  const [operationId, firstLine, lastLine] = [newId('opr'), newId('log'), newId('log')];
  const ids = [operationId, projectId, integrationId, installationId, configId, groupId];
  const values = [...ids, firstLine, mode, JSON.stringify(records)];
  await pool.query({ name: 'begin', text: BEGIN_WRITE, values });
  const finish = async () => {
    const response = batch
      ? await callProvider('/objects/contacts/batch/create', { records: batch }, operationId)
      : await callProvider('/objects/contacts/records', { record }, operationId);
    const outcomes = JSON.stringify(records.map(() => ({ success: true, recordId: '1' })));
    await pool.query({
      name: 'end',
      text: END_WRITE,
      values: [operationId, projectId, outcomes, lastLine],
    });
    return response;
  };
  if (mode === 'SYNCHRONOUS') await finish();
  else void finish();
  return { writeRecords: { operationId, successCount: records.length } };
}

async function createConnection({
  groupRef,
  consumerRef,
}: {
  groupRef: string;
  consumerRef: string;
}) {
  // Like the gateway, checks whether the provider accepts the key.
  const health = await provider.request({ method: 'GET', path: '/objects', headers: KEY_HEADERS });
  await health.body.dump();
  const id = newId('con');
  const location = { table: 'Connection', column: 'credentialsSealed', row: id, projectId };
  const sealed = vault.seal(JSON.stringify({ apiKey: API_KEY }), location);
  const data = JSON.stringify({ connectionId: id, groupRef, consumerRef, provider: 'sandbox' });
  const values = [newId('grp'), projectId, groupRef, newId('csm'), consumerRef, id, sealed];
  values.push(newId('evt'), data, topicId, newId('dlv'), destinationId);
  await pool.query({ name: 'connect', text: CREATE_CONNECTION, values });
  return { generateConnection: { connection: { id } } };
}

/** Reads all pages one after the other. Stores each as a message, posts it with a signature, and marks it as sent. */
async function readBackfill({ receiverUrl }: { receiverUrl: string }) {
  const receiver = new Pool(receiverUrl, { connections: CONCURRENT_POSTS, pipelining: 1 });
  const posts = new Set<Promise<void>>();
  let cursor: string | null = null;
  let count = 0;
  do {
    const query = new URLSearchParams({ limit: '200', ...(cursor !== null && { cursor }) });
    const page = await provider.request({
      method: 'GET',
      path: `/objects/contacts/records?${query}`,
      headers: KEY_HEADERS,
    });
    const { records, nextCursor } = (await page.body.json()) as Page;
    count += records.length;
    cursor = nextCursor;
    const id = newId('dlv');
    const body = JSON.stringify({ action: 'read', result: records });
    await pool.query({
      name: 'enqueue',
      text: ENQUEUE_MESSAGE,
      values: [id, projectId, destinationId, body],
    });
    const post: Promise<void> = sendMessage(receiver, id, body).finally(() => posts.delete(post));
    posts.add(post);
    if (posts.size >= CONCURRENT_POSTS) await Promise.race(posts);
  } while (cursor !== null);
  await Promise.all(posts);
  await receiver.close();
  return { backfill: { count } };
}

async function sendMessage(receiver: Pool, id: string, body: string): Promise<void> {
  const signature = createHmac('sha256', ENCRYPTION_KEY).update(id).update(body).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-signature': `v1,${signature}`,
  };
  const response = await receiver.request({ method: 'POST', path: '/', headers, body });
  await response.body.dump();
  await pool.query({ name: 'sent', text: RECORD_SENT, values: [id, projectId, newId('att')] });
}

const RESOLVERS: Record<MovingDocument, (input: never) => Promise<object>> = {
  Write: writeRecords,
  Connect: createConnection,
  Backfill: readBackfill,
};

async function respond(body: string, response: ServerResponse): Promise<void> {
  const { operationName, variables } = JSON.parse(body);
  const data = await RESOLVERS[operationName as MovingDocument](variables.input as never);
  const text = Buffer.from(JSON.stringify({ data }));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
  response.end(text);
}

createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    if (request.method === 'GET') response.end('ok');
    // A failed statement ends the process, because later figures would be useless.
    else void respond(body, response);
  });
}).listen(port, '127.0.0.1');
