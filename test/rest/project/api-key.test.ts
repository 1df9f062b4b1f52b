import { expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';
import { restClient, restTenant } from '../../support/rest/rest-client.ts';

const app = await sharedApp();

test("a key's value is in the answer that makes it, and how it begins is elsewhere", async () => {
  const rest = await restTenant(app);
  const path = `${rest.base}/api-keys`;
  const made = await rest.post(path, { label: 'ci', scopes: ['read'] });
  expect(made).toMatchObject({ label: 'ci', scopes: ['read'], active: true });
  expect(made.projectId).toBe(rest.tenant.projectId);
  await restClient(app, { 'x-api-key': made.key }).get(rest.base);

  const shown = await rest.get(`${path}/${made.id}`);
  expect(shown).toMatchObject({ id: made.id, key: made.key.slice(0, 10) });
  expect(await rest.get(`${path}/${made.key}`)).toEqual(shown);
  const answers = JSON.stringify([shown, await rest.get(path)]);
  expect(answers).not.toContain(made.key);
  expect(answers).not.toContain('hash');
});

test('what the mask names is changed, and no more', async () => {
  const rest = await restTenant(app);
  const { id } = await rest.post(`${rest.base}/api-keys`, { label: 'ci', scopes: ['read'] });
  const changed = await rest.patch(`${rest.base}/api-keys/${id}`, {
    updateMask: ['label', 'active'],
    apiKey: { label: 'build', active: false, scopes: ['full'], projectId: 'ignored' },
  });
  expect(changed).toMatchObject({ label: 'build', active: false, scopes: ['read'] });
  expect(await rest.get(`${rest.base}/api-keys?active=false`)).toEqual([changed]);
});

test('a mask that is no good is refused with every offending place', async () => {
  const rest = await restTenant(app);
  const { id } = await rest.post(`${rest.base}/api-keys`, { label: 'ci' });
  const issuesOf = async (body: unknown) =>
    (await rest.refusal('PATCH', `${rest.base}/api-keys/${id}`, body)).issues?.map(
      (issue) => `${issue.in} ${issue.name}`,
    );
  expect(await issuesOf({ updateMask: ['label'], apiKey: {} })).toEqual(['body apiKey.label']);
  expect(await issuesOf({ updateMask: ['key'], apiKey: {} })).toEqual(['body updateMask[0]']);
  expect(await issuesOf({ updateMask: [], apiKey: {} })).toEqual(['body updateMask']);
  expect(await issuesOf({ apiKey: { label: 'x' } })).toEqual(['body updateMask']);
  expect(
    await issuesOf({ updateMask: ['label', 'scopes'], apiKey: { label: '', scopes: ['x'] } }),
  ).toEqual(['body apiKey.scopes[0]', 'body apiKey.label']);
});

test('a key is deleted by its value, and is refused at once', async () => {
  const rest = await restTenant(app);
  const { key } = await rest.post(`${rest.base}/api-keys`, { label: 'ci' });
  await rest.delete(`${rest.base}/api-keys/${key}`);
  const gone = await rest.refusal('DELETE', `${rest.base}/api-keys/${key}`);
  expect(gone.status).toBe(404);
  expect(JSON.stringify(gone)).not.toContain(key);
  const refused = await restClient(app, { 'x-api-key': key }).ask('GET', rest.base);
  expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Bearer']);
});

test("another tenant's key does not exist, and keys need their scope", async () => {
  const [a, b] = [await restTenant(app), await restTenant(app)];
  const { id } = await a.post(`${a.base}/api-keys`, { label: 'ci' });
  for (const base of [a.base, b.base]) {
    expect(await b.refusal('GET', `${base}/api-keys/${id}`)).toMatchObject({ status: 404 });
    expect(await b.refusal('DELETE', `${base}/api-keys/${id}`)).toMatchObject({ status: 404 });
  }
  const reader = await a.withScopes('read');
  const change = { updateMask: ['label'], apiKey: { label: 'x' } };
  for (const refused of [
    await reader.refusal('POST', `${a.base}/api-keys`, { label: 'x', scopes: ['read'] }),
    await reader.refusal('PATCH', `${a.base}/api-keys/${id}`, change),
    await reader.refusal('DELETE', `${a.base}/api-keys/${id}`),
  ]) {
    expect(refused.status).toBe(403);
    expect(refused.detail).toContain('keys:write');
  }
});
