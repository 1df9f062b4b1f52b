/**
 * Runs the commands of the documentation, so that they stay correct.
 *
 * @module-tag all/process
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startPostgres } from '../support/database/postgres.ts';
import { getPostgresSkipReason } from '../support/database/postgres-binaries.ts';
import { OUTPUT_SHOWN_MAX, Reader, type Terminal } from '../support/documentation-reader.ts';
import { DOCUMENTS } from '../support/documents.ts';
import { findFreePort } from '../support/process/free-port.ts';
import { listBlocks, readName } from './code-blocks.ts';
import { LISTEN_COMMAND, REENCRYPT_COMMAND, START_COMMAND, START_WITHOUT_NPM } from './not-run.ts';

/** This document starts its own servers, on PostgreSQL. */
const INSTALL_PAGE = 'docs/operations/install.md';
/** This document creates the database of the installation. */
const DATABASE_PAGE = 'docs/operations/database.md';

/** Patterns that must occur in the output of a document's commands, including its background processes. */
const EXPECTED_OUTPUT: Record<string, RegExp[]> = {
  'README.md': [/"recordId":"/],
  'docs/demo.md': [/"triggerRead":/],
  'docs/quickstart.md': [
    /"verified":true,"message":\{"notificationType":"connection.created"/,
    /"verified":true,"message":\{"action":"read".*"mappedFields":\{"emailAddress":/,
    /"verified":true,"message":\{"notificationType":"read.triggered.done"/,
  ],
  'docs/clients.md': [
    /over SSE .*CONNECTION_CREATED/,
    /over WebSocket .*CONNECTION_CREATED/,
    /by fetch .*END_USER/,
    /by fetch .*"operation"/,
  ],
  'docs/providers/your-own.md': [
    /"objectName":"notes","recordCount":10,"hasNextPage":true,"problem":null/,
    /"verified":true,"message":\{"action":"read".*"provider":"x-notes"/,
  ],
  'docs/webhooks.md': [/genuine dlv_\w+ .*connection\.created/],
  [INSTALL_PAGE]: [/"status":"ready".*"status":"ready"/s],
};

const WAITING = { timeout: 60_000, interval: 100 };
const TEST_TIMEOUT_MS = 300_000;
const ERROR_RESPONSE = /"errors":\s*\[\s*\{|urn:problem/;

const postgresSkipReason = getPostgresSkipReason();
if (postgresSkipReason) {
  console.warn(
    `The commands of ${INSTALL_PAGE} on PostgreSQL are not tested: ${postgresSkipReason}.`,
  );
}

test(
  'runs the commands of the documentation against one server',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const reader = await openReader();
    await reader.run(`export PORT=4000\n${START_COMMAND} &\n${createReadinessCommand(4000)}`);
    const { url, apiKey } = JSON.parse(reader.read('data/demo.json'));
    const listener = await reader.run(`${LISTEN_COMMAND} &`);
    await expectOutput(listener, [/^Listening to /m]);
    const outputs: string[] = [];
    for (const document of DOCUMENTS.filter((name) => name !== INSTALL_PAGE)) {
      outputs.push(await runDocument(reader, document));
    }
    await expectOutput(listener, [/"eventType":"READ_TRIGGERED_DONE"/]);
    expectDocumentedMembers(outputs.join('\n'));
    for (const { text, line, document } of listBlocks('graphql')) {
      const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
      const body = JSON.stringify({ query: text });
      const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
      expect(await response.text(), `${document}:${line}`).not.toMatch(ERROR_RESPONSE);
    }
    await reader.end();
    const { output } = await reader.run(REENCRYPT_COMMAND);
    expect(output()).toMatch(/[1-9]\d* values re-encrypted/);
    await reader.run(`export PORT=4000\n${START_WITHOUT_NPM} &\n${createReadinessCommand(4000)}`);
  },
);

test.skipIf(postgresSkipReason)(
  'runs the commands for two processes on PostgreSQL',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const postgres = await startPostgres(join(createPostgresFolder(), 'postgres'));
    onTestFinished(() => postgres.stop());
    await runStatements(`${postgres.url}/postgres`, DATABASE_PAGE);
    const url = 'postgresql://gateway:secret@127.0.0.1:5432/gateway';
    const reader = await openReader({ [url]: url.replace('5432', String(postgres.port)) });
    await runDocument(reader, INSTALL_PAGE);
  },
);

test('stops waiting for a server that fails', async () => {
  const reader = await openReader();
  const server = `node --eval 'throw "no port"'`;
  const failedStart = reader.run(`${server} &\n${createReadinessCommand(4000)}`);
  await expect(failedStart).rejects.toThrow(/no port.*FAILED: node --eval .* exited with 1/s);
});

/** Saves the scripts of a document, and runs all of its commands in one terminal. */
async function runDocument(reader: Reader, document: string): Promise<string> {
  for (const { text } of listBlocks('js', document)) {
    reader.save(readName(text), text);
  }
  const commands = listBlocks('sh', document).map(({ text }) => text);
  if (commands.length === 0) return '';
  const terminal = await reader.run(commands.join('\n'));
  await expectOutput(terminal, EXPECTED_OUTPUT[document] ?? []);
  expect(terminal.output()).not.toMatch(ERROR_RESPONSE);
  return terminal.output();
}

/** Runs the SQL of a document, one statement at a time. */
async function runStatements(connectionString: string, document: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  const statements = listBlocks('sql', document).flatMap(({ text }) => text.trim().split('\n'));
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** Waits for the patterns, and fails immediately if a program has failed. */
async function expectOutput({ output, hasFailed }: Terminal, patterns: RegExp[]): Promise<void> {
  const listMissingPatterns = () => patterns.filter((pattern) => !pattern.test(output()));
  await vi.waitFor(() => {
    if (!hasFailed()) expect(listMissingPatterns(), output().slice(-OUTPUT_SHOWN_MAX)).toEqual([]);
  }, WAITING);
  expect(hasFailed(), output().slice(-OUTPUT_SHOWN_MAX)).toBe(false);
}

/**
 * Kinds of messages that the commands do not cause, because they change nothing at a provider and send no test
 * message. test/flows/ and test/rest/webhooks.test.ts cover these kinds.
 */
const UNSENT_KINDS = ['subscribe', 'schema.watch', 'test.message'];

/** Expects that the messages in documents have the same members as the received messages. */
function expectDocumentedMembers(output: string): void {
  const receivedMessages = [...output.matchAll(/"verified":true,"message":(\{.*\})\}$/gm)]
    .map((match) => JSON.parse(match[1] ?? ''))
    // The examples are messages of the sandbox. One page describes a provider of its own.
    .filter(({ provider = 'sandbox' }) => provider === 'sandbox');
  for (const { text, line, document } of listBlocks('json')) {
    const example = JSON.parse(text);
    if (UNSENT_KINDS.includes(getKind(example) ?? '')) continue;
    const message = receivedMessages.find((candidate) => getKind(candidate) === getKind(example));
    expect(listMembers(message), `${document}:${line}`).toEqual(listMembers(example));
  }
}

const getKind = ({ notificationType, action }: Record<string, string>) =>
  notificationType ?? action;

function listMembers(message: Record<string, unknown>): unknown {
  const { data, result, resultInfo } = message;
  const [record] = Array.isArray(result) ? result : [];
  return [message, data, resultInfo, record, record?.fields, record?.mappedFields].map((value) =>
    Object.keys(value ?? {}).sort(),
  );
}

async function openReader(env: Record<string, string> = {}): Promise<Reader> {
  const ports = ['4000', '4010', '4100', '4101'];
  const freePorts = await Promise.all(
    ports.map(async (port) => [port, String(await findFreePort())]),
  );
  const reader = new Reader({ ...env, ...Object.fromEntries(freePorts) });
  onTestFinished(() => reader[Symbol.asyncDispose]());
  return reader;
}

function createPostgresFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-documents-'));
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function createReadinessCommand(port: number): string {
  return `curl -sf --retry 200 --retry-delay 1 --retry-all-errors http://127.0.0.1:${port}/readyz`;
}
