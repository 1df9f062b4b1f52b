/** The parameter `paginate`, with which the proxy returns a provider's list as one stream of records. */
import { afterAll, expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import { stripe } from '../../../../src/providers/declared/commerce/stripe.ts';
import { gitlab } from '../../../../src/providers/declared/work/gitlab.ts';
import { linear } from '../../../../src/providers/declared/work/linear.ts';
import { notion } from '../../../../src/providers/declared/work/notion.ts';
import { getSharedApp } from '../../../support/app.ts';
import { startProviderServer } from '../../../support/providers/provider-server.ts';
import {
  createCrmProvider,
  installProxy,
  startRawClient,
} from '../../../support/rest/proxy-installation.ts';
import { startVendorServer } from '../../../support/wire/vendor-server.ts';
import { stripe as stripeWire } from '../../../support/wire/vendors/commerce/stripe-wire.ts';
import { gitlab as gitlabWire } from '../../../support/wire/vendors/work/gitlab-wire.ts';
import { linear as linearWire } from '../../../support/wire/vendors/work/linear-wire.ts';
import { TOKEN } from '../../../support/wire/wire-format.ts';

const [stripeServer, gitlabServer, linearServer] = [
  await startVendorServer(stripeWire.fixture),
  await startVendorServer({ ...gitlabWire.fixture, headers: {} }),
  await startVendorServer(linearWire.fixture),
];
/** The type of `request_status` of each page. The vendor returns `incomplete` at its limit. */
let notionStatus = 'complete';
const notionServer = await startProviderServer(({ path }) => ({
  status: 200,
  body: path.endsWith('/query')
    ? {
        results: [{ id: 'p1', name: 'only' }],
        has_more: false,
        next_cursor: null,
        request_status: { type: notionStatus },
      }
    : {},
}));
const apiKey = { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' } as const;
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [
    createDeclarativeProvider({ ...stripe, baseUrl: stripeServer.url }),
    createDeclarativeProvider({
      ...gitlab,
      baseUrl: gitlabServer.url,
      authSchemes: ['API_KEY'],
      apiKey,
      custom: undefined,
    }),
    createDeclarativeProvider({
      ...linear,
      baseUrl: linearServer.url,
      authSchemes: ['API_KEY'],
      apiKey,
      limits: {},
    }),
    createDeclarativeProvider({
      ...notion,
      baseUrl: notionServer.url,
      authSchemes: ['API_KEY'],
      apiKey,
    }),
    createCrmProvider(`${stripeServer.url}/v1`),
  ],
});
const rawClient = await startRawClient(app);
afterAll(async () => {
  await rawClient[Symbol.asyncDispose]();
  await stripeServer[Symbol.asyncDispose]();
  await gitlabServer[Symbol.asyncDispose]();
  await linearServer[Symbol.asyncDispose]();
  await notionServer[Symbol.asyncDispose]();
});

for (let index = 0; index < 250; index++) {
  stripeServer.store.create({ name: `c${index}` }, new Date());
  gitlabServer.store.create({ name: `p${index}` }, new Date());
}

