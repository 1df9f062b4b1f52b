/**
 * Requests large results, which LIMIT_COST admits, over four transports, 16 at the same time. No iteration of the event
 * loop may use more than 50 ms of CPU time, although completing and serializing one result takes longer.
 */
import { expect, onTestFinished, test } from 'vitest';
import { createTestApp, createTestDatabase } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';
import { openSocket } from '../../support/socket.ts';
import { getDatabaseUrl, startGateway } from '../fixtures/gateway.ts';
import { toStallMsMax } from './hostile-texts.ts';
import { measureStall } from './measure-stall.ts';

/** LIMIT_HEAVY lets one heavy operation of each of two callers run at the same time. */
const CALLER_COUNT = 2;
const REQUESTS_PER_TRANSPORT = 2;
const PAGE_SIZE = 1_000;
/** The default of LIMIT_ALIASES. */
const PAGE_COUNT = 30;
const RESULT_CHARACTERS = 1_000;

const PAGES = Array.from(
  { length: PAGE_COUNT },
  (_, index) => `page${index}: operations(first: ${PAGE_SIZE}) { edges { node { id result } } }`,
);
const QUERY = `query Pages { viewer { project { ${PAGES.join(' ')} } } }`;

/** The requests must neither be refused nor time out. */
const LIMITS = {
  ...{ RATE_LIMIT_PER_SECOND: '1000000', RATE_LIMIT_BURST: '1000000' },
  ...{ LIMIT_TURN_MS: '600000', LIMIT_QUERY_MS: '600000' },
};

/** Sends the query over one transport. Returns the text of the response. */
type Send = (url: string, apiKey: string) => Promise<string>;

async function readText(url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, init);
  return response.text();
}

function createPost(headers: Record<string, string>): Send {
  return (url, apiKey) =>
    readText(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey, ...headers },
      body: JSON.stringify({ query: QUERY }),
    });
}

const TRANSPORTS: Send[] = [
  // The cost is an extension of the result.
  createPost({ 'x-query-cost': '1' }),
  (url, apiKey) =>
    readText(`${url}/graphql?${new URLSearchParams({ query: QUERY })}`, {
      headers: { accept: 'application/json', 'x-api-key': apiKey },
    }),
  createPost({ accept: 'text/event-stream' }),
  async (url, apiKey) => {
    const { socket, send, next } = await openSocket(url, { parse: String });
    send({ type: 'connection_init', payload: { 'x-api-key': apiKey } });
    await next();
    send({ id: 'pages', type: 'subscribe', payload: { query: QUERY } });
    const text = await next();
    socket.close();
    return text;
  },
];

test('sends large results over each transport without blocking the event loop', async () => {
  const database = await createTestDatabase();
  const url = await getDatabaseUrl(database);
  const app = await createTestApp({ database });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const apiKeys: string[] = [];
  for (let caller = 0; caller < CALLER_COUNT; caller += 1) {
    const { projectId, apiKey } = await app.createTenant();
    const row = { projectId, result: 'a'.repeat(RESULT_CHARACTERS) };
    await insertRows(app).operations(Array.from({ length: PAGE_SIZE }, () => row));
    apiKeys.push(apiKey);
  }
  const gateway = await startGateway({ DATABASE_URL: url, ROLES: 'api', ...LIMITS });
  const countNodes = async (send: Send, apiKey: string) => {
    const text = await send(gateway.url, apiKey);
    return text.split('"node"').length - 1;
  };
  const sends = Array.from({ length: REQUESTS_PER_TRANSPORT }, () => TRANSPORTS).flat();
  const sendAll = async () => {
    const requests = apiKeys.flatMap((apiKey) => sends.map((send) => countNodes(send, apiKey)));
    expect(new Set(await Promise.all(requests))).toEqual(new Set([PAGE_COUNT * PAGE_SIZE]));
  };
  const stallMsMax = toStallMsMax(0);
  const stallMs = await measureStall(gateway, stallMsMax, sendAll);
  console.log(`The longest iteration took ${stallMs} ms.`);
  expect(stallMs).toBeLessThanOrEqual(stallMsMax);
});
