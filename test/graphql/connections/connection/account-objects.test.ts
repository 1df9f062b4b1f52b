import { afterAll, expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import { attio } from '../../../../src/providers/declared/crm/attio.ts';
import { getSharedApp } from '../../../support/app.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import { startProviderServer } from '../../../support/providers/provider-server.ts';
import { createCrmProvider } from '../../../support/rest/proxy-installation.ts';
import { createRestClient } from '../../../support/rest/rest-client.ts';

const REFUSED_KEY = 'refused';

const vendor = await startProviderServer(({ path, headers }) => {
  if (path !== '/v2/objects') return { status: 404 };
  if (headers.authorization === REFUSED_KEY) {
    return { status: 403, body: { message: 'missing scope' } };
  }
  const data = [
    { api_slug: 'people', plural_noun: 'People' },
    { api_slug: 'ships', plural_noun: 'Ships' },
  ];
  return { status: 200, body: { data } };
});
afterAll(() => vendor[Symbol.asyncDispose]());

const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [
    createDeclarativeProvider({
      ...attio,
      baseUrl: vendor.url,
      authSchemes: ['API_KEY'],
      apiKey: { in: 'header', name: 'authorization' },
    }),
    createCrmProvider(vendor.url),
  ],
});

const LIST_OBJECTS = `query ListObjects($id: ID!) {
  node(id: $id) { ... on ConnectedAccount { objects { name displayName } } }
}`;

async function createAccount(provider: string, apiKey = 'key') {
  const tenant = await app.createTenant();
  const { id } = await generateConnection(tenant, { provider, apiKey });
  return { tenant, id, queryObjects: () => tenant.query(LIST_OBJECTS, { id }) };
}

test('returns the objects of an account, including custom ones', async () => {
  const { queryObjects } = await createAccount('attio');
  const { node } = await queryObjects();
  expect(node.objects).toContainEqual({ name: 'ships', displayName: 'Ships' });
  expect(node.objects).toContainEqual({ name: 'deals', displayName: 'Deals' });
  expect(node.objects.filter(({ name }: { name: string }) => name === 'people')).toHaveLength(1);
});

test('returns the objects of an account over REST', async () => {
  const { tenant, id } = await createAccount('attio');
  const rest = createRestClient(app, { 'x-api-key': tenant.apiKey });
  const { objects } = await rest.get(`/projects/${tenant.projectId}/connections/${id}/objects`);
  expect(objects).toContainEqual({
    name: 'ships',
    displayName: 'Ships',
    supports: expect.arrayContaining(['read']),
  });
  const otherAccount = await createAccount('crm');
  const otherClient = createRestClient(app, { 'x-api-key': otherAccount.tenant.apiKey });
  const path = `/projects/${otherAccount.tenant.projectId}/connections`;
  expect(await otherClient.get(`${path}/${otherAccount.id}/objects`)).toEqual({});
  expect(await otherClient.expectRefusal('GET', `${path}/${id}/objects`)).toMatchObject({
    status: 404,
  });
});

test('returns null if the provider cannot list objects', async () => {
  const { queryObjects } = await createAccount('crm');
  expect(await queryObjects()).toEqual({ node: { objects: null } });
});

test('reports the provider if it refuses to list objects', async () => {
  const { tenant, id } = await createAccount('attio', REFUSED_KEY);
  const { code, problem } = await tenant.expectRefusal(LIST_OBJECTS, { id });
  expect(code).toBe('UNPROCESSABLE');
  expect(problem.detail).toContain('Attio returned 403: missing scope');
});
