import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import { createDocument, createProvider } from '../../../support/inputs/custom-providers.ts';
import { startProviderServer } from '../../../support/providers/provider-server.ts';

const app = await getSharedApp({ env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });

test('reads a page of each object of a connection, and counts as 20 further requests', async () => {
  await using vendor = await startProviderServer(() => ({
    status: 200,
    body: { data: [{ id: '1', title: 'Private' }] },
  }));
  const tenant = await app.createTenant();
  await createProvider(tenant, createDocument(vendor.url));
  const connection = await generateConnection(tenant, { provider: 'x-acme', apiKey: 'secret-key' });
  const path = `/v1/projects/${tenant.projectId}/connections/${connection.id}:test`;
  const headers = { 'x-api-key': tenant.apiKey, 'content-type': 'application/json' };
  const send = (body: object) =>
    app.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  const response = await send({ objectName: 'notes' });
  expect(response.status).toBe(200);
  const object = { objectName: 'notes', recordCount: 1, sample: { id: '***', title: '***' } };
  expect(await response.json()).toMatchObject({
    objects: [{ ...object, requests: [{ kind: 'api', path: '/notes', responseStatus: 200 }] }],
    untestedObjects: [],
  });
  const remaining = async (sent: Promise<Response>) =>
    Number(/r=(\d+)/.exec((await sent).headers.get('ratelimit') ?? '')?.[1]);
  const before = await remaining(app.fetch('/v1/providers/x-acme', { headers }));
  expect(before - (await remaining(send({})))).toBeGreaterThan(15);
  const refusal = await send({ objectName: 'people' });
  expect(refusal.status).toBe(400);
  expect(JSON.stringify(await refusal.json())).toContain('is not an object of Acme');
});
