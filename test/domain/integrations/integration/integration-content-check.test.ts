import { expect, test } from 'vitest';
import type { z } from 'zod';
import { toIssues } from '../../../../src/domain/base/issues.ts';
import { listContentRuleIssues } from '../../../../src/domain/integrations/integration/integration-content-check.ts';
import { integrationContentInput } from '../../../../src/domain/integrations/integration/integration-content-input.ts';
import { formatPath, printText } from '../../../../src/kernel/text.ts';

type ContentInput = z.input<typeof integrationContentInput>;

const provider = { name: 'sandbox', objects: ['contacts', 'companies'] };

function listIssues(content: Partial<ContentInput>, overrides: object = {}) {
  const integration = {
    path: [],
    name: 'crm',
    provider,
    objectOwner: 'Sandbox',
    destinations: new Set(['records']),
    ...overrides,
  };
  const input = { name: 'crm', provider: 'sandbox', ...content };
  const { data, error } = integrationContentInput.safeParse(input);
  const issues = error ? toIssues(error, input) : listContentRuleIssues(data, integration);
  return [...issues].map(({ path, detail }) => `${formatPath(path)}: ${printText(detail)}`);
}

const createRead = (...objects: object[]): Partial<ContentInput> => ({
  read: { objects: objects.map((object) => ({ ...contacts, destination: 'records', ...object })) },
});
const contacts = { objectName: 'contacts' };
const companies = { objectName: 'companies' };
const ALWAYS = { enabled: 'ALWAYS' } as const;

test('refuses content that does nothing', () => {
  const nothingIssue = [': does nothing. Set read, write, subscribe, proxy or watchSchema.'];
  expect(listIssues({})).toEqual(nothingIssue);
  expect(listIssues({ read: { objects: [] }, proxy: { enabled: false } })).toEqual(nothingIssue);
  expect(listIssues({ proxy: { enabled: true } })).toEqual([]);
});

test('refuses inheritMapping if the object is not read', () => {
  const write = { write: { objects: [{ objectName: 'contacts', inheritMapping: true }] } };
  expect(listIssues(write)).toEqual([
    'write.objects[0].inheritMapping: needs contacts in read.objects, whose mapping it uses.',
  ]);
  expect(listIssues({ ...createRead({}), ...write })).toEqual([]);
});

test('accepts any object if the provider does not list its objects', () => {
  const anyObject = { provider: { name: 'sandbox' } };
  expect(listIssues(createRead({ objectName: 'Custom__c' }), anyObject)).toEqual([]);
});

test('refuses a mapped name that another object uses', () => {
  expect(
    listIssues(createRead({ mapToName: 'people' }, { ...companies, mapToName: 'people' })),
  ).toEqual(["read.objects[1].mapToName: is another object's name."]);
  expect(listIssues(createRead({ mapToName: 'companies' }, companies))).toEqual([
    "read.objects[0].mapToName: is another object's name.",
  ]);
  expect(listIssues(createRead({ mapToName: 'contacts' }))).toEqual([]);
});

test('refuses a field without a name', () => {
  expect(listIssues(createRead({ requiredFields: [{ mapToDisplayName: 'Nothing' }] }))).toEqual([
    'read.objects[0].requiredFields[0]: must have read.objects[0].requiredFields[0].fieldName or read.objects[0].requiredFields[0].mapToName.',
  ]);
});

test('requires the mapping for events of records, and the read object for the mapping', () => {
  const createSubscribe = (object: object): Partial<ContentInput> => ({
    subscribe: { objects: [{ ...contacts, ...object }] },
  });
  const inheriting = { inheritFieldsAndMapping: true };
  expect(listIssues(createSubscribe({ otherEvents: ['contact.merged'] }))).toEqual([]);
  expect(listIssues(createSubscribe(inheriting))).toEqual([
    'subscribe.objects[0].objectName: must also be listed in read.objects, because subscribe.objects[0].inheritFieldsAndMapping is set.',
  ]);
  for (const event of ['createEvent', 'updateEvent', 'deleteEvent', 'associationChangeEvent']) {
    expect(listIssues(createSubscribe({ [event]: ALWAYS, ...inheriting }))).toEqual([
      'subscribe.objects[0].objectName: must also be listed in read.objects, because subscribe.objects[0].inheritFieldsAndMapping is set.',
    ]);
    expect(listIssues(createSubscribe({ [event]: ALWAYS }))).toEqual([
      'subscribe.objects[0].inheritFieldsAndMapping: must be true, because the object has events of records.',
    ]);
    expect(
      listIssues({ ...createRead({}), ...createSubscribe({ [event]: ALWAYS, ...inheriting }) }),
    ).toEqual([]);
  }
});

test('refuses watchFieldsAuto together with requiredWatchFields', () => {
  const watchUpdates = (updateEvent: object): Partial<ContentInput> => ({
    ...createRead({}),
    subscribe: {
      objects: [
        { ...contacts, inheritFieldsAndMapping: true, updateEvent: { ...ALWAYS, ...updateEvent } },
      ],
    },
  });
  const requiredWatchFields = ['email'];
  expect(listIssues(watchUpdates({ watchFieldsAuto: 'ALL', requiredWatchFields }))).toEqual([
    'subscribe.objects[0].updateEvent.requiredWatchFields: must not be combined with subscribe.objects[0].updateEvent.watchFieldsAuto.',
  ]);
  expect(listIssues(watchUpdates({ watchFieldsAuto: 'ALL', requiredWatchFields: [] }))).toEqual([]);
  expect(listIssues(watchUpdates({ requiredWatchFields }))).toEqual([]);
});

test('refuses unknown destinations of read and subscribed objects', () => {
  const content: Partial<ContentInput> = {
    read: {
      objects: [
        { ...contacts, destination: 'records' },
        { ...companies, destination: 'nowhere' },
      ],
    },
    subscribe: { objects: [{ ...contacts, destination: 'nowhere' }, companies] },
  };
  expect(listIssues(content)).toEqual([
    'read.objects[1].destination: is not a destination of the project.',
    'subscribe.objects[0].destination: is not a destination of the project.',
  ]);
});
