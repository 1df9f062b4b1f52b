import { expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';
import { restTenant } from '../../support/rest/rest-client.ts';

const app = await sharedApp();

test('the whole catalogue is given by name, and one of it too', async () => {
  const rest = await restTenant(app);
  const catalogue = await rest.get('/providers');
  expect(Object.keys(catalogue)).toEqual(app.app.services.catalogue.all.map(({ name }) => name));
  expect(catalogue.hubspot).toEqual({
    name: 'hubspot',
    displayName: 'HubSpot',
    authSchemes: ['oauth2/authorizationCode'],
    baseUrl: 'https://api.hubapi.com',
    supports: ['read', 'write', 'delete', 'batch_write', 'metadata', 'proxy'],
  });
  expect(await rest.get('/providers/hubspot')).toEqual(catalogue.hubspot);
  expect(JSON.stringify(catalogue)).not.toMatch(/tokenUrl|limits|capabilities/);
});

test('a provider that there is not, and a key that may not read, are refused', async () => {
  const rest = await restTenant(app);
  expect(await rest.refusal('GET', '/providers/none')).toMatchObject({ status: 404 });
  const writer = await rest.withScopes('records:write');
  for (const path of ['/providers', '/providers/hubspot']) {
    expect(await writer.refusal('GET', path)).toMatchObject({ status: 403 });
  }
});