async function createProxy(provider: string) {
  const tenant = await app.createTenant();
  const { path } = await installProxy(app, tenant, { provider, apiKey: TOKEN });
  const headers = { 'x-api-key': tenant.apiKey };
  const sendProxied = (target: string) => rawClient.send(`${path}${target}`, { headers });
  const post = (target: string, body: unknown) =>
    rawClient.send(`${path}${target}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return { sendProxied, post };
}

const listNames = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).name);

test('returns all pages as one stream, by the last id', async () => {
  const { sendProxied } = await createProxy('stripe');
  const requestCount = stripeServer.requests.length;
  const response = await sendProxied('/v1/customers?paginate=true');
  expect(response).toMatchObject({
    status: 200,
    headers: { 'content-type': 'application/x-ndjson' },
  });
  expect(listNames(response.text)).toEqual(Array.from({ length: 250 }, (_, index) => `c${index}`));
  const queries = stripeServer.requests
    .slice(requestCount)
    .map(({ query }) => Object.fromEntries(query));
  expect(queries).toHaveLength(3);
  expect(queries.every((query) => query.limit === '100' && !('paginate' in query))).toBe(true);
});

test("keeps the caller's page size and other parameters, and follows Link headers", async () => {
  const { sendProxied } = await createProxy('gitlab');
  const response = await sendProxied('/api/v4/projects?paginate=true&per_page=40&membership=true');
  expect(listNames(response.text)).toHaveLength(250);
  const lastRequest = gitlabServer.requests.at(-1);
  expect(Object.fromEntries(lastRequest?.query ?? [])).toMatchObject({
    per_page: '40',
    membership: 'true',
  });
});

test('sends a GraphQL query for each page, with its cursor', async () => {
  const { post } = await createProxy('linear');
  for (let index = 0; index < 5; index++)
    linearServer.store.create({ title: `i${index}` }, new Date());
  const query = `query ListIssues($first: Int, $after: String) {
    issues(first: $first, after: $after) { nodes { id title } pageInfo { hasNextPage endCursor } } }`;
  const response = await post('?paginate=true', { query, variables: { first: 2 } });
  const titles = response.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).title);
  expect(titles).toEqual(['i0', 'i1', 'i2', 'i3', 'i4']);
  // The health check has no variables.
  const sentVariables = linearServer.requests.flatMap(
    ({ body }) => (body as { variables?: object }).variables ?? [],
  );
  expect(sentVariables).toEqual([
    { first: 2 },
    { first: 2, after: 'c_2' },
    { first: 2, after: 'c_4' },
  ]);
  // Without the variable each page would be the first, and a mutation would be repeated.
  const requestCount = linearServer.requests.length;
  for (const text of [
    '{ issues { nodes { id } } }',
    'mutation IssueDelete($after: String) { issueDelete }',
  ]) {
    expect((await post('?paginate=true', { query: text })).status).toBe(422);
  }
  expect((await post('?paginate=true', 'no object')).status).toBe(422);
  expect(linearServer.requests).toHaveLength(requestCount);
});

test("retries a page after the provider's Retry-After", async () => {
  const { sendProxied } = await createProxy('stripe');
  stripeServer.failNext({ status: 429, headers: { 'retry-after': '0' }, body: {} });
  expect(listNames((await sendProxied('/v1/customers?paginate=true')).text)).toHaveLength(250);
});

test('returns 422 for a response that is not a list, and for a refused first page', async () => {
  const { sendProxied } = await createProxy('stripe');
  expect((await sendProxied('/v1/customers/cus_1?paginate=true')).status).toBe(422);
  stripeServer.failNext({ status: 403, body: { error: { message: 'no' } } });
  expect((await sendProxied('/v1/customers?paginate=true')).status).toBe(422);
});

test('aborts a stream if a later page fails', async () => {
  const { sendProxied } = await createProxy('stripe');
  const [customer] = stripeServer.store.records;
  const page = { object: 'list', has_more: true, data: [{ id: customer?.id, name: 'c0' }] };
  stripeServer.failNext({ status: 200, body: page });
  stripeServer.failNext({ status: 500, body: {} });
  const response = sendProxied('/v1/customers?paginate=true');
  await expect(response).rejects.toThrow(/aborted|terminated|hang up/i);
});

test('aborts a stream if the provider omits records beyond its limit', async () => {
  const { post } = await createProxy('notion');
  const query = () => post('/v1/data_sources/d1/query?paginate=true', { page_size: 100 });
  expect(listNames((await query()).text)).toEqual(['only']);
  notionStatus = 'incomplete';
  await expect(query()).rejects.toThrow(/aborted|terminated|hang up/i);
});

test("forwards the parameter if the provider's lists are not declared", async () => {
  const { sendProxied } = await createProxy('crm');
  await sendProxied('/customers?paginate=true');
  expect(stripeServer.requests.at(-1)?.query.get('paginate')).toBe('true');
});
