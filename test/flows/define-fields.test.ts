/** A builder creates fields in customers' accounts, over REST and GraphQL. */
import { expect, test } from 'vitest';
import { getSharedApp } from '../support/app.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import { createEndUser } from '../support/fixtures/end-users.ts';
import { installReads } from '../support/fixtures/reads.ts';
import { createRestTenant, type RestTenant } from '../support/rest/rest-client.ts';

const app = await getSharedApp();

const UPSERT_OBJECT_METADATA = `mutation UpsertObjectMetadata($input: UpsertObjectMetadataInput!) {
  upsertObjectMetadata(input: $input) {
    success objects { objectName fields { fieldName action error warnings metadata } }
  }
}`;

const UPSERT_INSTALLED = `mutation UpsertInstalledObjectMetadata($input: UpsertInstalledObjectMetadataInput!) {
  upsertInstalledObjectMetadata(input: $input) {
    success objects { objectName fields { fieldName action error } }
  }
}`;

const getConnectionPath = ({ base }: RestTenant) => `${base}/providers/sandbox/object-metadata`;
const getInstallationPath = ({ base }: RestTenant) => `${base}/integrations/crm/object-metadata`;

const hobby = { fieldName: 'hobby_of_rest', displayName: 'Hobby', valueType: 'string' };

async function createConnectedTenant() {
  const rest = await createRestTenant(app);
  await generateConnection(rest.tenant, { apiKey: 'sandbox-key' });
  return rest;
}

async function upsertFields(rest: RestTenant, path: string, fields: object) {
  const { status, body } = await rest.request('PUT', path, { groupRef: 'acme', fields });
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
}

test('creates a field through a connection, and describes it immediately', async () => {
  const rest = await createConnectedTenant();
  const metadataPath = `${rest.base}/providers/sandbox/objects/contacts/metadata?groupRef=acme`;
  expect((await rest.get(metadataPath)).fields).not.toHaveProperty(hobby.fieldName);
  const creation = await upsertFields(rest, getConnectionPath(rest), { contacts: [hobby] });
  expect(creation).toEqual({
    success: true,
    fields: {
      contacts: {
        hobby_of_rest: {
          fieldName: 'hobby_of_rest',
          action: 'create',
          metadata: expect.objectContaining({ name: 'hobby_of_rest', type: 'text' }),
        },
      },
    },
  });
  expect((await rest.get(metadataPath)).fields.hobby_of_rest).toMatchObject({
    displayName: 'Hobby',
    valueType: 'string',
    isCustom: true,
  });
  const repeated = await upsertFields(rest, getConnectionPath(rest), { contacts: [hobby] });
  expect(repeated.fields.contacts.hobby_of_rest.action).toBe('none');
});

test("accepts the integration's names of objects through an installation", async () => {
  const rest = await createRestTenant(app);
  await installReads(app, rest.tenant, { object: { mapToName: 'people' } });
  const pet = {
    fieldName: 'pet',
    displayName: 'Pet',
    valueType: 'singleSelect',
    stringOptions: { values: ['cat', 'dog'], valuesRestricted: true },
  };
  const creation = await upsertFields(rest, getInstallationPath(rest), { people: [pet] });
  expect(creation.fields.contacts.pet).toMatchObject({ action: 'create' });
  const input = {
    projectIdOrName: rest.tenant.projectId,
    integrationIdOrName: 'crm',
    groupRef: 'acme',
    objects: [
      {
        objectName: 'contacts',
        fields: [
          { ...pet, valueType: 'SINGLE_SELECT', stringOptions: { values: ['cat', 'fish'] } },
          { fieldName: 'email', displayName: 'Mail', valueType: 'STRING' },
        ],
      },
    ],
  };
  const result = await rest.tenant.query(UPSERT_INSTALLED, { input });
  expect(result.upsertInstalledObjectMetadata).toEqual({
    success: false,
    objects: [
      {
        objectName: 'contacts',
        fields: [
          { fieldName: 'pet', action: 'UPDATE', error: null },
          {
            fieldName: 'email',
            action: 'NONE',
            error: 'email is a standard field and cannot be changed',
          },
        ],
      },
    ],
  });
});

test("returns the provider's refusal as a warning, and creates the other fields", async () => {
  const rest = await createConnectedTenant();
  const motto = { ...hobby, fieldName: 'motto' };
  const email = { fieldName: 'email', displayName: 'Mail', valueType: 'string' };
  const result = await upsertFields(rest, getConnectionPath(rest), { contacts: [email, motto] });
  expect(result.success).toBe(false);
  expect(result.fields.contacts).toMatchObject({
    email: { action: 'none', warnings: [expect.stringContaining('standard field')] },
    motto: { action: 'create' },
  });
});

