/**
 * Tests that the agent of docs/agents.md compiles and works in the demo: it reads, proposes a write, waits for an approval
 * and commits.
 *
 * @module-tag all/process
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { getSharedApp } from '../support/app.ts';
import { listCodeBlocks, ROOT } from '../support/documents.ts';
import { fillDemoTenant } from '../support/tenancy/end-user-callers.ts';

/** The agent runs in a process, whose start takes time. */
const WAITING = { timeout: 60_000, interval: 100 };

const app = await getSharedApp();
const runFile = promisify(execFile);
const blocks = listCodeBlocks('docs/agents.md');
const findBlock = (start: string) => blocks.find(({ text }) => text.startsWith(start))?.text ?? '';

/** Creates a folder in which the agent finds the SDK's client, as if npm had installed it there. */
function createAgentFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-agent-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'data'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'agent.ts'), findBlock('// agent.ts'));
  return folder;
}

test('compiles the agent, which has no type any', async () => {
  const folder = createAgentFolder();
  expect(findBlock('// agent.ts')).not.toMatch(/\bany\b/);
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = '--noEmit --strict --target es2024 --module nodenext --types node --skipLibCheck';
  const compile = runFile(process.execPath, [tsc, ...options.split(' '), 'agent.ts'], {
    cwd: folder,
  });
  const { stdout } = await compile.catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});

test('runs the agent, which commits its write after an approval', async () => {
  const { headers, query } = await fillDemoTenant(app);
  app.app.sandbox.seed('contacts', 1);
  const { url } = await app.app.start();
  const folder = createAgentFolder();
  const [, body = ''] = /-d '(\{.*?\})'/s.exec(findBlock('api=$(node')) ?? [];
  const sessionResponse = await app.fetch('/v1/projects/demo/agent-sessions', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  const session = await sessionResponse.json();
  expect(session).toMatchObject({ token: expect.any(String), mcpUrl: expect.any(String) });
  const mcpUrl = `${url}${new URL(session.mcpUrl).pathname}`;
  writeFileSync(join(folder, 'data', 'agent.json'), JSON.stringify({ ...session, mcpUrl }));

  const agent = runFile(process.execPath, ['agent.ts'], { cwd: folder });
  const listProposals =
    'query ListProposals { viewer { project { proposals(status: PENDING, first: 1) { nodes { id } } } } }';
  const proposalId = await vi.waitFor(async () => {
    const { viewer } = await query(listProposals);
    return viewer.project.proposals.nodes[0].id as string;
  }, WAITING);
  const approve = `mutation ApproveProposal($input: ApproveProposalInput!) {
    approveProposal(input: $input) { proposal { fields { name before after } } }
  }`;
  const { approveProposal } = await query(approve, { input: { proposalId } });
  const [field] = approveProposal.proposal.fields;
  expect(field).toMatchObject({ name: 'lastname', after: field.before.toUpperCase() });
  const { stdout } = await agent;
  expect(stdout).toContain('The record was written.');
});
