/** Fields that a builder needs in its customers' accounts: over REST as the platform has it, and over GraphQL. */
import { expect, test } from 'vitest';
import { sharedApp } from '../support/app.ts';
import { type RestTenant, restTenant } from '../support/rest/rest-client.ts';
import { generate } from '../support/scenes/connections.ts';
import { endUser } from '../support/scenes/end-users.ts';
import { installReading } from '../support/scenes/reads.ts';

const app = await sharedApp();

const UPSERT = `mutation ($input: UpsertObjectMetadataInput!) {
  upsertObjectMetadata(input: $input) {
    success objects { objectName fields { fieldName action error warnings metadata } }
  }
}`;

const UPSERT_INSTALLED = `mutation ($input: UpsertInstalledObjectMetadataInput!) {
  upsertInstalledObjectMetadata(input: $input) {
    success objects { objectName fields { fieldName action error } }
  }
}`;

const ofConnection = ({ base }: RestTenant) => `${base}/providers/sandbox/object-metadata`;
const ofInstallation = ({ base }: RestTenant) => `${base}/integrations/crm/object-metadata`;

const hobby = { fieldName: 'hobby_of_rest', displayName: 'Hobby', valueType: 'string' };

async function connected() {
  const rest = await restTenant(app);
  await generate(rest.tenant, { apiKey: 'sandbox-key' });
  return rest;
}

async function put(rest: RestTenant, path: string, fields: object) {
  const { status, body } = await rest.ask('PUT', path, { groupRef: 'acme', fields });
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
}

