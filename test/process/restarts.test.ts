/** @module-tag all/process */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { PROCESS_ENV } from '../support/process/process-env.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'gateway-process-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the server as `npm start` does. */
function startServer(env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: root,
    env: { ...PROCESS_ENV, PORT: '0', DATA_DIR: join(folder, 'data'), ...env },
  });
  let output = '';
  const lines: Record<string, unknown>[] = [];
  const ready = Promise.withResolvers<string>();
  const readOutput = (chunk: Buffer) => {
    output += chunk;
    for (const line of String(chunk).split('\n')) {
      if (!line.startsWith('{')) continue;
      const entry = JSON.parse(line) as Record<string, unknown>;
      lines.push(entry);
      if (entry.msg === 'server.ready') ready.resolve(entry.url as string);
    }
  };
  child.stdout.on('data', readOutput);
  child.stderr.on('data', readOutput);
  const exited = once(child, 'exit').then(([code]) => {
    ready.reject(new Error(`The server ended before it was ready:\n${output}`));
    return code as number | null;
  });
  return { child, exited, lines, ready: ready.promise, output: () => output };
}

const readDemo = () => JSON.parse(readFileSync(join(folder, 'data', 'demo.json'), 'utf8'));

async function runQuery(query: string): Promise<Response> {
  const { url, apiKey } = readDemo();
  return fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: JSON.stringify({ query }),
  });
}

interface CountsResponse {
  data: { project: { operations: { totalCount: number }; connections?: { totalCount: number } } };
}

/** The demo creates about 1,000 operations. Its scheduled reads add a few. */
function expectDemoOperations({ operations }: CountsResponse['data']['project']): void {
  expect(operations.totalCount).toBeGreaterThanOrEqual(1_000);
  expect(operations.totalCount).toBeLessThan(1_100);
}

test('fills the demo on the first start, keeps it on later ones, and continues after a kill', async () => {
  const first = startServer();
  const url = await first.ready;
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const before = readDemo();
  expect(before).toMatchObject({
    url,
    projectName: 'demo',
    apiKey: expect.stringMatching(/^ik_/),
    bearerToken: expect.stringMatching(/^ey/),
    orgId: expect.stringMatching(/^org_/),
    projectId: expect.stringMatching(/^prj_/),
    integrationId: expect.stringMatching(/^int_/),
    installationId: expect.stringMatching(/^ins_/),
    streamId: expect.stringMatching(/^dst_/),
    sandboxUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:/),
  });
  const counts = await runQuery(
    '{ project(idOrName: "demo") { operations(first: 1) { totalCount } connections { totalCount } } }',
  );
  const { data: filled } = (await counts.json()) as CountsResponse;
  expect(filled.project.connections?.totalCount).toBe(8);
  expectDemoOperations(filled.project);

  const second = startServer();
  await expect(second.ready).rejects.toThrow(/Another server is using the data folder/);
  expect(await second.exited).toBe(1);

  first.child.kill('SIGKILL');
  await first.exited;
  const restarted = startServer();
  await restarted.ready;
  const after = readDemo();
  expect(after).toMatchObject({ apiKey: before.apiKey, projectId: before.projectId });
  expect(after.bearerToken).not.toBe(before.bearerToken);
  const destinations = await runQuery(
    '{ project(idOrName: "demo") { destinations { nodes { name url } } operations(first: 1) { totalCount } } }',
  );
  const { data } = (await destinations.json()) as {
    data: {
      project: {
        destinations: { nodes: { name: string; url: string | null }[] };
        operations: { totalCount: number };
      };
    };
  };
  expectDemoOperations(data.project);
  const urls = data.project.destinations.nodes.map(({ name, url: inbox }) => [name, inbox]);
  expect(Object.fromEntries(urls)).toEqual({
    events: `${after.sandboxUrl}/inbox/events`,
    records: `${after.sandboxUrl}/inbox/records`,
    live: null,
  });
  for (const secret of [before.apiKey, before.bearerToken, after.bearerToken]) {
    expect(first.output() + restarted.output()).not.toContain(secret);
  }

  restarted.child.kill('SIGTERM');
  expect(await restarted.exited).toBe(0);

  rmSync(join(folder, 'data', 'encryption-keys'));
  const withoutKey = startServer();
  await expect(withoutKey.ready).rejects.toThrow(/encrypted with a key that is missing/);
  expect(await withoutKey.exited).toBe(1);
  expect(existsSync(join(folder, 'data', 'encryption-keys'))).toBe(false);
}, 300_000);

test('reports every problem of an invalid configuration', async () => {
  const server = startServer({
    PORT: 'http',
    LOG_LEVEL: 'loud',
    DATABASE_URL: 'postgres://u:hunter2@db/x',
  });
  server.ready.catch(() => {});
  expect(await server.exited).toBe(1);
  for (const name of ['PORT', 'LOG_LEVEL', 'ENCRYPTION_KEY'])
    expect(server.output()).toContain(name);
  expect(server.output()).not.toContain('hunter2');
});
