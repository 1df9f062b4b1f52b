import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import {
  createRestClient,
  createRestTenant,
  listIssuePositions,
} from '../../../support/rest/rest-client.ts';

const app = await getSharedApp();

test("returns a key's value on creation only, and later its prefix", async () => {
  const rest = await createRestTenant(app);
  const path = `${rest.base}/api-keys`;
  const createdKey = await rest.post(path, { label: 'ci', scopes: ['read'] });
  expect(createdKey).toMatchObject({ label: 'ci', scopes: ['read'], active: true });
  expect(createdKey.projectId).toBe(rest.tenant.projectId);
  await createRestClient(app, { 'x-api-key': createdKey.key }).get(rest.base);

  const keyWithPrefix = await rest.get(`${path}/${createdKey.id}`);
  expect(keyWithPrefix).toMatchObject({ id: createdKey.id, key: createdKey.key.slice(0, 10) });
  expect(await rest.get(`${path}/${createdKey.key}`)).toEqual(keyWithPrefix);
  const responses = JSON.stringify([keyWithPrefix, await rest.get(path)]);
  expect(responses).not.toContain(createdKey.key);
  expect(responses).not.toContain('hash');
});

test('updates only the fields in the mask', async () => {
  const rest = await createRestTenant(app);
  const { id } = await rest.post(`${rest.base}/api-keys`, { label: 'ci', scopes: ['read'] });
  const changed = await rest.patch(`${rest.base}/api-keys/${id}`, {
    updateMask: ['label', 'active'],
    apiKey: { label: 'build', active: false, scopes: ['full'], projectId: 'ignored' },
  });
  expect(changed).toMatchObject({ label: 'build', active: false, scopes: ['read'] });
  expect(await rest.get(`${rest.base}/api-keys?active=false`)).toEqual([changed]);
});

test('refuses invalid masks, and reports the position of each issue', async () => {
  const rest = await createRestTenant(app);
  const { id } = await rest.post(`${rest.base}/api-keys`, { label: 'ci' });
  const fetchIssues = async (body: unknown) =>
    listIssuePositions(await rest.expectRefusal('PATCH', `${rest.base}/api-keys/${id}`, body));
  expect(await fetchIssues({ updateMask: ['label'], apiKey: {} })).toEqual(['body apiKey.label']);
  expect(await fetchIssues({ updateMask: ['key'], apiKey: {} })).toEqual(['body updateMask[0]']);
  expect(await fetchIssues({ updateMask: [], apiKey: {} })).toEqual(['body updateMask']);
  expect(await fetchIssues({ apiKey: { label: 'x' } })).toEqual(['body updateMask']);
  expect(
    await fetchIssues({ updateMask: ['label', 'scopes'], apiKey: { label: '', scopes: ['x'] } }),
  ).toEqual(['body apiKey.scopes[0]', 'body apiKey.label']);
});

test('deletes a key by its value, and rejects it immediately', async () => {
  const rest = await createRestTenant(app);
  const { key } = await rest.post(`${rest.base}/api-keys`, { label: 'ci' });
  await rest.delete(`${rest.base}/api-keys/${key}`);
  const refusal = await rest.expectRefusal('DELETE', `${rest.base}/api-keys/${key}`);
  expect(refusal.status).toBe(404);
  expect(JSON.stringify(refusal)).not.toContain(key);
  const refused = await createRestClient(app, { 'x-api-key': key }).request('GET', rest.base);
  expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Bearer']);
});

test("returns 404 for another tenant's key, and requires keys:write", async () => {
  const [rest, otherTenant] = [await createRestTenant(app), await createRestTenant(app)];
  const { id } = await rest.post(`${rest.base}/api-keys`, { label: 'ci' });
  for (const base of [rest.base, otherTenant.base]) {
    expect(await otherTenant.expectRefusal('GET', `${base}/api-keys/${id}`)).toMatchObject({
      status: 404,
    });
    expect(await otherTenant.expectRefusal('DELETE', `${base}/api-keys/${id}`)).toMatchObject({
      status: 404,
    });
  }
  const reader = await rest.withScopes('read');
  const change = { updateMask: ['label'], apiKey: { label: 'x' } };
  for (const refusal of [
    await reader.expectRefusal('POST', `${rest.base}/api-keys`, { label: 'x', scopes: ['read'] }),
    await reader.expectRefusal('PATCH', `${rest.base}/api-keys/${id}`, change),
    await reader.expectRefusal('DELETE', `${rest.base}/api-keys/${id}`),
  ]) {
    expect(refusal.status).toBe(403);
    expect(refusal.detail).toContain('keys:write');
  }
});
