import { expect, test } from 'vitest';
import { createLog } from '../../../../src/kernel/log.ts';
import { getSharedApp } from '../../../support/app.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import {
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
  insertDestination,
} from '../../../support/fixtures/integrations.ts';
import {
  createRestTenant,
  listIssuePositions,
  type RestTenant,
} from '../../../support/rest/rest-client.ts';

const app = await getSharedApp({ log: createLog('silent') });

interface Field {
  readOnly: boolean;
}

function createPath(rest: RestTenant, object: string, query = '?groupRef=acme') {
  return `${rest.base}/providers/sandbox/objects/${object}/metadata${query}`;
}

test("returns an object's fields by name, through the group's connection", async () => {
  const rest = await createRestTenant(app);
  await generateConnection(rest.tenant, { apiKey: 'sandbox-key' });
  const metadata = await rest.get(createPath(rest, 'contacts'));
  expect(metadata).toMatchObject({ name: 'contacts', displayName: 'Contacts' });
  expect(metadata).not.toHaveProperty('mappedObjectName');
  expect(metadata.fields.email).toEqual({
    fieldName: 'email',
    displayName: expect.any(String),
    valueType: 'string',
    providerType: 'email',
    readOnly: false,
    isCustom: false,
    isRequired: expect.any(Boolean),
  });
  const types = Object.values<{ valueType: string }>(metadata.fields).map(
    (field) => field.valueType,
  );
  expect(types).toContain('singleSelect');
  const writable = await rest.get(
    createPath(rest, 'contacts', '?groupRef=acme&excludeReadOnly=true'),
  );
  const expected = Object.entries<Field>(metadata.fields).filter(([, { readOnly }]) => !readOnly);
  expect(expected.length).toBeLessThan(types.length);
  expect(writable.fields).toEqual(Object.fromEntries(expected));
});

test('finds an object by its name and its mapped name through an installation', async () => {
  const rest = await createRestTenant(app);
  await insertDestination(app, rest.tenant);
  const objects = [{ objectName: 'contacts', destination: 'records', mapToName: 'people' }];
  const integration = await createIntegration(
    app,
    rest.tenant,
    createIntegrationContent('crm', { read: { objects } }),
  );
  await connectAndInstall(rest.tenant, integration);
  await generateConnection(rest.tenant, { apiKey: 'sandbox-key' });
  const createInstalledPath = (name: string, object: string, query = '?groupRef=acme') =>
    `${rest.base}/integrations/${name}/objects/${object}/metadata${query}`;
  const mappedObject = await rest.get(createInstalledPath('crm', 'people'));
  expect(mappedObject).toMatchObject({ name: 'contacts', mappedObjectName: 'people' });
  expect(await rest.get(createInstalledPath(integration.id, 'contacts'))).toEqual(mappedObject);
  const direct = await rest.get(createPath(rest, 'contacts'));
  expect(mappedObject).toEqual({ ...direct, mappedObjectName: 'people' });

  await generateConnection(rest.tenant, { apiKey: 'sandbox-key', groupRef: 'other' });
  for (const missingPath of [
    createInstalledPath('none', 'people'),
    createInstalledPath('crm', 'people', '?groupRef=unknown'),
    createInstalledPath('crm', 'people', '?groupRef=other'),
  ]) {
    expect(await rest.expectRefusal('GET', missingPath)).toMatchObject({ status: 404 });
  }
  const refusal = await rest.expectRefusal('GET', createInstalledPath('crm', 'people', ''));
  expect(refusal.issues).toMatchObject([{ in: 'query', name: 'groupRef' }]);
});

test("distinguishes unknown objects from the provider's refusal", async () => {
  const rest = await createRestTenant(app);
  const refusal = await rest.expectRefusal(
    'GET',
    createPath(rest, 'contacts', '?groupRef=&excludeReadOnly=x'),
  );
  expect(listIssuePositions(refusal).sort()).toEqual(['query excludeReadOnly', 'query groupRef']);
  const unknown = `${rest.base}/providers/none/objects/contacts/metadata?groupRef=acme`;
  const { issues } = await rest.expectRefusal('GET', unknown);
  expect(issues).toMatchObject([{ in: 'path', name: 'provider', value: 'none' }]);
  expect(await rest.expectRefusal('GET', createPath(rest, 'contacts'))).toMatchObject({
    status: 404,
  });
  await generateConnection(rest.tenant, { apiKey: 'sandbox-key' });
  expect(await rest.expectRefusal('GET', createPath(rest, 'nothing'))).toMatchObject({
    status: 422,
  });
  app.app.sandbox.faults.set({ pathPrefix: '/objects', status: 503, times: 1_000 });
  expect(await rest.expectRefusal('GET', createPath(rest, 'deals'))).toMatchObject({ status: 502 });
  app.app.sandbox.faults.clear();
});

test("refuses another tenant's project, and a key without the scope", async () => {
  const [rest, otherTenant] = [await createRestTenant(app), await createRestTenant(app)];
  await generateConnection(rest.tenant, { apiKey: 'sandbox-key' });
  expect(await otherTenant.expectRefusal('GET', createPath(rest, 'contacts'))).toMatchObject({
    status: 404,
  });
  const path = `${rest.base}/integrations/crm/objects/contacts/metadata?groupRef=acme`;
  expect(await otherTenant.expectRefusal('GET', path)).toMatchObject({ status: 404 });
  const writer = await rest.withScopes('records:write');
  for (const url of [createPath(rest, 'contacts'), path]) {
    expect(await writer.expectRefusal('GET', url)).toMatchObject({ status: 403 });
  }
});
