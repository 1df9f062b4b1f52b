import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { createRestTenant, listIssuePositions } from '../../../support/rest/rest-client.ts';

const app = await getSharedApp();
const createDomain = () => `${crypto.randomUUID().slice(0, 8)}.example.com`;

test('claims a domain, and returns it at its Location', async () => {
  const { builder, tenant, get } = await createRestTenant(app);
  const domain = createDomain();
  const parent = { parentId: tenant.orgId, parentType: 'org' };
  const url = `https://www.${domain.toUpperCase()}/about`;
  const creation = await builder.request('POST', '/claimed-domains', { domain: url, ...parent });
  expect([creation.status, creation.body]).toEqual([201, '']);
  const location = creation.headers.location as string;
  expect(location).toBe(`/v1/claimed-domains?domain=${domain}`);
  const claimedDomain = await get(location.replace('/v1', ''));
  expect(claimedDomain).toEqual({
    id: expect.stringMatching(/^dom_/),
    domain,
    ...parent,
    createTime: expect.any(String),
    verificationText: expect.any(String),
  });
  expect(await get(`/claimed-domains?domain=ann@${domain}`)).toEqual(claimedDomain);
  expect(await get(`/orgs/${tenant.orgId}/claimed-domains`)).toEqual([claimedDomain]);
});

test('refuses and hides a domain that another org has claimed', async () => {
  const [rest, otherTenant] = [await createRestTenant(app), await createRestTenant(app)];
  const domain = createDomain();
  const createClaim = (client: typeof rest) => ({
    domain,
    parentId: client.tenant.orgId,
    parentType: 'org',
  });
  await rest.builder.post('/claimed-domains', createClaim(rest));
  for (const client of [rest, otherTenant]) {
    const taken = await client.builder.expectRefusal(
      'POST',
      '/claimed-domains',
      createClaim(client),
    );
    expect(taken.status).toBe(409);
  }
  const unseen = await otherTenant.expectRefusal('GET', `/claimed-domains?domain=${domain}`);
  expect(unseen.status).toBe(404);
  const foreign = { ...createClaim(rest), domain: createDomain() };
  expect(
    await otherTenant.builder.expectRefusal('POST', '/claimed-domains', foreign),
  ).toMatchObject({ status: 404 });
});

test('reports every invalid input, and refuses claims by API keys', async () => {
  const rest = await createRestTenant(app);
  const body = { domain: 'not a domain', parentType: 'ORG' };
  const { issues } = await rest.builder.expectRefusal('POST', '/claimed-domains', body);
  expect(listIssuePositions({ issues }).sort()).toEqual([
    'body domain',
    'body parentId',
    'body parentType',
  ]);
  const missingDomain = await rest.expectRefusal('GET', '/claimed-domains');
  expect(missingDomain.issues).toMatchObject([{ in: 'query', name: 'domain' }]);
  const claim = { domain: createDomain(), parentId: rest.tenant.orgId, parentType: 'org' };
  const keyRefusal = await rest.expectRefusal('POST', '/claimed-domains', claim);
  expect(keyRefusal.status).toBe(403);
});
