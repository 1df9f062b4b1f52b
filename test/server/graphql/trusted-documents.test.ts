/**
 * Tests that documents of manifests run by their IDs over every transport, and that pages cannot run other
 * documents in mode `only`.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, expect, test } from 'vitest';
import { createTrustedDocuments } from '../../../src/graphql/execution/trusted-documents.ts';
import { readConfig } from '../../../src/settings/config.ts';
import { getSharedApp } from '../../support/app.ts';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import { openSocket } from '../../support/socket.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'gateway-documents-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const manifest = join(folder, 'documents.json');
const DOCUMENTS = {
  who: 'query Who { viewer { kind } }',
  follow: 'subscription Follow($id: ID!) { operation(id: $id) { id } }',
  change:
    'mutation Change($input: UpdateProjectInput!) { updateProject(input: $input) { project { id } } }',
};
writeFileSync(manifest, JSON.stringify(DOCUMENTS));
/**
 * Created by `graphql-codegen` (cli 7.4.3, client-preset 6.2.0, `persistedDocuments: true`) from the served
 * schema.
 */
const CODEGEN_MANIFEST = join(root, 'test', 'support', 'manifests', 'persisted-documents.json');
const env = { TRUSTED_DOCUMENTS_FILES: `${manifest},${CODEGEN_MANIFEST}` };
const app = await getSharedApp({ env });
const strictApp = await getSharedApp({ env: { ...env, TRUSTED_DOCUMENTS: 'only' } });

async function postOperation(
  target: typeof app,
  body: object,
  headers: Record<string, string> = {},
) {
  const response = await target.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
  return (await response.json()) as any;
}

test('runs a document by its id, over POST, GET and a WebSocket', async () => {
  const tenant = await app.createTenant();
  const headers = { 'x-api-key': tenant.apiKey };
  const data = { viewer: { kind: 'API_KEY' } };
  expect(await postOperation(app, { documentId: 'who' }, headers)).toEqual({ data });
  expect(
    await postOperation(app, { query: '', documentId: 'who', operationName: 'Who' }, headers),
  ).toEqual({
    data,
  });
  const getResponse = await app.fetch('/graphql?documentId=who', {
    headers: { ...headers, 'content-type': 'application/json' },
  });
  expect(await getResponse.json()).toEqual({ data });
  const { url } = await app.app.start();
  const socket = await openSocket(url);
  socket.send({ type: 'connection_init', payload: headers });
  await socket.next();
  socket.send({ type: 'subscribe', id: '1', payload: { query: '', documentId: 'who' } });
  expect(await socket.next()).toEqual({ type: 'next', id: '1', payload: { data } });
  socket.socket.terminate();
});

test('refuses an unknown id, an id with a query, and a mutation by GET', async () => {
  const fetchCodes = async (body: object) =>
    (await postOperation(app, body)).errors.map(
      ({ extensions }: { extensions: { code: string } }) => extensions.code,
    );
  expect(await fetchCodes({ documentId: 'none' })).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  expect(await fetchCodes({ documentId: 'who', query: '{ __typename }' })).toEqual([
    'GRAPHQL_VALIDATION_FAILED',
  ]);
  const { status } = await app.fetch('/graphql?documentId=change', {
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
  });
  expect(status).toBe(405);
});

test('runs only trusted documents for end users in mode `only`, and hides the schema', async () => {
  const tenant = await strictApp.createTenant();
  const user = await createEndUser(strictApp, tenant);
  expect(await postOperation(strictApp, { documentId: 'who' }, user.headers)).toEqual({
    data: { viewer: { kind: 'END_USER' } },
  });
  for (const headers of [user.headers, {}]) {
    const fetchCode = async (query: string) =>
      (await postOperation(strictApp, { query }, headers)).errors[0].extensions.code;
    for (const query of [DOCUMENTS.who, '{ __typename }', '{ nothing }']) {
      expect([query, await fetchCode(query)]).toEqual([query, 'FORBIDDEN']);
    }
    expect(await fetchCode('{')).toBe('GRAPHQL_PARSE_FAILED');
  }
  const builder = { authorization: `Bearer ${tenant.token}` };
  for (const headers of [{ 'x-api-key': tenant.apiKey }, builder] as Record<string, string>[]) {
    expect(
      (await postOperation(strictApp, { query: DOCUMENTS.who }, headers)).errors,
    ).toBeUndefined();
  }
});

