/**
 * Runs the examples for pages in docs/clients.md unchanged, with the token of an end user and the system's Node.
 *
 * @module-tag all/process
 */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSystemPath } from '../support/documentation-reader.ts';
import { listCodeBlocks, ROOT } from '../support/documents.ts';
import { CREATE_SESSION_TOKEN } from '../support/fixtures/end-users.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';
import { type DemoServer, startDemo } from '../support/stage.ts';

const runCommand = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'gateway-clients-'));
const TRIGGER_READ = `mutation TriggerRead($input: TriggerReadInput!) {
  triggerRead(input: $input) { operation { id } }
}`;
const parties = { projectIdOrName: 'demo', groupRef: 'acme' };
let server: DemoServer;
let session: { token: string; operationId: string };

async function sendMutation(headers: Record<string, string>, query: string, input: object) {
  const response = await fetch(`${server.demo.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables: { input } }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
  return ((await response.json()) as { data: any }).data;
}

beforeAll(async () => {
  server = await startDemo();
  const key = { 'x-api-key': server.demo.apiKey };
  const tokenData = await sendMutation(key, CREATE_SESSION_TOKEN, {
    ...parties,
    consumerRef: 'clients',
  });
  const { token } = tokenData.createSessionToken;
  const read = { ...parties, integrationIdOrName: 'crm-sync', objectName: 'contacts' };
  const { triggerRead } = await sendMutation(
    { authorization: `Bearer ${token}` },
    TRIGGER_READ,
    read,
  );
  session = { token, operationId: triggerRead.operation.id };
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  copyFileSync(join(ROOT, 'schema.graphql'), join(folder, 'schema.graphql'));
  for (const { text } of listCodeBlocks('docs/clients.md').filter(
    ({ language }) => language === 'js',
  )) {
    const name = text.split('\n')[0]?.slice('// '.length) ?? '';
    writeFileSync(join(folder, name), text);
  }
});

afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const CLIENT_NAMES = ['fetch', 'urql', 'Apollo', 'Relay'];

test('runs each client until it has read the viewer and followed an operation', async () => {
  const commands = listCodeBlocks('docs/clients.md').filter(({ text }) =>
    /^(node page\.mjs|mkdir -p pages)/.test(text),
  );
  expect(commands).toHaveLength(2);
  const env = {
    ...PROCESS_ENV,
    PATH: createSystemPath(),
    url: server.demo.url,
    token: session.token,
    operation: session.operationId,
  };
  const script = commands.map(({ text }) => text).join('');
  const { stdout } = await runCommand('bash', ['-ec', script], { cwd: folder, env });
  for (const client of CLIENT_NAMES) {
    expect(stdout).toMatch(new RegExp(`by ${client} .*"kind":"END_USER".*"groupRef":"acme"`));
    expect(stdout).toMatch(new RegExp(`by ${client} .*"id":"opr_.*"status":"SUCCEEDED"`));
  }
});
