import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { createJwtKeyPair } from '../../../support/fixtures/end-users.ts';
import { createRestTenant } from '../../../support/rest/rest-client.ts';

const app = await getSharedApp();

test('creates, changes, lists and deletes JWT keys', async () => {
  const rest = await createRestTenant(app);
  const path = `/projects/${rest.tenant.projectId}/jwt-keys`;
  const { publicKeyPem } = createJwtKeyPair();
  const { kid } = await rest.post(path, { label: 'server', algorithm: 'RS256', publicKeyPem });
  const jwtKey = {
    id: kid,
    projectId: rest.tenant.projectId,
    label: 'server',
    algorithm: 'RSA',
    publicKeyPem,
    active: true,
    createTime: expect.any(String),
    updateTime: expect.any(String),
  };
  expect(await rest.get(`${path}/${kid}`)).toEqual(jwtKey);
  expect(await rest.get(path)).toEqual([jwtKey]);
  const change = { updateMask: ['active'], jwtKey: { active: false, label: 'ignored' } };
  expect(await rest.patch(`${path}/${kid}`, change)).toMatchObject({
    active: false,
    label: 'server',
  });
  expect(await rest.get(`${path}?active=true`)).toEqual([]);
  await rest.delete(`${path}/${kid}`);
  expect(await rest.get(path)).toEqual([]);
});
