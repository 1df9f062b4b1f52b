import { expect, test } from 'vitest';
import { integrationContentInput } from '../../../../src/domain/integrations/integration/integration-content-input.ts';
import { listSpellingWarnings } from '../../../../src/domain/integrations/integration/spelling-check.ts';
import { printText } from '../../../../src/kernel/text.ts';
import type { Provider } from '../../../../src/providers/contract.ts';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import { zoho } from '../../../../src/providers/declared/crm/zoho.ts';
import { asana } from '../../../../src/providers/declared/work/asana.ts';
import { createHubspotProvider } from '../../../../src/providers/hubspot/hubspot-provider.ts';
import { applyModule } from '../../../../src/providers/modules.ts';
import { createSalesforceProvider } from '../../../../src/providers/salesforce/salesforce-provider.ts';

const hubspot = createHubspotProvider();
const salesforce = createSalesforceProvider();

const createReadObject = (objectName: string, fieldNames: string[] = [], members: object = {}) => ({
  objectName,
  destination: 'records',
  requiredFields: fieldNames.map((fieldName) => ({ fieldName })),
  ...members,
});

function listWarnings(provider: Provider, content: object): string[] {
  const input = integrationContentInput.parse({ name: 'crm', provider: provider.name, ...content });
  return listSpellingWarnings(input, ['input'], provider).map((warning) => printText(warning));
}

const listReadWarnings = (provider: Provider, objectName: string, fieldNames: string[] = []) =>
  listWarnings(provider, { read: { objects: [createReadObject(objectName, fieldNames)] } });

test('names each misspelled object and field with the nearest name', () => {
  const objects = [
    createReadObject('contacts', ['lastnaem', 'email'], {
      optionalFields: [{ fieldName: 'first_name' }, { mapToName: 'job', default: 'jobtitel' }],
    }),
    createReadObject('compannies'),
  ];
  const updateEvent = { enabled: 'ALWAYS', requiredWatchFields: ['email', 'emial'] };
  const content = {
    read: { objects },
    write: { objects: [{ objectName: 'compannies' }, { objectName: 'contacts' }] },
    subscribe: {
      objects: [{ objectName: 'contacts', inheritFieldsAndMapping: true, updateEvent }],
    },
  };
  const field = (path: string, name: string, nearestName: string) =>
    `input.${path}: ${name} is not a standard field of contacts. Did you mean ${nearestName}? Ignore this warning if accounts have a custom field of this name.`;
  const object = (path: string) =>
    `input.${path}: compannies is not a standard object of HubSpot. Did you mean companies? Ignore this warning if accounts have a custom object of this name.`;
  expect(listWarnings(hubspot, content)).toEqual([
    object('read.objects[1].objectName'),
    object('write.objects[0].objectName'),
    field('read.objects[0].requiredFields[0].fieldName', 'lastnaem', 'lastname'),
    field('read.objects[0].optionalFields[0].fieldName', 'first_name', 'firstname'),
    field('read.objects[0].optionalFields[1].default', 'jobtitel', 'jobtitle'),
    field('subscribe.objects[0].updateEvent.requiredWatchFields[1]', 'emial', 'email'),
  ]);
});

test('accepts standard, custom, numbered and nested names without a warning', () => {
  expect(listReadWarnings(hubspot, 'contacts', ['email', 'loyalty_tier', 'phone2'])).toEqual([]);
  expect(listReadWarnings(hubspot, 'p123_cars', ['wheels'])).toEqual([]);
  expect(listReadWarnings(hubspot, '2-123', ['email'])).toEqual([]);
  const names = ['email', 'LeadSource__c', 'Account.Name', "$['Account']['Name']", 'LASTNAME'];
  expect(listReadWarnings(salesforce, 'Contact', names)).toEqual([]);
  expect(listReadWarnings(salesforce, 'account', ['Name'])).toEqual([]);
  expect(listReadWarnings(salesforce, 'Invoice__c', ['Nmae'])).toEqual([]);
});

test('warns of names that differ in case, unless the provider ignores it', () => {
  expect(listReadWarnings(hubspot, 'contacts', ['firstName'])).toEqual([
    expect.stringContaining(
      'firstName is not a standard field of contacts. Did you mean firstname?',
    ),
  ]);
  const engagement = applyModule(salesforce, 'account-engagement') as Provider;
  expect(listReadWarnings(engagement, 'Prospects')).toEqual([
    expect.stringContaining('Did you mean prospects?'),
  ]);
  expect(listReadWarnings(salesforce, 'contact', ['firstName'])).toEqual([]);
});

test('uses the names of Salesforce, and of the objects and fields that declarations have', () => {
  expect(listReadWarnings(salesforce, 'Oppurtunity')).toEqual([
    expect.stringContaining('Did you mean Opportunity?'),
  ]);
  expect(listReadWarnings(salesforce, 'Contact', ['LastNaem'])).toEqual([
    expect.stringContaining('Did you mean LastName?'),
  ]);
  expect(listReadWarnings(createDeclarativeProvider(zoho), 'Contcats')).toEqual([
    expect.stringContaining('Did you mean Contacts?'),
  ]);
  expect(listReadWarnings(createDeclarativeProvider(asana), 'tasks', ['completd'])).toEqual([
    expect.stringContaining('Did you mean completed?'),
  ]);
});

test("compares names with those of the content's module", () => {
  const engagement = applyModule(salesforce, 'account-engagement') as Provider;
  expect(listReadWarnings(engagement, 'prospectss')).toEqual([
    expect.stringContaining('Did you mean prospects?'),
  ]);
  expect(listReadWarnings(engagement, 'Oppurtunity')).toEqual([]);
});
