import { expect, test } from 'vitest';
import type { z } from 'zod';
import { listContentRuleIssues } from '../../../src/domain/integration/integration-content-check.ts';
import { integrationContentInput } from '../../../src/domain/integration/integration-content-input.ts';
import { toIssues } from '../../../src/domain/issues.ts';

type ContentInput = z.input<typeof integrationContentInput>;

const provider = { name: 'sandbox', objects: ['contacts', 'companies'] };

function listFindings(content: Partial<ContentInput>, overrides: object = {}) {
  const integration = {
    path: [],
    name: 'crm',
    provider,
    destinations: new Set(['records']),
    ...overrides,
  };
  const input = { name: 'crm', provider: 'sandbox', ...content };
  const { data, error } = integrationContentInput.safeParse(input);
  const issues = error ? toIssues(error, input) : listContentRuleIssues(data, integration);
  return [...issues].map(({ name, detail }) => `${name}: ${detail}`);
}

const read = (...objects: object[]): Partial<ContentInput> => ({
  read: { objects: objects.map((object) => ({ ...contacts, destination: 'records', ...object })) },
});
const contacts = { objectName: 'contacts' };
const companies = { objectName: 'companies' };
const always = { enabled: 'ALWAYS' } as const;

test('refuses content that does nothing', () => {
  const emptyContents = [
    ': does nothing. Add objects to read, write or subscribe to, a proxy, or watchSchema.',
  ];
  expect(listFindings({})).toEqual(emptyContents);
  expect(listFindings({ read: { objects: [] }, proxy: { enabled: false } })).toEqual(emptyContents);
  expect(listFindings({ proxy: { enabled: true } })).toEqual([]);
});

test('refuses inheritMapping if the object is not read', () => {
  const write = { write: { objects: [{ objectName: 'contacts', inheritMapping: true }] } };
  expect(listFindings(write)).toEqual([
    'write.objects[0].inheritMapping: needs contacts in read.objects, whose mapping it uses.',
  ]);
  expect(listFindings({ ...read({}), ...write })).toEqual([]);
});

test('accepts any object if the provider does not list its objects', () => {
  const anyObject = { provider: { name: 'sandbox' } };
  expect(listFindings(read({ objectName: 'Custom__c' }), anyObject)).toEqual([]);
});

test('refuses a mapped name that another object uses', () => {
  expect(
    listFindings(read({ mapToName: 'people' }, { ...companies, mapToName: 'people' })),
  ).toEqual(["read.objects[1].mapToName: is another object's name."]);
  expect(listFindings(read({ mapToName: 'companies' }, companies))).toEqual([
    "read.objects[0].mapToName: is another object's name.",
  ]);
  expect(listFindings(read({ mapToName: 'contacts' }))).toEqual([]);
});

test('refuses a field without a name', () => {
  expect(listFindings(read({ requiredFields: [{ mapToDisplayName: 'Nothing' }] }))).toEqual([
    'read.objects[0].requiredFields[0]: must have a fieldName or a mapToName.',
  ]);
});

test('requires the read object and its mapping for events about records only', () => {
  const subscribe = (object: object): Partial<ContentInput> => ({
    subscribe: { objects: [{ ...contacts, ...object }] },
  });
  const inherits = { inheritFieldsAndMapping: true };
  expect(listFindings(subscribe({ otherEvents: ['contact.merged'] }))).toEqual([]);
  for (const event of ['createEvent', 'updateEvent', 'deleteEvent', 'associationChangeEvent']) {
    expect(listFindings(subscribe({ [event]: always, ...inherits }))).toEqual([
      'subscribe.objects[0].objectName: must also be listed in read.objects, because inheritFieldsAndMapping is set.',
    ]);
    expect(listFindings(subscribe({ [event]: always }))).toEqual([
      'subscribe.objects[0].inheritFieldsAndMapping: must be true, because the object has events of records.',
    ]);
    expect(listFindings({ ...read({}), ...subscribe({ [event]: always, ...inherits }) })).toEqual(
      [],
    );
  }
});

test('refuses watchFieldsAuto together with requiredWatchFields', () => {
  const watchUpdates = (updateEvent: object): Partial<ContentInput> => ({
    ...read({}),
    subscribe: {
      objects: [
        { ...contacts, inheritFieldsAndMapping: true, updateEvent: { ...always, ...updateEvent } },
      ],
    },
  });
  const requiredWatchFields = ['email'];
  expect(listFindings(watchUpdates({ watchFieldsAuto: 'ALL', requiredWatchFields }))).toEqual([
    'subscribe.objects[0].updateEvent.requiredWatchFields: must not be combined with watchFieldsAuto.',
  ]);
  expect(listFindings(watchUpdates({ watchFieldsAuto: 'ALL', requiredWatchFields: [] }))).toEqual(
    [],
  );
  expect(listFindings(watchUpdates({ requiredWatchFields }))).toEqual([]);
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
  expect(listFindings(content)).toEqual([
    'read.objects[1].destination: is not a destination of the project.',
    'subscribe.objects[0].destination: is not a destination of the project.',
  ]);
});
