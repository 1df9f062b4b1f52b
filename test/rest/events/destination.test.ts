import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { listIssueNames } from '../../support/graphql-client.ts';
import {
  createRestTenant,
  listIssuePositions,
  type RestTenant,
} from '../../support/rest/rest-client.ts';

const app = await getSharedApp();
const metadata = { url: 'https://example.com/hook', headers: { 'x-team': 'crm' } };
const maskedMetadata = { ...metadata, headers: { 'x-team': '***' } };

async function createDestination(rest: RestTenant, name = 'hooks') {
  return rest.post(`${rest.base}/destinations`, { name, type: 'webhook', metadata });
}

test('returns the signing secret on creation, and afterwards only with includeSecrets', async () => {
  const rest = await createRestTenant(app);
  const { secrets, ...createdDestination } = await createDestination(rest);
  expect(secrets).toEqual({ webhookSigningKey: expect.stringMatching(/^whsec_/) });
  expect(createdDestination).toMatchObject({
    name: 'hooks',
    type: 'webhook',
    metadata: maskedMetadata,
    status: 'enabled',
  });
  expect(await rest.get(`${rest.base}/destinations/hooks`)).toEqual(createdDestination);
  expect(await rest.get(`${rest.base}/destinations/${createdDestination.id}`)).toEqual(
    createdDestination,
  );
  expect(await rest.get(`${rest.base}/destinations`)).toEqual([createdDestination]);
  const withSecrets = await rest.get(`${rest.base}/destinations/hooks?includeSecrets=true`);
  expect(withSecrets).toEqual({ ...createdDestination, secrets: { ...secrets, ...metadata } });
});

test('returns secrets only with credentials:read', async () => {
  const rest = await createRestTenant(app);
  await createDestination(rest);
  const reader = await rest.withScopes('full');
  await reader.get(`${rest.base}/destinations/hooks`);
  const path = `${rest.base}/destinations/hooks?includeSecrets=true`;
  const refusal = await reader.expectRefusal('GET', path);
  expect(refusal.status).toBe(403);
  expect(refusal.detail).toContain('credentials:read');
});

test('returns a rotated secret only to callers who can change destinations', async () => {
  const rest = await createRestTenant(app);
  const { secrets } = await createDestination(rest);
  const path = `${rest.base}/destinations/hooks?rotate=true&includeSecrets=true`;
  const rotatedDestination = await rest.get(path);
  expect(rotatedDestination.secrets.webhookSigningKey).toMatch(/^whsec_/);
  expect(rotatedDestination.secrets).not.toEqual(secrets);
  const reader = await rest.withScopes('read');
  expect(await reader.expectRefusal('GET', path)).toMatchObject({ status: 403 });
});

test('changes the fields in the mask, including those of metadata', async () => {
  const rest = await createRestTenant(app);
  const { id } = await createDestination(rest);
  const path = `${rest.base}/destinations/${id}`;
  const url = 'https://example.com/other';
  const moved = await rest.patch(path, {
    updateMask: ['metadata.url'],
    destination: { name: 'ignored', metadata: { url, headers: {} } },
  });
  expect(moved).toMatchObject({ name: 'hooks', metadata: { ...maskedMetadata, url } });
  const bare = await rest.patch(path, {
    updateMask: ['metadata', 'status'],
    destination: { metadata: { url, headers: null }, status: 'disabled' },
  });
  expect(bare.metadata).toEqual({ url });
  expect(bare).toMatchObject({ status: 'disabled', disabledReason: expect.any(String) });
});

test('reports broken rules and invalid forms at their positions', async () => {
  const rest = await createRestTenant(app);
  const fetchIssues = async (body: unknown) =>
    listIssuePositions(await rest.expectRefusal('POST', `${rest.base}/destinations`, body));
  const http = { url: 'example.com', headers: {} };
  expect(await fetchIssues({ name: 'no spaces', type: 'webhook', metadata: http })).toEqual([
    'body name',
    'body metadata.url',
  ]);
  expect(await fetchIssues({ name: 'x', type: 'WEBHOOK', metadata: { uri: 1 } })).toEqual([
    'body type',
    'body metadata.uri',
  ]);
});

test("deletes a destination, and returns 404 for another tenant's", async () => {
  const [rest, otherTenant] = [await createRestTenant(app), await createRestTenant(app)];
  const { id } = await createDestination(rest);
  for (const base of [rest.base, otherTenant.base]) {
    expect(await otherTenant.expectRefusal('GET', `${base}/destinations/${id}`)).toMatchObject({
      status: 404,
    });
    expect(await otherTenant.expectRefusal('DELETE', `${base}/destinations/${id}`)).toMatchObject({
      status: 404,
    });
  }
  await rest.delete(`${rest.base}/destinations/${id}`);
  expect(await rest.expectRefusal('GET', `${rest.base}/destinations/hooks`)).toMatchObject({
    status: 404,
  });
});

test('refuses masked values in an update, and keeps the headers in keepHeaders', async () => {
  const rest = await createRestTenant(app);
  const { id } = await createDestination(rest);
  const path = `${rest.base}/destinations/${id}`;
  const createPatch = (metadata: object) => ({
    updateMask: Object.keys(metadata).map((name) => `metadata.${name}`),
    destination: { metadata },
  });
  const refusal = await rest.expectRefusal(
    'PATCH',
    path,
    createPatch({ headers: maskedMetadata.headers }),
  );
  expect([refusal.status, listIssueNames(refusal)]).toEqual([
    400,
    ['destination.metadata.headers.x-team'],
  ]);
  await rest.patch(path, createPatch({ headers: { 'x-a': '1' }, keepHeaders: ['x-team'] }));
  const { secrets } = await rest.get(`${path}?includeSecrets=true`);
  expect(secrets.headers).toEqual({ 'x-a': '1', 'x-team': 'crm' });
});
