/** Tests that a message is refused by its size before the SDK validates it, and that each refusal is small. */
import { expect, test } from 'vitest';
import { createAgent } from '../../support/fixtures/agents.ts';
import { createPeopleTenant, startTypedApi } from '../../support/fixtures/typed-api.ts';
import { connectMcp, postMcp, REVISION, requestMcp } from '../../support/mcp/mcp-client.ts';
import { stopRates } from '../../support/process/rates.ts';

const app = await startTypedApi();
const limited = await startTypedApi({ RATE_LIMIT_PER_SECOND: '100', RATE_LIMIT_BURST: '200' });
const tenant = await createPeopleTenant(app);
const agent = await createAgent(app, tenant);
const REFUSAL_BYTES_MAX = 4_096;

const post = async (body: string, headers: Record<string, string> = {}) => {
  const caller = { ...agent, headers: { ...agent.headers, ...headers } };
  const response = await postMcp(app, caller, body);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
};

const createInitialize = (icons: unknown[], id: unknown = 1) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1', icons },
    },
  });

const createItems = (count: number) => Array.from({ length: count }, () => ({}));

test.each([
  ['1,001 items', createItems(1_001)],
  ['members of an object', [Object.fromEntries(createItems(1_001).entries())]],
  ['nested lists', [JSON.parse('['.repeat(1_001) + ']'.repeat(1_001))]],
])('refuses a message with too many values: %s', async (_, icons) => {
  const { status, text } = await post(createInitialize(icons));
  expect(status).toBe(400);
  expect(JSON.parse(text)).toMatchObject({
    issues: [{ name: 'body', detail: expect.stringMatching(/^must have at most 1,000 /) }],
  });
});

test('refuses a message of more than 256 KiB', async () => {
  expect((await post(createInitialize(['x'.repeat(256 * 1024)]))).status).toBe(413);
});

test('accepts a message with hundreds of values', async () => {
  const icons = Array.from({ length: 200 }, () => ({ src: 'https://app.example/icon.png' }));
  expect(await post(createInitialize(icons))).toMatchObject({ status: 200 });
});

test('refuses a batch and a long id', async () => {
  for (const body of [`[${createInitialize([])}]`, createInitialize([], 'x'.repeat(300))]) {
    const { status, text } = await post(body);
    expect(status).toBe(400);
    expect(JSON.parse(text).issues).toMatchObject([{ name: body.startsWith('[') ? 'body' : 'id' }]);
  }
});

const LONG_TEXT = 'x"\u0001é'.repeat(20_000);

test.each([
  ['an invalid list', createInitialize(createItems(900))],
  ['a long method', JSON.stringify({ jsonrpc: '2.0', id: 1, method: LONG_TEXT })],
  [
    'a long name of a tool',
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: LONG_TEXT } }),
  ],
  ['long member', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', [LONG_TEXT]: 1 })],
])('shortens the refusal of %s', async (_, body) => {
  const revisions: Record<string, string>[] = [{}, { 'mcp-protocol-version': REVISION }];
  for (const headers of revisions) {
    const { text } = await post(body, headers);
    expect(Buffer.byteLength(text)).toBeLessThan(REFUSAL_BYTES_MAX);
    expect(text).toContain('"error"');
  }
});

test.each([
  ['unknown arguments', Object.fromEntries(createItems(900).entries())],
  ['an unknown object', { objectName: LONG_TEXT }],
  ['unknown fields', { objectName: 'people', fields: Array(900).fill('é'.repeat(100)) }],
  ['an unstorable text', { objectName: 'people', [`\0${LONG_TEXT}`]: 1 }],
])('shortens the error of a tool about %s', async (_, args) => {
  const { result } = await requestMcp(app, agent, 'tools/call', {
    name: 'read_records',
    arguments: args,
  });
  expect(result.isError).toBe(true);
  expect(result.structuredContent.code).toMatch(/BAD_USER_INPUT|NOT_FOUND/);
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(REFUSAL_BYTES_MAX);
});

test('counts each 4 KiB of a message as a request', async () => {
  stopRates();
  const limitedTenant = await createPeopleTenant(limited);
  const caller = await createAgent(limited, limitedTenant);
  const { call } = await connectMcp(limited, caller, 'legacy');
  const readRemaining = async (body: string) => {
    const { headers } = await postMcp(limited, caller, body);
    return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
  };
  await call('search_objects');
  const small = await readRemaining(createInitialize([]));
  expect(await readRemaining(createInitialize(['x'.repeat(10 * 4_096)]))).toBe(small - 11);
});
