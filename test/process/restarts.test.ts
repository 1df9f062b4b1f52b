/** @module-tag all/process */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fillDataFolder } from '../support/database/data-folder.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';
import { openUnfinishedRequest } from '../support/process/unfinished-request.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'gateway-process-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
fillDataFolder(join(folder, 'data'));

/** Runs the server as `npm start` does. */
function startServer(env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: root,
    env: { ...PROCESS_ENV, PORT: '0', DATA_DIR: join(folder, 'data'), ...env },
  });
  let output = '';
  const lines: Record<string, unknown>[] = [];
  const ready = Promise.withResolvers<string>();
  const addOutput = (chunk: Buffer) => {
    output += chunk;
    for (const line of String(chunk).split('\n')) {
      if (!line.startsWith('{')) continue;
      const entry = JSON.parse(line) as Record<string, unknown>;
      lines.push(entry);
      if (entry.msg === 'server.ready') ready.resolve(entry.url as string);
    }
  };
  child.stdout.on('data', addOutput);
  child.stderr.on('data', addOutput);
  const exited = once(child, 'exit').then(([code]) => {
    ready.reject(new Error(`The server ended before it was ready:\n${output}`));
    return code as number | null;
  });
  return { child, exited, lines, ready: ready.promise, readOutput: () => output };
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

test('fills the demo on the first start, and keeps it on later starts, also after a kill', async () => {
  const firstServer = startServer();
  const url = await firstServer.ready;
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const demoBefore = readDemo();
  expect(demoBefore).toMatchObject({
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
  const countsResponse = await runQuery(
    'query Counts { project(idOrName: "demo") { operations(first: 1) { totalCount } connections { totalCount } } }',
  );
  const { data: filledDemo } = (await countsResponse.json()) as CountsResponse;
  expect(filledDemo.project.connections?.totalCount).toBe(8);
  expectDemoOperations(filledDemo.project);

  const concurrentServer = startServer();
  await expect(concurrentServer.ready).rejects.toThrow(/Another server is using the data folder/);
  expect(await concurrentServer.exited).toBe(1);

  firstServer.child.kill('SIGKILL');
  await firstServer.exited;
  const restartedServer = startServer();
  await restartedServer.ready;
  const demoAfter = readDemo();
  expect(demoAfter).toMatchObject({ apiKey: demoBefore.apiKey, projectId: demoBefore.projectId });
  expect(demoAfter.bearerToken).not.toBe(demoBefore.bearerToken);
  const destinationsResponse = await runQuery(
    'query Destinations { project(idOrName: "demo") { destinations { nodes { name url } } operations(first: 1) { totalCount } } }',
  );
  const { data } = (await destinationsResponse.json()) as {
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
    events: `${demoAfter.sandboxUrl}/inbox/events`,
    records: `${demoAfter.sandboxUrl}/inbox/records`,
    live: null,
  });
  for (const secret of [demoBefore.apiKey, demoBefore.bearerToken, demoAfter.bearerToken]) {
    expect(firstServer.readOutput() + restartedServer.readOutput()).not.toContain(secret);
  }

  // A pending request delays the end, until a later signal ends the process immediately.
  await openUnfinishedRequest(await restartedServer.ready);
  const signalTimer = setInterval(() => restartedServer.child.kill('SIGTERM'), 100);
  expect(await restartedServer.exited).toBe(1);
  clearInterval(signalTimer);
  expect(restartedServer.readOutput()).not.toContain('server.stop_timed_out');

  rmSync(join(folder, 'data', 'encryption-keys'));
  const serverWithoutKey = startServer();
  await expect(serverWithoutKey.ready).rejects.toThrow(/encrypted with a key that is missing/);
  expect(await serverWithoutKey.exited).toBe(1);
  expect(existsSync(join(folder, 'data', 'encryption-keys'))).toBe(false);
}, 300_000);
