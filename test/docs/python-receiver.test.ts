/**
 * Runs the receiver in Python of docs/webhooks.md, which commands.test.ts can't run on machines without Python.
 *
 * @module-tag all/process
 */
import { spawn, spawnSync } from 'node:child_process';
import { createSecretKey, randomBytes } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createSignatureHeaders } from '../../src/deliveries/sign.ts';
import { findFreePort } from '../support/process/free-port.ts';
import { CODE_BLOCKS } from './code-blocks.ts';

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('The receiver in Python is not tested: python3 is not installed.');

test.skipIf(!hasPython)('verifies messages in Python as docs/webhooks.md describes', async () => {
  const secret = randomBytes(32);
  const port = await findFreePort();
  const script = CODE_BLOCKS.find(({ language }) => language === 'python')?.text ?? '';
  const receiver = spawn('python3', ['-c', script.replace('4101', String(port))], {
    env: { PATH: process.env.PATH, WEBHOOK_SECRET: `whsec_${secret.toString('base64')}` },
    stdio: 'ignore',
  });
  onTestFinished(() => void receiver.kill());
  const body = '{"notificationType":"test.message","data":{"name":"Größe"}}';
  const sign = (timestampSeconds: number) =>
    createSignatureHeaders({ id: 'dlv_1', timestampSeconds, body }, [createSecretKey(secret)]);
  const post = async (headers: Record<string, string>, text = body) =>
    (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: text })).status;
  const nowSeconds = Math.floor(Date.now() / 1000);
  const headers = sign(nowSeconds);
  await vi.waitFor(async () => expect(await post(headers)).toBe(204), { timeout: 30_000 });
  const otherSignature = `v1,${randomBytes(32).toString('base64')}`;
  const rotated = `${otherSignature} ${headers['webhook-signature']}`;
  expect(await post({ ...headers, 'webhook-signature': rotated })).toBe(204);
  expect(await post({ ...headers, 'webhook-signature': otherSignature })).toBe(401);
  expect(await post(headers, `${body} `)).toBe(401);
  expect(await post(sign(nowSeconds - 600))).toBe(401);
  expect(await post({})).toBe(401);
});
