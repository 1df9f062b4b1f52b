/**
 * Lets a provider, its token endpoint and a receiver send hostile responses, one at a time. None may use more than 50 ms of
 * CPU time in an iteration of the event loop, or 10 ms for each MiB of a longer response.
 */
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createHubspotProvider } from '../../../src/providers/hubspot/hubspot-provider.ts';
import { createTestApp, createTestDatabase } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { installCrm } from '../../support/fixtures/crm.ts';
import { LIST_RECORDS } from '../../support/fixtures/reads.ts';
import { createWebhook } from '../../support/fixtures/webhooks.ts';
import { createContact, WRITE_RECORDS } from '../../support/fixtures/writes.ts';
import { toGraphqlInput } from '../../support/inputs/graphql-input.ts';
import { ENCRYPTION_KEY } from '../../support/process/encryption-key.ts';
import { startHubspotServer } from '../../support/providers/hubspot-server.ts';
import { createProviderApp } from '../../support/providers/oauth.ts';
import { startReceiver } from '../../support/receiver.ts';
import { getDatabaseUrl, startGateway } from '../fixtures/gateway.ts';
import { createHostileTexts, MIB, toStallMsMax } from './hostile-texts.ts';
import { measureStall } from './measure-stall.ts';

/** Slightly less than the limit for responses of HubSpot. */
const PAGE_BYTES = 15.9 * MIB;
/** Slightly less than the limits of a token endpoint, and of a response that is recorded with its request. */
const RECORDED_BYTES = 250_000;
const RATE_LIMITS = { RATE_LIMIT_PER_SECOND: '1000000', RATE_LIMIT_BURST: '1000000' };
const TARGETS = { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' };
const SECRET = 'the secret that a receiver repeats';

const REFRESH = `mutation Refresh($input: RefreshConnectionInput!) {
  refreshConnection(input: $input) { connection { id } }
}`;
const SEND = `mutation Send($input: SendTestMessageInput!) {
  sendTestMessage(input: $input) { delivery { id } }
}`;
const ATTEMPTS = `query Attempts($id: ID!) {
  node(id: $id) { ... on Delivery { attempts { responseStatus } } }
}`;

interface HostileResponse {
  status: number;
  body: string;
}

/** The response to all requests for records, or for tokens. Null: the server's own. */
let served: HostileResponse | null = null;
const hubspot = await startHubspotServer({
  intercept: async (request, next) =>
    served && /\/(contacts|batch|search|token|create)($|\/)/.test(request.path)
      ? served
      : next(request),
});
const receiver = await startReceiver();
afterAll(async () => {
  await hubspot[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

async function startFixture() {
  const database = await createTestDatabase();
  const url = await getDatabaseUrl(database);
  const providers = [createHubspotProvider({ baseUrl: hubspot.url })];
  const app = await createTestApp({ database, providers, env: { ENCRYPTION_KEY, ...TARGETS } });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const content = {
    read: { objects: [{ objectName: 'contacts', destination: 'records' }] },
    write: { objects: [{ objectName: 'contacts' }] },
  };
  const { tenant, installationId } = await installCrm(app, 'hubspot', { content });
  await createProviderApp(tenant, { provider: 'hubspot' });
  const { id: connectionId } = await generateConnection(tenant, {
    provider: 'hubspot',
    groupRef: 'refreshing',
    oauth2AuthorizationCode: {
      accessToken: { token: 'an access token' },
      refreshToken: { token: 'a refresh token' },
      scopes: [],
    },
  });
  const name = `hook?token=${encodeURIComponent(SECRET)}`;
  const headers = { authorization: `Bearer ${SECRET}` };
  const { destinationId } = await createWebhook(tenant, {
    name: 'hook',
    url: receiver.getUrl(name),
    headers,
  });
  await app.app.start();
  const gateway = await startGateway({
    ...{ DATABASE_URL: url, HUBSPOT_BASE_URL: hubspot.url },
    ...{ ...TARGETS, ...RATE_LIMITS },
  });
  const query = async (text: string, variables: object) => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': tenant.apiKey },
      body: JSON.stringify({ query: text, variables }),
    });
    return response.json();
  };
  const { projectId: projectIdOrName } = tenant;
  return {
    gateway,
    listRecords: () => query(LIST_RECORDS, { id: installationId, objectName: 'contacts' }),
    writeBatch: () => query(WRITE_RECORDS, createBatch(projectIdOrName)),
    refresh: () => query(REFRESH, { input: { projectIdOrName, connectionId } }),
    async deliver(response: HostileResponse) {
      receiver.setBehavior(name, response);
      const { data } = await query(SEND, { input: { projectIdOrName, destinationId } });
      const { id } = data.sendTestMessage.delivery;
      const listAttempts = async () => (await query(ATTEMPTS, { id })).data.node.attempts;
      await expect.poll(listAttempts, { interval: 50 }).toHaveLength(1);
    },
  };
}

/** Returns a batch with thousands of values, which an error may repeat. */
function createBatch(projectIdOrName: string) {
  const fields = Array.from({ length: 70 }, (_, index) => [`field${index}`, `value ${index}`]);
  const batch = Array.from({ length: 100 }, (_, index) => ({
    record: {
      ...createContact(),
      ...Object.fromEntries(fields.map(([name, value]) => [name, `${index} ${value}`])),
    },
  }));
  const target = { integrationIdOrName: 'crm', groupRef: 'acme', objectName: 'contacts' };
  return { input: toGraphqlInput({ projectIdOrName, ...target, type: 'CREATE', batch }) };
}

/** Returns the forms in which each text is a response. */
function* listResponses(bytes: number): Generator<HostileResponse & { name: string }> {
  for (const { name, text } of createHostileTexts(bytes)) {
    yield { name: `page: ${name}`, status: 200, body: text };
    yield { name: `results: ${name}`, status: 200, body: `{"results":${text}}` };
    const page = `{"results":[{"id":"1","properties":${text}}]}`;
    yield { name: `properties: ${name}`, status: 200, body: page };
    yield { name: `error: ${name}`, status: 400, body: `{"message":"x","errors":${text}}` };
    yield { name: `message: ${name}`, status: 400, body: `{"error":"x","message":${text}}` };
  }
}

/** Returns texts that repeat the secret in encoded forms, or almost. */
function listRepetitions(): HostileResponse[] {
  const base64 = Buffer.from(SECRET).toString('base64');
  const texts = [SECRET, SECRET.slice(0, -1), base64, Buffer.from(SECRET).toString('hex'), 'a@'];
  return texts.map((text) => ({ status: 200, body: text.repeat(MIB / text.length) }));
}

test('processes any response of other servers without blocking the event loop', async () => {
  const fixture = await startFixture();
  const { gateway } = fixture;
  expect((await fixture.listRecords()).data.node.records).toMatchObject({ nodes: [] });
  expect((await fixture.writeBatch()).data.writeRecords).toMatchObject({ failureCount: 100 });

  const stalls: { name: string; bytes: number; stallMs: number }[] = [];
  const measure = async (name: string, body: string, work: () => Promise<unknown>) => {
    const stallMs = await measureStall(gateway, toStallMsMax(body.length), work);
    stalls.push({ name, bytes: body.length, stallMs });
  };
  for (const response of listResponses(PAGE_BYTES)) {
    served = response;
    await measure(`read, ${response.name}`, response.body, fixture.listRecords);
  }
  for (const response of listResponses(RECORDED_BYTES)) {
    served = response;
    await measure(`write, ${response.name}`, response.body, fixture.writeBatch);
    await measure(`token, ${response.name}`, response.body, fixture.refresh);
  }
  const receiverResponses = [...listResponses(MIB), ...listRepetitions()];
  for (const [index, response] of receiverResponses.entries()) {
    const name = 'name' in response ? response.name : `repetition ${index}`;
    await measure(`receiver, ${name}`, response.body, () => fixture.deliver(response));
  }
  stalls.sort((a, b) => b.stallMs - a.stallMs);
  console.log(`${stalls.length} responses`);
  console.table(stalls.slice(0, 40));
  expect(stalls.filter(({ bytes, stallMs }) => stallMs > toStallMsMax(bytes))).toEqual([]);
  // Each response has an outcome that names the provider's or the receiver's fault.
  expect(gateway.lines.filter(({ msg }) => msg === 'error.internal')).toEqual([]);
});