test('a field is made through a connection, and is described and written at once', async () => {
  const rest = await connected();
  const metadata = `${rest.base}/providers/sandbox/objects/contacts/metadata?groupRef=acme`;
  expect((await rest.get(metadata)).fields).not.toHaveProperty(hobby.fieldName);
  const made = await put(rest, ofConnection(rest), { contacts: [hobby] });
  expect(made).toEqual({
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
  expect((await rest.get(metadata)).fields.hobby_of_rest).toMatchObject({
    displayName: 'Hobby',
    valueType: 'string',
    isCustom: true,
  });
  const again = await put(rest, ofConnection(rest), { contacts: [hobby] });
  expect(again.fields.contacts.hobby_of_rest.action).toBe('none');
});

test('through an installation, objects may have the names of the integration', async () => {
  const rest = await restTenant(app);
  await installReading(app, rest.tenant, { object: { mapToName: 'people' } });
  const pet = {
    fieldName: 'pet',
    displayName: 'Pet',
    valueType: 'singleSelect',
    stringOptions: { values: ['cat', 'dog'], valuesRestricted: true },
  };
  const made = await put(rest, ofInstallation(rest), { people: [pet] });
  expect(made.fields.contacts.pet).toMatchObject({ action: 'create' });
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
  const told = await rest.tenant.query(UPSERT_INSTALLED, { input });
  expect(told.upsertInstalledObjectMetadata).toEqual({
    success: false,
    objects: [
      {
        objectName: 'contacts',
        fields: [
          { fieldName: 'pet', action: 'UPDATE', error: null },
          { fieldName: 'email', action: 'NONE', error: 'email is a field that every account has' },
        ],
      },
    ],
  });
});

test('what the provider refuses is told in warnings, and keeps no other field back', async () => {
  const rest = await connected();
  const other = { ...hobby, fieldName: 'motto' };
  const email = { fieldName: 'email', displayName: 'Mail', valueType: 'string' };
  const told = await put(rest, ofConnection(rest), { contacts: [email, other] });
  expect(told.success).toBe(false);
  expect(told.fields.contacts).toMatchObject({
    email: { action: 'none', warnings: [expect.stringContaining('every account has')] },
    motto: { action: 'create' },
  });
});

test('what can not be honoured is refused by its place before anything is made', async () => {
  const rest = await connected();
  const bad = {
    contacts: [
      { ...hobby, fieldName: 'Not A Name', stringOptions: { pattern: '^a' } },
      { ...hobby, fieldName: 'never_made', valueType: 'singleSelect' },
      { ...hobby, fieldName: 'never_made', valueType: 'other' },
      { ...hobby, fieldName: 'unlucky', numericOptions: { min: 1 }, required: false },
      {
        ...hobby,
        fieldName: 'owner',
        valueType: 'reference',
        association: { associationType: 'magic', targetObject: 'deals', onDelete: 'setNull' },
      },
    ],
  };
  const body = { groupRef: 'acme', fields: bad };
  const { issues } = await rest.refusal('PUT', ofConnection(rest), body);
  expect(issues?.map(({ name, detail }) => `${name} ${detail}`)).toEqual([
    'fields.contacts[0].fieldName must be small letters, digits and underscores, with a letter first, 64 at most.',
    'fields.contacts[0].stringOptions.pattern is not supported by Sandbox CRM.',
    'fields.contacts[1].stringOptions.values must be given for a select field.',
    'fields.contacts[2].fieldName is named twice.',
    expect.stringContaining('fields.contacts[2].valueType must be one of string,'),
    'fields.contacts[3].numericOptions must be left out: it is for the types int, float.',
    'fields.contacts[3].numericOptions.min is not supported by Sandbox CRM.',
    'fields.contacts[4].association.associationType must be lookup for Sandbox CRM.',
    'fields.contacts[4].association.onDelete is not supported by Sandbox CRM.',
  ]);
  const odd = { contacts: [{ ...hobby, valueType: 'text', more: 1 }] };
  const form = await rest.refusal('PUT', ofConnection(rest), { groupRef: 'acme', fields: odd });
  expect(form.issues?.map(({ name }) => name).sort()).toEqual([
    'fields.contacts[0].more',
    'fields.contacts[0].valueType',
  ]);
  const metadata = `${rest.base}/providers/sandbox/objects/contacts/metadata?groupRef=acme`;
  expect((await rest.get(metadata)).fields).not.toHaveProperty('never_made');

  const input = {
    ...{ projectIdOrName: rest.tenant.projectId, provider: 'sandbox', groupRef: 'acme' },
    objects: [
      { objectName: 'contacts', fields: [{ ...hobby, valueType: 'STRING', indexed: true }] },
    ],
  };
  const { problem } = await rest.tenant.refusal(UPSERT, { input });
  expect(problem.issues).toMatchObject([{ name: 'input.objects[0].fields[0].indexed' }]);
});

test('a provider without it, an unknown group and an unknown object are told apart', async () => {
  const rest = await connected();
  const fields = { contacts: [hobby] };
  const at = (provider: string) => `${rest.base}/providers/${provider}/object-metadata`;
  const ask = (path: string, body: object) => rest.refusal('PUT', path, body);
  expect(await ask(at('stripe'), { groupRef: 'acme', fields })).toMatchObject({ status: 422 });
  expect(await ask(at('none'), { groupRef: 'acme', fields })).toMatchObject({
    status: 400,
    issues: [{ in: 'path', name: 'provider' }],
  });
  expect(await ask(at('sandbox'), { groupRef: 'nobody', fields })).toMatchObject({ status: 404 });
  const nothing = { groupRef: 'acme', fields: { nothing: [hobby] } };
  expect(await ask(at('sandbox'), nothing)).toMatchObject({ status: 422 });
  const missing = { groupRef: 'acme', fields };
  expect(await ask(ofInstallation(rest), missing)).toMatchObject({ status: 404 });
});

test("another tenant's accounts, keys without the scope and end users make nothing", async () => {
  const [a, b] = [await connected(), await connected()];
  const body = { groupRef: 'acme', fields: { contacts: [hobby] } };
  expect(await b.refusal('PUT', ofConnection(a), body)).toMatchObject({ status: 404 });
  const reader = await a.withScopes('read', 'connections:write');
  expect(await reader.refusal('PUT', ofConnection(a), body)).toMatchObject({ status: 403 });
  const user = await endUser(app, a.tenant, { permissions: ['INSTALL', 'WRITE_RECORDS'] });
  const input = {
    ...{ projectIdOrName: a.tenant.projectId, provider: 'sandbox', groupRef: 'acme' },
    objects: [{ objectName: 'contacts', fields: [{ ...hobby, valueType: 'STRING' }] }],
  };
  expect((await user.refusal(UPSERT, { input })).code).toBe('FORBIDDEN');
});
