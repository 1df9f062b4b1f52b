import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createTestApp } from '../../support/app.ts';

const LONG_NAME = 'a'.repeat(5_000);
const FOLDERS = ['/console/assets', '/console', '/docs/assets', '/docs', '/v1/docs/static'];
const NAMES = [
  '%00',
  'x%00.js',
  '..%2f..%2fpackage.json',
  '%2e%2e/%2e%2e/package.json',
  '../../package.json',
  '..%5c..%5cpackage.json',
  '....//package.json',
  '%252e%252e%252fpackage.json',
  '.env',
  '%ff',
  LONG_NAME,
  `${LONG_NAME}.js`,
  `${'a/'.repeat(2_500)}b.js`,
  '%5c%5chost%5cshare',
  'index.html/x.js',
];
const PREFIXES = [
  '',
  '/graphql',
  '/graphql/projects',
  '/mcp/projects',
  '/webhooks/sandbox',
  '/oauth/connect',
  '/oauth/callback',
  '/connect',
  '/sign-in',
  '/sign-in/callback',
  '/problems',
  '/.well-known',
  '/v1',
  '/v1/projects',
];

async function startApp() {
  const errorLines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void errorLines.push(line) });
  const app = await createTestApp({ log });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const { url } = await app.app.start();
  const { hostname, port } = new URL(url);
  return {
    errorLines,
    /** Sends the path as it is, because fetch would resolve `..`. */
    async send(path: string, { method = 'GET', headers = {}, body = '' } = {}) {
      const sending = request({ hostname, port, path, method, headers }).end(body);
      const [response] = (await once(sending, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
      return response.statusCode ?? 0;
    },
  };
}

test('refuses hostile paths of files with 400 or 404, and logs no error', async () => {
  const { send, errorLines } = await startApp();
  const failures: string[] = [];
  for (const folder of FOLDERS) {
    for (const name of NAMES) {
      for (const method of ['GET', 'HEAD']) {
        const status = await send(`${folder}/${name}`, { method });
        // Each path below /console, except those of files, returns the page of the console.
        const isPage = folder === '/console' && status === 200;
        if (!isPage && status !== 400 && status !== 404)
          failures.push(`${method} ${folder}/${name.slice(0, 40)}: ${status}`);
      }
    }
  }
  expect(failures).toEqual([]);
  expect(errorLines).toEqual([]);
});

test('refuses malformed requests on every surface with a status below 500', async () => {
  const { send, errorLines } = await startApp();
  const failures: string[] = [];
  const requests = [
    ...['GET', 'HEAD', 'OPTIONS'].map((method) => ({ method })),
    ...[
      '',
      'x',
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'text/plain; charset=',
    ].map((type) => ({ method: 'POST', headers: { 'content-type': type }, body: '--x--' })),
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' },
    { method: 'POST', headers: { 'content-encoding': 'gzip' }, body: 'x' },
    { method: 'GET', headers: { range: 'bytes=9999999-' } },
    { method: 'GET', headers: { 'if-match': '"none"' } },
  ];
  for (const prefix of [...FOLDERS, ...PREFIXES]) {
    for (const name of ['', '/%00', '/%2e%2e%2fx', `/${LONG_NAME}`, '/%ff']) {
      for (const options of requests) {
        const status = await send(`${prefix}${name}` || '/', options);
        if (status >= 500)
          failures.push(`${JSON.stringify(options)} ${prefix}${name.slice(0, 20)}: ${status}`);
      }
    }
  }
  expect(failures).toEqual([]);
  expect(errorLines).toEqual([]);
});

test('refuses an impossible range and a failed precondition of a file', async () => {
  const { send, errorLines } = await startApp();
  const file = '/console/assets/../../connect.js'.replace('/assets/../..', '');
  expect(await send('/v1/docs/static/logo.svg', { headers: { range: 'bytes=9999999-' } })).toBe(
    416,
  );
  expect(await send('/v1/docs/static/logo.svg', { headers: { 'if-match': '"none"' } })).toBe(412);
  expect(await send(file)).toBeLessThan(500);
  expect(errorLines).toEqual([]);
});
