/**
 * Lets a provider and a receiver send hostile responses, one at a time, and measures how long each blocks the event loop.
 * The goal is 50 ms of CPU time in the loop's longest iteration, and 10 ms for each MiB of a longer response.
 */
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createHubspotProvider } from '../../../src/providers/hubspot/hubspot-provider.ts';
import { createTestApp, createTestDatabase } from '../../support/app.ts';
import { installCrm } from '../../support/fixtures/crm.ts';
import { LIST_RECORDS } from '../../support/fixtures/reads.ts';
import { ENCRYPTION_KEY } from '../../support/process/encryption-key.ts';
import { startHubspotServer } from '../../support/providers/hubspot-server.ts';
import { getDatabaseUrl, startGateway } from '../fixtures/gateway.ts';
import { createHostileTexts, MIB, toGoalMs } from './hostile-texts.ts';

/** After a longer stall, a load balancer may consider the process dead. */
const STALL_MS_MAX = 500;
/** The minimum of several measurements excludes garbage collections. */
const ROUND_COUNT = 3;
/** Slightly less than the limit for responses of HubSpot. */
const PAGE_BYTES = 15.9 * MIB;
const TARGETS = { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' };

/** The response to requests for records, or null for the server's own. */
let page: { status: number; body: string } | null = null;
const hubspot = await startHubspotServer({
  intercept: async (request, next) =>
    page && /\/contacts($|\/search$)/.test(request.path) ? page : next(request),
});
afterAll(() => hubspot[Symbol.asyncDispose]());

test('reads any page of a provider without blocking the event loop', async () => {
  const database = await createTestDatabase();
  const url = await getDatabaseUrl(database);
  const providers = [createHubspotProvider({ baseUrl: hubspot.url })];
  const app = await createTestApp({ database, providers, env: { ENCRYPTION_KEY, ...TARGETS } });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const read = { objects: [{ objectName: 'contacts', destination: 'records' }] };
  const { tenant, installationId } = await installCrm(app, 'hubspot', { content: { read } });
  await app.app.start();
  const gateway = await startGateway({
    ...{ DATABASE_URL: url, HUBSPOT_BASE_URL: hubspot.url, ROLES: 'api' },
    ...TARGETS,
  });

  const listRecords = async () => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': tenant.apiKey },
      body: JSON.stringify({
        query: LIST_RECORDS,
        variables: { id: installationId, objectName: 'contacts' },
      }),
    });
    return response.json();
  };
  const { data } = await listRecords();
  expect(data.node.records.nodes).toEqual([]);

  const stalls = [];
  for (const { name, text } of createHostileTexts(PAGE_BYTES)) {
    for (const [place, body, status] of [
      ['page', text, 200],
      ['results', `{"results":${text}}`, 200],
      ['properties', `{"results":[{"id":"1","properties":${text}}]}`, 200],
      ['error', `{"message":"x","errors":${text}}`, 400],
    ] as const) {
      page = { status, body };
      let stallMs = Number.POSITIVE_INFINITY;
      for (let round = 0; round < ROUND_COUNT; round += 1) {
        const stop = await gateway.watchTurns();
        await listRecords();
        stallMs = Math.min(stallMs, await stop());
      }
      stalls.push({ name: `${place}: ${name}`, bytes: body.length, stallMs });
    }
  }
  stalls.sort((a, b) => b.stallMs - a.stallMs);
  const overGoal = stalls.filter(({ bytes, stallMs }) => stallMs > toGoalMs(bytes));
  console.log(`${stalls.length} responses, ${overGoal.length} over the goal`);
  console.table(stalls);
  expect(stalls.filter(({ stallMs }) => stallMs > STALL_MS_MAX)).toEqual([]);
});
