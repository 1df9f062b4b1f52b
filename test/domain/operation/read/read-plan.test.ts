import { expect, test } from 'vitest';
import type { z } from 'zod';
import {
  type ConfigInput,
  installationConfigInput,
  storedConfig,
} from '../../../../src/domain/installation/installation-config.ts';
import { integrationContentInput } from '../../../../src/domain/integration/integration-content-input.ts';
import {
  isEmptyWindow,
  nativeName,
  planKey,
  readPlan,
  scheduledWindow,
} from '../../../../src/domain/operation/read/read-plan.ts';
import { createCatalogue } from '../../../../src/domain/provider/catalogue.ts';
import { DECLARED } from '../../../../src/providers/declared/all.ts';
import { contentFor } from '../../../support/scenes/integrations.ts';

type ReadObjectInput = NonNullable<
  z.input<typeof integrationContentInput>['read']
>['objects'][number];
type ReadConfigInput = NonNullable<ConfigInput['read']>[number];

function planOf(
  object: Partial<ReadObjectInput> = {},
  choice: Omit<ReadConfigInput, 'objectName'> = {},
) {
  const [contacts] = contentFor().read.objects;
  const read = { objects: [{ ...contacts, ...object }] };
  const content = integrationContentInput.parse(contentFor('crm', { read }));
  const given = { read: [{ objectName: 'contacts', ...choice }] };
  const config = storedConfig(installationConfigInput.parse(given), content);
  const [spec, chosen] = [content.read?.objects[0], config.read[0]];
  if (!spec || !chosen) throw new Error('nothing is read');
  return { content, plan: readPlan(spec, chosen, { pageSize: 200 }) };
}

test('required and selected fields are read, others not', () => {
  expect(planOf().plan.fields).toEqual(['email']);
  expect(planOf({}, { selectedFields: ['phone'] }).plan.fields).toEqual(['email', 'phone']);
});

test('a selected field that the latest revision no longer has is not read', () => {
  const chosen = { selectedFields: ['phone', 'fax'] };
  expect(planOf({}, chosen).plan.fields).toEqual(['email', 'phone']);
  expect(planOf({ optionalFieldsAuto: 'ALL' }, chosen).plan.fields).toEqual([
    'email',
    'phone',
    'fax',
  ]);
});

test('mapped fields have both names, and a field that is left to be mapped gets the config’s', () => {
  const object = {
    requiredFields: [{ fieldName: 'email', mapToName: 'mail' }, { mapToName: 'rank' }],
    optionalFields: [{ mapToName: 'language' }],
  };
  const { plan } = planOf(object, { fieldMappings: [{ fieldName: 'score', mapToName: 'rank' }] });
  expect(plan.fields).toEqual(['email', 'score']);
  expect(plan.mappings).toEqual([
    { fieldName: 'email', mapToName: 'mail' },
    { fieldName: 'score', mapToName: 'rank' },
  ]);
});

test('the mapped name of the object is the one that is delivered; both lead to the object', () => {
  const { plan, content } = planOf({ mapToName: 'people' });
  expect(plan).toMatchObject({ objectName: 'contacts', deliveredName: 'people' });
  const services = { catalogue: createCatalogue([]) };
  expect(nativeName(services, content, 'people')).toBe('contacts');
  expect(nativeName(services, content, 'contacts')).toBe('contacts');
  expect(nativeName(services, content, 'deals')).toBeNull();
});

test('an alias of the provider leads to the object, unless it is a mapped name', () => {
  const services = { catalogue: createCatalogue(DECLARED) };
  const [contacts] = contentFor().read.objects;
  const objects = [
    { ...contacts, objectName: 'Contacts', mapToName: 'people' },
    { ...contacts, objectName: 'Accounts', mapToName: 'invoices' },
    { ...contacts, objectName: 'Invoices' },
  ];
  const content = integrationContentInput.parse(
    contentFor('crm', { provider: 'xero', read: { objects } }),
  );
  expect(nativeName(services, content, 'contacts')).toBe('Contacts');
  expect(nativeName(services, content, 'invoices')).toBe('Accounts');
});

test('the config’s destination goes before the integration’s', () => {
  expect(planOf().plan.destination).toBe('records');
  expect(planOf({}, { destination: 'other' }).plan.destination).toBe('other');
});

test('messages are as large as the integration says, and pages as the provider allows', () => {
  const sizes = (pageSize?: number) => planOf({ delivery: { pageSize } }).plan;
  expect(sizes()).toMatchObject({ pageSize: 200, messageSize: null });
  expect(sizes(50)).toMatchObject({ pageSize: 50, messageSize: 50 });
  expect(sizes(500)).toMatchObject({ pageSize: 200, messageSize: 500 });
});

test('a cursor is good for the same fields and conditions of the same account only', () => {
  const { plan } = planOf({}, { selectedFields: ['phone'] });
  const key = planKey('con_1', plan, []);
  expect(planKey('con_1', { ...plan, fields: ['phone', 'email'] }, [])).toBe(key);
  expect(planKey('con_2', plan, [])).not.toBe(key);
  expect(planKey('con_1', { ...plan, fields: ['email'] }, [])).not.toBe(key);
  const vip = { fieldName: 'lifecycle', operator: 'EQ' as const, value: 'customer' };
  expect(planKey('con_1', plan, [vip])).not.toBe(key);
});

const now = new Date('2026-01-02T10:00:00.700Z');
const aMinuteAgo = new Date('2026-01-02T09:59:00.700Z');
const never = { backfillDone: false, readUntil: null };

test('without a choice the first read is the whole history, open on both ends', () => {
  const whole = { readType: 'BACKFILL', since: null, until: null, position: aMinuteAgo };
  expect(scheduledWindow(never, null, now)).toEqual(whole);
  expect(scheduledWindow(never, { days: null, fullHistory: true }, now)).toEqual(whole);
});

test('a backfill of days begins so many days ago', () => {
  expect(scheduledWindow(never, { days: 2, fullHistory: null }, now)).toEqual({
    readType: 'BACKFILL',
    since: new Date('2025-12-31T10:00:00.700Z'),
    until: aMinuteAgo,
    position: aMinuteAgo,
  });
});

test('a backfill of 0 days reads nothing and begins with the second that it is', () => {
  const window = scheduledWindow(never, { days: 0, fullHistory: null }, now);
  expect(isEmptyWindow(window)).toBe(true);
  expect(window.position).toEqual(new Date('2026-01-02T10:00:00.000Z'));
});

test('later reads begin where the last one ended, and end where changes have settled', () => {
  const readUntil = new Date('2026-01-02T09:00:00.000Z');
  const window = scheduledWindow(
    { backfillDone: true, readUntil },
    { days: 2, fullHistory: null },
    now,
  );
  expect(window).toEqual({
    readType: 'SCHEDULED',
    since: readUntil,
    until: aMinuteAgo,
    position: aMinuteAgo,
  });
});

test('a read that follows at once has nothing to read, and the position never goes back', () => {
  const window = scheduledWindow({ backfillDone: true, readUntil: now }, null, now);
  expect(isEmptyWindow(window)).toBe(true);
  expect(window.position).toEqual(now);
});
