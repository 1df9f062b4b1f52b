/** Revisions with the fields of an account. Pages request them to let people choose fields. */
import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import {
  createIntegrationContent,
  insertDestination,
} from '../../../support/fixtures/integrations.ts';
import { createRestTenant, type RestTenant } from '../../../support/rest/rest-client.ts';
import { createRestIntegration } from '../../../support/rest/rest-installation.ts';

const app = await getSharedApp();

const OWNER_FIELD = { mapToName: 'owner', default: 'lastname', prompt: 'Who owns it?' };
const contacts = {
  objectName: 'contacts',
  destination: 'records',
  mapToName: 'people',
  requiredFields: [{ fieldName: 'email', mapToName: 'mail' }, OWNER_FIELD],
  backfill: { defaultPeriod: { days: 30 } },
  optionalFields: [{ fieldName: 'phone' }],
};

async function prepareHydration(rest: RestTenant, object: object, apiKey = 'sandbox-key') {
  await insertDestination(app, rest.tenant);
  const read = { objects: [object] };
  const write = { objects: [{ objectName: 'deals' }] };
  const path = await createRestIntegration(rest, createIntegrationContent('crm', { read, write }));
  const { latestRevision } = await rest.get(path);
  const { id } = await generateConnection(rest.tenant, { apiKey, skipCheck: true });
  const hydratePath = `${path}/revisions/${latestRevision.id}:hydrate`;
  return { hydrated: hydratePath, latestRevision, url: `${hydratePath}?connectionId=${id}` };
}

test('returns display names of objects and fields, and lists all fields', async () => {
  const rest = await createRestTenant(app);
  const { url, latestRevision } = await prepareHydration(rest, contacts);
  const revision = await rest.get(url);
  expect(revision).toMatchObject({ id: latestRevision.id, specVersion: '1.0.0' });
  const [object, ...otherObjects] = revision.content.read.objects;
  expect(otherObjects).toEqual([]);
  expect(object).toMatchObject({
    objectName: 'contacts',
    displayName: expect.any(String),
    mapToName: 'people',
    schedule: '',
    backfill: { defaultPeriod: { days: 30 } },
    requiredFields: [{ fieldName: 'email', displayName: 'Email', mapToName: 'mail' }, OWNER_FIELD],
    optionalFields: [{ fieldName: 'phone', displayName: 'Phone' }],
  });
  expect(object.allFieldsMetadata.email).toMatchObject({ fieldName: 'email', valueType: 'string' });
  expect(object.allFields.map(({ fieldName }: { fieldName: string }) => fieldName)).toEqual(
    Object.keys(object.allFieldsMetadata),
  );
  expect(object).not.toHaveProperty('error');
  expect(revision.content.write.objects).toMatchObject([
    { objectName: 'deals', displayName: expect.any(String) },
  ]);
});

test('makes all other fields optional with optionalFieldsAuto', async () => {
  const rest = await createRestTenant(app);
  const { url } = await prepareHydration(rest, { ...contacts, optionalFieldsAuto: 'all' });
  const [object] = (await rest.get(url)).content.read.objects;
  const names = [...object.requiredFields, ...object.optionalFields].flatMap(
    ({ fieldName }: { fieldName?: string }) => fieldName ?? [],
  );
  expect(names.sort()).toEqual(Object.keys(object.allFieldsMetadata).sort());
});

test("returns the error of an object that cannot be described, with the revision's names", async () => {
  const rest = await createRestTenant(app);
  const { url } = await prepareHydration(rest, contacts, 'wrong');
  const [object] = (await rest.get(url)).content.read.objects;
  expect(object.error).toEqual(expect.any(String));
  expect(object).toMatchObject({
    displayName: 'contacts',
    requiredFields: [{ fieldName: 'email', displayName: 'email' }, OWNER_FIELD],
  });
  expect(object).not.toHaveProperty('allFields');
});

test('refuses an unknown connection, and one of another provider', async () => {
  const rest = await createRestTenant(app);
  const { hydrated, url } = await prepareHydration(rest, contacts);
  expect(await rest.expectRefusal('GET', hydrated)).toMatchObject({
    status: 400,
    issues: [{ in: 'query', name: 'connectionId' }],
  });
  const otherConnection = await generateConnection(rest.tenant, {
    provider: 'stripe',
    apiKey: 'sandbox-key',
  });
  expect(
    await rest.expectRefusal('GET', `${hydrated}?connectionId=${otherConnection.id}`),
  ).toMatchObject({
    issues: [{ in: 'query', name: 'connectionId' }],
  });
  const otherTenant = await createRestTenant(app);
  expect(await otherTenant.expectRefusal('GET', url)).toMatchObject({ status: 404 });
});
