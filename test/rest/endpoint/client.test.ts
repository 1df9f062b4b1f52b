/**
 * A typed client that public tools generate from the OpenAPI document walks the main path over a real port.
 *
 * @module-tag all/walk
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'gateway-client-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const app = await getSharedApp();

/** The generator needs the compiler's JavaScript API, which this repository's compiler does not have. */
const WITH_COMPILER = `
import { registerHooks } from 'node:module';
registerHooks({
  resolve: (name, context, next) =>
    name === 'typescript' ? { url: 'compiler:', shortCircuit: true } : next(name, context),
  load: (url, context, next) =>
    url === 'compiler:'
      ? { format: 'module', shortCircuit: true, source: 'export { ts as default } from "COMMON"' }
      : next(url, context),
});
`;

/** The compiler checks this program against the generated types before it runs. */
const CLIENT_PROGRAM = `
import createClient from 'openapi-fetch';
import type { paths } from './schema.ts';

export interface Start { baseUrl: string; token: string; orgId: string; name: string }

function unwrap<T>({ data, error }: { data?: T; error?: unknown }): NonNullable<T> {
  if (data == null) throw new Error(JSON.stringify(error));
  return data;
}

export async function flow({ baseUrl, token, orgId, name }: Start) {
  const builder = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });
  const project = unwrap(
    await builder.POST('/projects', { body: { name, appName: 'Flow', orgId } }),
  );
  const projectIdOrName: string = project.id;
  const path = { projectIdOrName };
  const { key } = unwrap(
    await builder.POST('/projects/{projectIdOrName}/api-keys', {
      params: { path },
      body: { label: 'flow', scopes: ['full'] },
    }),
  );
  const client = createClient<paths>({ baseUrl, headers: { 'x-api-key': key } });
  unwrap(
    await client.POST('/projects/{projectIdOrName}/provider-apps', {
      params: { path },
      body: { provider: 'hubspot', clientId: 'id', clientSecret: 'secret' },
    }),
  );
  const connection = unwrap(
    await client.POST('/projects/{projectIdOrName}/connections:generate', {
      params: { path },
      body: { provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann', apiKey: 'sandbox-key' },
    }),
  );
  const content = {
    name: 'crm',
    provider: 'sandbox',
    write: { objects: [{ objectName: 'contacts' }] },
  };
  const integration = await client.POST('/projects/{projectIdOrName}/integrations', {
    params: { path },
    body: {
      name: 'crm',
      provider: 'sandbox',
      latestRevision: { specVersion: '1.0.0', content },
    },
  });
  const integrationPath = { ...path, integrationId: 'crm' };
  const installation = unwrap(
    await client.POST('/projects/{projectIdOrName}/integrations/{integrationId}/installations', {
      params: { path: integrationPath },
      body: { groupRef: 'acme' },
    }),
  );
  const write = (record: Record<string, unknown>) =>
    client.POST('/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}', {
      params: {
        path: { ...integrationPath, objectName: 'contacts' },
        header: { 'idempotency-key': JSON.stringify(record) },
      },
      body: { groupRef: 'acme', type: 'create', mode: 'synchronous', record },
    });
  const written = unwrap(await write({ email: 'flow@example.com' }));
  const refused = await write({ lastname: 'No email' });
  const operations = unwrap(
    await client.GET(
      '/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}/operations',
      {
        params: {
          path: { ...integrationPath, installationId: installation.id },
          query: { pageSize: 10, status: 'success' },
        },
      },
    ),
  );
  const logs = unwrap(
    await client.GET('/projects/{projectIdOrName}/operations/{operationId}/logs', {
      params: { path: { ...path, operationId: written.operationId } },
    }),
  );
  return {
    connectionOf: [installation.connection.id, connection.id],
    integrationStatus: integration.response.status,
    recordId: written.result?.recordId,
    refusedStatus: refused.response.status,
    results: operations.results.map(({ id, status }) => ({ id, status })),
    written: { id: written.operationId, status: 'success' },
    messages: logs.map(({ message }) => message.msg),
  };
}
`;

const execute = promisify(execFile);

test('creates a project, connects, installs, writes and reads with a generated client', async () => {
  const tenant = await app.createTenant();
  const document = await app.fetch('/v1/openapi.json');
  const baseUrl = document.url.replace('/openapi.json', '');
  writeFileSync(join(folder, 'openapi.json'), await document.text());
  const common = import.meta.resolve('@ts-morph/common');
  writeFileSync(join(folder, 'compiler.mjs'), WITH_COMPILER.replace('COMMON', common));
  writeFileSync(join(folder, 'flow.ts'), CLIENT_PROGRAM);
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const generator = join(ROOT, 'node_modules', 'openapi-typescript', 'bin', 'cli.js');
  const args = ['--import', './compiler.mjs', generator, 'openapi.json', '-o', 'schema.ts'];
  await execute(process.execPath, args, { cwd: folder });
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = '--noEmit --strict --module nodenext --target esnext --skipLibCheck --types node';
  const check = [tsc, ...options.split(' '), '--allowImportingTsExtensions', 'flow.ts'];
  await execute(process.execPath, check, { cwd: folder }).catch((error) => {
    throw new Error(error.stdout);
  });

  const { flow } = await import(join(folder, 'flow.ts'));
  const { token, orgId } = tenant;
  const result = await flow({ baseUrl, token, orgId, name: `flow-${crypto.randomUUID()}` });
  expect(result.connectionOf[0]).toBe(result.connectionOf[1]);
  expect(result).toMatchObject({
    integrationStatus: 201,
    recordId: expect.any(String),
    refusedStatus: 422,
    results: [result.written],
  });
  expect(result.messages.length).toBeGreaterThan(0);
}, 120_000);
