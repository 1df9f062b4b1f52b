/**
 * Tests the command `receive` in a process.
 *
 * @module-tag all/process
 */
import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createSignatureHeaders, createSigningKey } from '../../src/deliveries/sign.ts';
import { createSigningSecret } from '../../src/deliveries/signing-secret.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';

const command = join(import.meta.dirname, '../../src/commands/receive.ts');

async function startReceiving(secret: string, secretSource: 'environment' | 'option' = 'option') {
  const options = secretSource === 'option' ? ['--secret', secret] : [];
  const env = { ...PROCESS_ENV, ...(secretSource === 'environment' && { SIGNING_SECRET: secret }) };
  const child = spawn(process.execPath, [command, ...options, '--port', '0'], { env });
  onTestFinished(() => void child.kill());
  const readLines = (stream: NodeJS.ReadableStream) =>
    createInterface({ input: stream })[Symbol.asyncIterator]();
  const [output, errors] = [readLines(child.stdout), readLines(child.stderr)];
  const { value: greeting } = await errors.next();
  const url = String(greeting).replace('Listening on ', '');
  return { url, readMessage: async () => JSON.parse(String((await output.next()).value)) };
}

test.each([
  'environment',
  'option',
] as const)('prints messages and whether their signature is valid, with the secret of the %s', async (secretSource) => {
  const secret = createSigningSecret();
  const { url, readMessage } = await startReceiving(secret, secretSource);
  const body = '{"notificationType":"connection.created","data":{}}';
  const message = { id: 'dlv_1', timestampSeconds: Math.floor(Date.now() / 1000), body };
  const sendSigned = async (signingSecret: string) => {
    const headers = createSignatureHeaders(message, [createSigningKey(signingSecret)]);
    const { status } = await fetch(url, { method: 'POST', headers, body });
    return { status, printed: await readMessage() };
  };
  expect(await sendSigned(secret)).toEqual({
    status: 204,
    printed: { id: 'dlv_1', verified: true, message: JSON.parse(body) },
  });
  expect(await sendSigned(createSigningSecret())).toMatchObject({
    status: 401,
    printed: { id: 'dlv_1', verified: false },
  });
});

test.each([
  [[], 'SIGNING_SECRET or --secret: must start with whsec_'],
  [['--secret', 'whsec_x', '--port', '70000'], '--port: must be a number from 0 to 65535'],
  [['--what'], 'Unknown option'],
])('refuses %j with the usage', async (args, problem) => {
  const running = promisify(execFile)(process.execPath, [command, ...args]);
  const failure: { code: number; stderr: string } = await running.then(
    () => expect.unreachable(),
    (error) => error,
  );
  expect(failure.code).toBe(1);
  expect(failure.stderr).toContain(problem);
  expect(failure.stderr).toContain('npm run receive');
});
