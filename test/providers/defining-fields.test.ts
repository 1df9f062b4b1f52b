/** Tests how the connectors of HubSpot and Salesforce create fields, in addition to the provider contract. */
import { expect, test } from 'vitest';
import type { FieldDefinition } from '../../src/providers/defining-fields.ts';
import { createHubspotProvider } from '../../src/providers/hubspot/hubspot-provider.ts';
import { createSalesforceProvider } from '../../src/providers/salesforce/salesforce-provider.ts';
import { type HubspotServer, startHubspotServer } from '../support/providers/hubspot-server.ts';
import { createPlainSession } from '../support/providers/provider-session.ts';
import {
  createSalesforceFailure,
  type SalesforceServer,
  startSalesforceServer,
} from '../support/providers/salesforce-server.ts';

function createTextField(
  fieldName: string,
  changes: Partial<FieldDefinition> = {},
): FieldDefinition {
  const flags = { required: null, unique: null, indexed: null };
  const options = { stringOptions: null, numericOptions: null, association: null };
  const field = {
    fieldName,
    displayName: 'Hobby',
    valueType: 'STRING',
    description: null,
  } as const;
  return { ...field, ...flags, ...options, ...changes };
}

const NO_OPTIONS = {
  length: null,
  pattern: null,
  values: null,
  valuesRestricted: null,
  defaultValue: null,
};

function defineAtHubspot(
  server: HubspotServer,
  fields: FieldDefinition[],
  objectName = 'contacts',
) {
  const session = createPlainSession(server.url, { authorization: 'Bearer hubspot-token' });
  return createHubspotProvider().capabilities.defineFields!.define(session, { objectName, fields });
}

function defineAtSalesforce(server: SalesforceServer, fields: FieldDefinition[]) {
  const session = createPlainSession(server.url, { authorization: 'Bearer salesforce-token' });
  const definitions = { objectName: 'account', fields };
  return createSalesforceProvider().capabilities.defineFields!.define(session, definitions);
}

test('creates HubSpot properties in one property group', async () => {
  await using server = await startHubspotServer();
  await defineAtHubspot(server, [
    createTextField('hobby', { unique: true }),
    createTextField('pet'),
  ]);
  await defineAtHubspot(server, [createTextField('habit')]);
  const posted = server.requests.filter(({ method }) => method === 'POST');
  expect(posted.map(({ path }) => path)).toEqual([
    '/crm/v3/properties/contacts/groups',
    ...Array.from({ length: 3 }, () => '/crm/v3/properties/contacts'),
  ]);
  expect(posted[1]?.body).toEqual({
    name: 'hobby',
    label: 'Hobby',
    groupName: 'integrationcreatedproperties',
    type: 'string',
    fieldType: 'text',
    hasUniqueValue: true,
  });
});

test("leaves HubSpot's own properties unchanged, and reports a property that is not unique", async () => {
  await using server = await startHubspotServer();
  const [definition] = await defineAtHubspot(server, [
    createTextField('firstname', { displayName: 'Name' }),
  ]);
  expect(definition).toMatchObject({
    action: 'NONE',
    error: 'The property definition is read only.',
  });
  await defineAtHubspot(server, [createTextField('hobby')]);
  const [uniqueHobby] = await defineAtHubspot(server, [createTextField('hobby', { unique: true })]);
  expect(uniqueHobby?.error).toContain('without unique values');
  const [age] = await defineAtHubspot(server, [createTextField('age', { valueType: 'INT' })]);
  expect(age).toMatchObject({ action: 'CREATE', error: null });
  expect(age?.warnings).toEqual([expect.stringContaining('fractions')]);
});

test("makes new Salesforce fields visible to the connection's user once", async () => {
  await using server = await startSalesforceServer();
  const { metadata } = server;
  await defineAtSalesforce(server, [
    createTextField('Hobby__c'),
    createTextField('Code__c', { required: true }),
  ]);
  await defineAtSalesforce(server, [createTextField('Hobby__c')]);
  const [permissionSet, ...otherSets] = metadata.permissions.PermissionSet;
  expect(permissionSet).toMatchObject({ Name: 'IntegrationCustomFieldVisibility' });
  expect(otherSets).toEqual([]);
  const { Id } = permissionSet ?? {};
  expect(metadata.permissions.PermissionSetAssignment).toMatchObject([
    { AssigneeId: '005000000000001', PermissionSetId: Id },
  ]);
  // Required fields are visible to all users. Salesforce refuses permissions for them.
  expect(metadata.permissions.FieldPermissions).toMatchObject([
    { ParentId: Id, SobjectType: 'Account', Field: 'Account.Hobby__c' },
  ]);
});

test('warns about a field that stays invisible, and throws temporary failures', async () => {
  await using server = await startSalesforceServer();
  server.metadata.allowsPermissions = false;
  const [definition] = await defineAtSalesforce(server, [createTextField('Hobby__c')]);
  expect(definition).toMatchObject({ action: 'CREATE', error: null });
  expect(definition?.warnings).toEqual([expect.stringContaining('insufficient access rights')]);
  server.failNext(createSalesforceFailure(500), Infinity);
  const failedDefinition = defineAtSalesforce(server, [createTextField('Pet__c')]);
  await expect(failedDefinition).rejects.toMatchObject({ kind: 'SERVER_ERROR' });
});

test('creates Salesforce fields from the definition, and keeps settings that an update omits', async () => {
  await using server = await startSalesforceServer();
  const { metadata } = server;
  const findMetadata = (name: string) =>
    metadata.fields.find(({ fieldName }) => fieldName === name)?.metadata;
  const numbers = { precision: 5, scale: 1, min: null, max: null, defaultValue: 2.5 };
  const association = {
    associationType: 'lookup',
    targetObject: 'Contact',
    targetField: null,
    cardinality: 'MANY_TO_ONE' as const,
    onDelete: 'RESTRICT' as const,
    required: null,
    reverseLookupFieldName: null,
    labels: { singular: null, plural: 'Patrons' },
  };
  await defineAtSalesforce(server, [
    createTextField('Motto__c', { stringOptions: { ...NO_OPTIONS, defaultValue: 'a "b"\\' } }),
    createTextField('Story__c', { indexed: true, stringOptions: { ...NO_OPTIONS, length: 1_000 } }),
    createTextField('Rate__c', { valueType: 'FLOAT', numericOptions: numbers }),
    createTextField('Patron__c', { valueType: 'REFERENCE', association }),
  ]);
  expect(findMetadata('Motto__c')).toEqual({
    ...{ type: 'Text', label: 'Hobby', length: 255 },
    defaultValue: '"a \\"b\\"\\\\"',
  });
  expect(findMetadata('Story__c')).toMatchObject({
    type: 'LongTextArea',
    length: 1_000,
    externalId: true,
  });
  expect(findMetadata('Rate__c')).toMatchObject({ precision: 5, scale: 1, defaultValue: '2.5' });
  expect(findMetadata('Patron__c')).toEqual({
    ...{ type: 'Lookup', label: 'Hobby', referenceTo: 'Contact', deleteConstraint: 'Restrict' },
    ...{ relationshipName: 'Account_Patron', relationshipLabel: 'Patrons' },
  });
  await defineAtSalesforce(server, [
    createTextField('Rate__c', { valueType: 'FLOAT', displayName: 'Rate' }),
  ]);
  expect(findMetadata('Rate__c')).toMatchObject({ label: 'Rate', precision: 5, scale: 1 });
});