test("responds to GraphiQL's introspection in mode `only`, except for an end user", async () => {
  const query = getIntrospectionQuery({ schemaDescription: true });
  const { data } = await postOperation(strictApp, { query, operationName: 'IntrospectionQuery' });
  expect(data.__schema.queryType.name).toBe('Query');
  const user = await createEndUser(strictApp, await strictApp.createTenant());
  const { errors } = await postOperation(strictApp, { query }, user.headers);
  expect(errors[0].extensions.code).toBe('FORBIDDEN');
});

test('accepts the documents of relay-compiler as a manifest', async () => {
  copyFileSync(join(root, 'schema.graphql'), join(folder, 'schema.graphql'));
  mkdirSync(join(folder, 'src', '__generated__'), { recursive: true });
  writeFileSync(join(folder, 'src', 'Who.js'), `graphql\`query WhoQuery { viewer { kind } }\`;`);
  const config = { src: './src', schema: './schema.graphql', language: 'javascript' };
  writeFileSync(
    join(folder, 'relay.config.json'),
    JSON.stringify({ ...config, persistConfig: { file: './persisted.json' } }),
  );
  writeFileSync(join(folder, 'persisted.json'), '{}');
  const compiler = join(root, 'node_modules', '.bin', 'relay-compiler');
  await promisify(execFile)(compiler, ['relay.config.json'], { cwd: folder });
  const path = join(folder, 'persisted.json');
  const [[id, text]] = Object.entries<string>(JSON.parse(readFileSync(path, 'utf8'))) as [
    [string, string],
  ];
  const documents = createTrustedDocuments(readConfig({ TRUSTED_DOCUMENTS_FILES: path }));
  expect(documents.find({ documentId: id })).toEqual({ text, isTrusted: true });
});

test('accepts the documents of graphql-codegen as a manifest, with the ids that clients send', async () => {
  const tenant = await strictApp.createTenant();
  const { headers } = await createEndUser(strictApp, tenant);
  const texts: Record<string, string> = JSON.parse(readFileSync(CODEGEN_MANIFEST, 'utf8'));
  const findDocumentId = (name: string) =>
    Object.keys(texts).find((id) => texts[id]?.includes(` ${name}`)) as string;
  expect(findDocumentId('Who')).toMatch(/^sha256:/);
  expect(await postOperation(strictApp, { documentId: findDocumentId('Who') }, headers)).toEqual({
    data: { viewer: { kind: 'END_USER' } },
  });
  const variables = { project: tenant.projectId };
  const connections = { documentId: findDocumentId('Connections'), variables };
  expect(await postOperation(strictApp, connections, headers)).toEqual({
    data: { project: { connections: { nodes: [] } } },
  });
  const id = 'opr_01h455vb4pex5vsknk084sn02q';
  const follow = { documentId: findDocumentId('Follow'), variables: { id } };
  const streamHeaders = {
    ...headers,
    accept: 'text/event-stream',
    'content-type': 'application/json',
  };
  const stream = await strictApp.fetch('/graphql', {
    method: 'POST',
    headers: streamHeaders,
    body: JSON.stringify(follow),
  });
  expect(await stream.text()).toContain('NOT_FOUND');
});

test('refuses to start with an invalid manifest', () => {
  const invalidManifest = join(folder, 'invalid.json');
  writeFileSync(invalidManifest, '{"id": 1}');
  for (const path of [invalidManifest, join(folder, 'missing.json')]) {
    const settings = readConfig({ TRUSTED_DOCUMENTS_FILES: path });
    expect(() => createTrustedDocuments(settings)).toThrow(path);
  }
});
