/** Refuses bytes that are not UTF-8, other charsets, and query strings that can't be decoded, on every surface. */
import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { openSocket } from '../../support/socket.ts';

const app = await getSharedApp({ env: { LOCAL_ISSUER_PASSWORD: 'a-long-password-for-tests' } });
const { url } = await app.app.start();
const tenant = await app.createTenant();
const headers = { 'x-api-key': tenant.apiKey };
const base = `/v1/projects/${tenant.projectId}`;
const APP = 'app_00000000000000000000000000';
const CREATE_TOPIC = JSON.stringify({
  query: 'mutation CreateTopic { createTopic(input: { name: "caf�" }) { topic { id } } }',
});

/** The JSON of a request for each surface. `�` marks the position of the tested bytes. */
const BODIES: [path: string, method: string, text: string][] = [
  [`${base}/topics`, 'POST', '{"name":"caf�"}'],
  ['/graphql', 'POST', CREATE_TOPIC],
  [`/graphql/projects/${tenant.projectId}`, 'POST', '{"query":"{ _contract } # �"}'],
  [`/mcp/projects/${tenant.projectId}`, 'POST', '{"jsonrpc":"2.0","id":1,"method":"�"}'],
  [`/webhooks/sandbox/${APP}`, 'POST', '{"events":["�"]}'],
  ['/sign-in/local', 'POST', '{"email":"a@example.test","name":"�","password":"x"}'],
];

function send(path: string, method: string, body: Buffer, type = 'application/json') {
  return fetch(`${url}${path}`, {
    method,
    headers: { ...headers, 'content-type': type },
    body: body as Buffer<ArrayBuffer>,
  });
}

/** Puts a byte that is `é` in ISO 8859-1, and invalid in UTF-8, at the mark. */
const toLatin1 = (text: string) => Buffer.from(text.replace('�', 'é'), 'latin1');

test.each(BODIES)('refuses bytes that are not UTF-8 at %s', async (path, method, text) => {
  const response = await send(path, method, toLatin1(text));
  expect([path, response.status]).toEqual([path, 400]);
  expect(await response.text()).toContain('The body is not UTF-8.');
});

test.each(BODIES)('refuses another charset at %s', async (path, method, text) => {
  for (const charset of ['iso-8859-1', '"UTF-16"', 'windows-1252']) {
    const response = await send(
      path,
      method,
      toLatin1(text),
      `application/json; charset=${charset}`,
    );
    expect([path, charset, response.status]).toEqual([path, charset, 415]);
  }
});

test('accepts the charset utf-8 in every spelling', async () => {
  for (const charset of ['utf-8', 'UTF-8', '"utf-8"', 'utf8']) {
    const body = Buffer.from('{"query":"{ viewer { kind } } # é"}');
    const response = await send('/graphql', 'POST', body, `application/json;charset=${charset}`);
    expect([charset, await response.json()]).toEqual([
      charset,
      { data: { viewer: { kind: 'API_KEY' } } },
    ]);
  }
});

test('closes a WebSocket whose message is not UTF-8', async () => {
  const { socket } = await openSocket(url);
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  socket.send(Buffer.from('{"type":"caf\xe9"}', 'latin1'), { binary: false });
  expect(await closed).toBe(1007);
});

test.each(['%zz', '%', '%ff', 'a%C3'])('refuses the query value %s', async (value) => {
  const response = await fetch(`${url}${base}/topic-destination-routes?topicId=${value}`, {
    headers,
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    issues: [{ in: 'query', name: 'topicId', detail: 'must be percent-encoded UTF-8.' }],
  });
  const query = encodeURIComponent('{ viewer { kind } }');
  const graphql = await fetch(`${url}/graphql?query=${query}&operationName=${value}`, { headers });
  expect([graphql.status, (await graphql.json()).errors]).toMatchObject([
    400,
    [{ extensions: { code: 'BAD_USER_INPUT' } }],
  ]);
});
