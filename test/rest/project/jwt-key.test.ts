import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { createJwtKeyPair } from '../../support/fixtures/end-users.ts';
import { createRestTenant } from '../../support/rest/rest-client.ts';

const app = await getSharedApp();

test('creates, changes, lists and deletes JWT keys', async () => {
  const { tenant, ...key } = await createRestTenant(app);
  const path = `/projects/${tenant.projectId}/jwt-keys`;
  const { publicKeyPem } = createJwtKeyPair();
  const { kid } = await key.post(path, { label: 'server', algorithm: 'RS256', publicKeyPem });
  const shown = {
    id: kid,
    projectId: tenant.projectId,
    label: 'server',
    algorithm: 'RSA',
    publicKeyPem,
    active: true,
    createTime: expect.any(String),
    updateTime: expect.any(String),
  };
  expect(await key.get(`${path}/${kid}`)).toEqual(shown);
  expect(await key.get(path)).toEqual([shown]);
  const change = { updateMask: ['active'], jwtKey: { active: false, label: 'other' } };
  expect(await key.patch(`${path}/${kid}`, change)).toMatchObject({
    active: false,
    label: 'server',
  });
  expect(await key.get(`${path}?active=true`)).toEqual([]);
  await key.delete(`${path}/${kid}`);
  expect(await key.get(path)).toEqual([]);
});
