/**
 * Tests the command `gateway` in a process, against a server.
 *
 * @module-tag all/process
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { getSharedApp } from '../support/app.ts';
import { connectAndInstall } from '../support/fixtures/integrations.ts';
import { DOCUMENT } from '../support/fixtures/project-documents.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';
import { createRestTenant, type RestTenant } from '../support/rest/rest-client.ts';

const command = join(import.meta.dirname, '../../src/commands/gateway.ts');
const app = await getSharedApp();
const { url } = await app.app.start();
const folder = mkdtempSync(join(tmpdir(), 'gateway-command-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SECRET_OPTIONS = [
  'destinations.records.url=RECORDS_URL',
  'destinations.records.headers.authorization=RECORDS_TOKEN',
].flatMap((secret) => ['--secret', secret]);

interface CommandRun {
  args: string[];
  rest: RestTenant;
  input?: string;
  env?: Record<string, string>;
}

async function runGateway({ args, rest, input = '', env = {} }: CommandRun) {
  const { apiKey, projectName } = rest.tenant;
  const variables = {
    ...PROCESS_ENV,
    GATEWAY_API_KEY: apiKey,
    RECORDS_URL: 'https://hooks.example.com/in?token=abc',
    RECORDS_TOKEN: 'Bearer abc',
    ...env,
  };
  const options = ['--url', url, '--project', projectName];
  const child = spawn(process.execPath, [command, ...args, ...options], { env: variables });
  child.stdin.end(input);
  const [output, error, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  return { output, error, code };
}

function writeFile(content: string, name = 'project.yaml'): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

test('plans, applies, exports and compares a project, with exit codes for CI', async () => {
  const rest = await createRestTenant(app);
  const file = writeFile(DOCUMENT);
  const plan = await runGateway({ rest, args: ['plan', '-f', file] });
  expect(plan).toMatchObject({ code: 2, error: '' });
  expect(plan.output).toContain('+ integrations.crm\n');
  expect(plan.output).toContain('needs a value: --secret destinations.records.url=VARIABLE');
  const applyRun = await runGateway({ rest, args: ['apply', '-f', file, ...SECRET_OPTIONS] });
  expect(applyRun).toMatchObject({ code: 0, output: expect.stringContaining('Applied at ') });

  const copy = join(folder, 'copy.yaml');
  expect(await runGateway({ rest, args: ['export', '-f', copy] })).toMatchObject({
    code: 0,
    output: '',
  });
  const exportedDocument = readFileSync(copy, 'utf8');
  expect(await runGateway({ rest, args: ['export'] })).toMatchObject({
    code: 0,
    output: exportedDocument,
  });
  const unchanged = await runGateway({ rest, args: ['plan', '-f', '-'], input: exportedDocument });
  expect(unchanged).toEqual({ code: 0, output: 'No changes.\n', error: '' });

  const changed = exportedDocument.replace('0 * * * *', '30 * * * *');
  const diff = await runGateway({ rest, args: ['diff', '-f', '-'], input: changed });
  expect(diff.code).toBe(2);
  expect(diff.output).toContain('- read.objects[0].schedule: 0 * * * *');
  expect(diff.output).toContain('+ read.objects[0].schedule: 30 * * * *');
});

test('compares the documents of custom providers line by line', async () => {
  const rest = await createRestTenant(app);
  const provider = (displayName: string) =>
    `name: x-acme\ndisplayName: ${displayName}\nbaseUrl: https://api.acme.example\nauthSchemes: [NONE]\n`;
  const createText = (displayName: string) =>
    JSON.stringify({
      specVersion: '1.0.0',
      customProviders: [{ name: 'x-acme', document: provider(displayName) }],
    });
  const applyRun = await runGateway({
    rest,
    args: ['apply', '-f', '-'],
    input: createText('Acme'),
  });
  expect(applyRun).toMatchObject({ code: 0, output: expect.stringContaining('Applied at ') });
  const diff = await runGateway({ rest, args: ['diff', '-f', '-'], input: createText('Acme 2') });
  expect(diff.output).toContain(
    '~ customProviders.x-acme\n    - document: displayName: Acme\n    + document: displayName: Acme 2\n',
  );
});

test('exits with 3 for impacts, and applies them only if they are allowed', async () => {
  const rest = await createRestTenant(app);
  await runGateway({ rest, args: ['apply', '-f', writeFile(DOCUMENT), ...SECRET_OPTIONS] });
  const { id } = await rest.get(`${rest.base}/integrations/crm`);
  const installation = await connectAndInstall(rest.tenant, { id });
  const mappedName = '            - mapToName: tier\n';
  const changedDocument = DOCUMENT.replace(
    '          optionalFields:',
    `${mappedName}          optionalFields:`,
  );
  const file = writeFile(changedDocument, 'impacts.yaml');
  const plan = await runGateway({ rest, args: ['plan', '-f', file, '--json'] });
  expect(plan.code).toBe(3);
  const { id: planId, impacts } = JSON.parse(plan.output);
  expect(impacts).toMatchObject([{ installations: [{ installationId: installation.id }] }]);
  const refusedRun = await runGateway({ rest, args: ['apply', '--plan', planId] });
  expect(refusedRun.code).toBe(3);
  expect(refusedRun.output).toContain('must map tier to a field');
  expect(refusedRun.output).toContain('(1 of 1 installation)');
  expect(refusedRun.output).not.toContain('grp_');
  expect(refusedRun.output).toMatch(/^ {4}\S+ \(ins_\w+\)$/m);
  expect(refusedRun.output).toMatch(/^1 change in pln_/m);
  expect(refusedRun.output).not.toContain('Applied');
  expect(refusedRun.output).toMatch(
    /\nNot applied\. Pass --allow-impacts to break installations\.\n$/,
  );
  const applyRun = await runGateway({ rest, args: ['apply', '--plan', planId, '--allow-impacts'] });
  expect(applyRun).toMatchObject({ code: 0, output: expect.stringContaining('Applied at ') });
});

test('names its own options, and counts omitted items in one line', async () => {
  const rest = await createRestTenant(app);
  const file = writeFile(DOCUMENT);
  const withoutSecrets = await runGateway({ rest, args: ['apply', '-f', file] });
  expect(withoutSecrets.code).toBe(1);
  expect(withoutSecrets.output).toMatch(
    /Not applied\. Pass --secret destinations\.records\.\S+=VARIABLE.*\n$/,
  );
  await runGateway({ rest, args: ['apply', '-f', file, ...SECRET_OPTIONS] });
  const input = 'specVersion: 1.0.0\ntopics: []\n';
  const partial = await runGateway({ rest, args: ['plan', '-f', '-'], input });
  const warnings = partial.output.split('\n').filter((line) => line.startsWith('warning: '));
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/ and \d+ more, which stay unchanged\. Use --allow-deletions to/);
  const surplusSecret = await runGateway({
    rest,
    args: ['apply', '-f', '-', '--secret', 'a.b=RECORDS_TOKEN'],
    input: `${input}destinations: []\n`.replace(
      'topics: []',
      'topics: [{ name: new, destinations: [] }]',
    ),
  });
  expect(surplusSecret.error).toContain('--secret: must not have a.b');
  const wrongRename = await runGateway({
    rest,
    args: ['plan', '-f', '-', '--rename', 'destination:records=allowDeletions'],
    input,
  });
  expect(wrongRename.error).toContain('--rename: ');
  expect(surplusSecret.error).toMatch(/\nNot applied\.\n$/);
});

test('exits with 1 and the reason if it cannot run', async () => {
  const rest = await createRestTenant(app);
  const file = writeFile(DOCUMENT.replace('type: stream', 'type: strem'), 'wrong.yaml');
  for (const [args, reason, env] of [
    [['plan', '-f', file], 'document.destinations[0].type: line 6, column 5: must be one of', {}],
    [['plan', '-f', join(folder, 'none.yaml')], '-f: ENOENT', {}],
    [['plan'], '-f: required', {}],
    [['destroy'], 'Usage: gateway', {}],
    [['plan', '-f', file, '--nope'], "Unknown option '--nope'", {}],
    [['export'], 'Set GATEWAY_API_KEY or GATEWAY_TOKEN.', { GATEWAY_API_KEY: '' }],
    [['export'], '401: ', { GATEWAY_API_KEY: 'ik_unknown' }],
    [['plan', '-f', file, '--rename', 'a=b'], 'must be KIND:FROM=TO', {}],
    [['apply', '-f', file, '--secret', 'a.b=NOT_SET'], 'NOT_SET is not set', {}],
  ] as const) {
    const { code, error, output } = await runGateway({ rest, args: [...args], env: { ...env } });
    expect({ code, output }, error).toEqual({ code: 1, output: '' });
    expect(error).toContain(reason);
  }
});

test('promotes an export to another project with a bearer token', async () => {
  const [staging, live] = [await createRestTenant(app), await createRestTenant(app)];
  await runGateway({
    rest: staging,
    args: ['apply', '-f', writeFile(DOCUMENT), ...SECRET_OPTIONS],
  });
  const destination = {
    name: 'live',
    type: 'webhook',
    metadata: { url: 'https://live.example.com/in' },
  };
  await live.post(`${live.base}/destinations`, destination);
  const { output: input } = await runGateway({
    rest: staging,
    args: ['export', '--format', 'json'],
  });
  const env = { GATEWAY_API_KEY: '', GATEWAY_TOKEN: live.tenant.token };
  const args = ['apply', '-f', '-', '--rename', 'destination:records=live'];
  expect(await runGateway({ rest: live, args, input, env })).toMatchObject({ code: 0, error: '' });
  const { output } = await runGateway({ rest: live, args: ['export'] });
  expect(output).toContain('destination: live');
});