test('refuses invalid definitions at their position before it creates a field', async () => {
  const rest = await createConnectedTenant();
  const invalidFields = {
    contacts: [
      { ...hobby, fieldName: 'Not A Name', stringOptions: { pattern: '^a' } },
      { ...hobby, fieldName: 'never_created', valueType: 'singleSelect' },
      { ...hobby, fieldName: 'never_created', valueType: 'other' },
      { ...hobby, fieldName: 'unlucky', numericOptions: { min: 1 }, required: false },
      {
        ...hobby,
        fieldName: 'owner',
        valueType: 'reference',
        association: { associationType: 'magic', targetObject: 'deals', onDelete: 'setNull' },
      },
    ],
  };
  const body = { groupRef: 'acme', fields: invalidFields };
  const { issues } = await rest.expectRefusal('PUT', getConnectionPath(rest), body);
  expect(issues?.map(({ name, detail }) => `${name} ${detail}`)).toEqual([
    'fields.contacts[0].fieldName must be lower-case letters, digits and underscores, start with a letter, and have at most 64 characters.',
    'fields.contacts[0].stringOptions.pattern is not supported by Sandbox CRM.',
    'fields.contacts[1].stringOptions.values is required for a select field.',
    'fields.contacts[2].fieldName is named twice.',
    expect.stringContaining('fields.contacts[2].valueType must be one of string,'),
    'fields.contacts[3].numericOptions must be omitted: it is for the types int, float.',
    'fields.contacts[3].numericOptions.min is not supported by Sandbox CRM.',
    'fields.contacts[4].association.associationType must be lookup for Sandbox CRM.',
    'fields.contacts[4].association.onDelete is not supported by Sandbox CRM.',
  ]);
  const unknownMember = { contacts: [{ ...hobby, valueType: 'text', more: 1 }] };
  const malformed = await rest.expectRefusal('PUT', getConnectionPath(rest), {
    groupRef: 'acme',
    fields: unknownMember,
  });
  expect(malformed.issues?.map(({ name }) => name).sort()).toEqual([
    'fields.contacts[0].more',
    'fields.contacts[0].valueType',
  ]);
  const metadataPath = `${rest.base}/providers/sandbox/objects/contacts/metadata?groupRef=acme`;
  expect((await rest.get(metadataPath)).fields).not.toHaveProperty('never_created');

  const input = {
    ...{ projectIdOrName: rest.tenant.projectId, provider: 'sandbox', groupRef: 'acme' },
    objects: [
      { objectName: 'contacts', fields: [{ ...hobby, valueType: 'STRING', indexed: true }] },
    ],
  };
  const { problem } = await rest.tenant.expectRefusal(UPSERT_OBJECT_METADATA, { input });
  expect(problem.issues).toMatchObject([{ name: 'input.objects[0].fields[0].indexed' }]);
});

test('returns an error for a provider without the capability, an unknown provider, group or object, and a missing integration', async () => {
  const rest = await createConnectedTenant();
  const fields = { contacts: [hobby] };
  const getProviderPath = (provider: string) =>
    `${rest.base}/providers/${provider}/object-metadata`;
  const refuseUpsert = (path: string, body: object) => rest.expectRefusal('PUT', path, body);
  expect(await refuseUpsert(getProviderPath('stripe'), { groupRef: 'acme', fields })).toMatchObject(
    {
      status: 422,
    },
  );
  expect(await refuseUpsert(getProviderPath('none'), { groupRef: 'acme', fields })).toMatchObject({
    status: 400,
    issues: [{ in: 'path', name: 'provider' }],
  });
  expect(
    await refuseUpsert(getProviderPath('sandbox'), { groupRef: 'unknown', fields }),
  ).toMatchObject({ status: 404 });
  const unknownObject = { groupRef: 'acme', fields: { nothing: [hobby] } };
  expect(await refuseUpsert(getProviderPath('sandbox'), unknownObject)).toMatchObject({
    status: 422,
  });
  const body = { groupRef: 'acme', fields };
  expect(await refuseUpsert(getInstallationPath(rest), body)).toMatchObject({ status: 404 });
});

test("refuses another tenant's accounts, a key without the scope, and end users", async () => {
  const [owner, otherTenant] = [await createConnectedTenant(), await createConnectedTenant()];
  const body = { groupRef: 'acme', fields: { contacts: [hobby] } };
  expect(await otherTenant.expectRefusal('PUT', getConnectionPath(owner), body)).toMatchObject({
    status: 404,
  });
  const reader = await owner.withScopes('read', 'connections:write');
  expect(await reader.expectRefusal('PUT', getConnectionPath(owner), body)).toMatchObject({
    status: 403,
  });
  const user = await createEndUser(app, owner.tenant, {
    permissions: ['INSTALL', 'WRITE_RECORDS'],
  });
  const input = {
    ...{ projectIdOrName: owner.tenant.projectId, provider: 'sandbox', groupRef: 'acme' },
    objects: [{ objectName: 'contacts', fields: [{ ...hobby, valueType: 'STRING' }] }],
  };
  expect((await user.expectRefusal(UPSERT_OBJECT_METADATA, { input })).code).toBe('FORBIDDEN');
});
