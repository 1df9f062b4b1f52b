/**
 * Tests the command that mints tokens, in a process.
 *
 * @module-tag all/process
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { getSharedApp } from '../support/app.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';

const app = await getSharedApp();
const command = join(import.meta.dirname, '../../src/commands/mint-token.ts');

/** Runs the command on the data folder of the running app. */
async function mintToken(args: string[], env: Record<string, string> = {}) {
  const { DATA_DIR } = app.app.services.config;
  const running = promisify(execFile)(process.execPath, [command, ...args], {
    env: { ...PROCESS_ENV, DATA_DIR, ...env },
  });
  return running.then(
    ({ stdout }) => ({ token: stdout.trim(), refusal: null }),
    (error: { stderr: string }) => ({ token: null, refusal: error.stderr }),
  );
}

test('mints a token that a running server accepts', async () => {
  const { token } = await mintToken([
    '--email',
    'Ada@Example.com',
    '--name',
    'Ada',
    '--sub',
    'ada',
  ]);
  const client = app.createClient({ authorization: `Bearer ${token}` });
  expect(await client.query('{ viewer { builder { idpRef fullName primaryEmail } } }')).toEqual({
    viewer: { builder: { idpRef: 'ada', fullName: 'Ada', primaryEmail: 'ada@example.com' } },
  });
});

test('uses the email address as the subject by default', async () => {
  const { token } = await mintToken(['--email', 'eve@example.com']);
  const client = app.createClient({ authorization: `Bearer ${token}` });
  expect(await client.query('{ viewer { builder { idpRef fullName } } }')).toEqual({
    viewer: { builder: { idpRef: 'eve@example.com', fullName: null } },
  });
});

test('refuses to mint a token if another issuer is configured', async () => {
  const { refusal } = await mintToken(['--email', 'ada@example.com'], {
    BEARER_ISSUER: 'https://issuer.test',
    BEARER_JWKS_URL: 'https://issuer.test/jwks',
  });
  expect(refusal).toContain('BEARER_ISSUER is configured');
});

test('reports every invalid option with the usage', async () => {
  const { refusal } = await mintToken(['--email', 'ada', '--name', ' ']);
  expect(refusal).toContain('--email: must be an email address');
  expect(refusal).toContain('--name: ');
  expect(refusal).toContain('Usage: npm run token');
  expect((await mintToken(['--mail', 'ada@example.com'])).refusal).toContain(
    "Unknown option '--mail'",
  );
});
