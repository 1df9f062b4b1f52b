import { expect, test } from 'vitest';
import type { z } from 'zod';
import { createCatalog } from '../../../../../src/domain/access/catalog.ts';
import {
  createPlanKey,
  createReadPlan,
  createReadWindow,
  findProviderName,
  isEmptyWindow,
} from '../../../../../src/domain/data/operation/read/read-plan.ts';
import {
  type ConfigInput,
  installationConfigInput,
} from '../../../../../src/domain/integrations/installation/choice/installation-config-input.ts';
import { createStoredConfig } from '../../../../../src/domain/integrations/installation/installation-config.ts';
import { integrationContentInput } from '../../../../../src/domain/integrations/integration/integration-content-input.ts';
import { DECLARED } from '../../../../../src/providers/declared/all.ts';
import { MINUTE_MS } from '../../../../../src/work/durations.ts';
import { createIntegrationContent } from '../../../../support/fixtures/integrations.ts';

type ReadObjectInput = NonNullable<
  z.input<typeof integrationContentInput>['read']
>['objects'][number];
type ReadConfigInput = NonNullable<ConfigInput['read']>[number];

function createPlan(
  object: Partial<ReadObjectInput> = {},
  choice: Omit<ReadConfigInput, 'objectName'> = {},
) {
  const [contacts] = createIntegrationContent().read.objects;
  const read = { objects: [{ ...contacts, ...object }] };
  const content = integrationContentInput.parse(createIntegrationContent('crm', { read }));
  const input = { read: [{ objectName: 'contacts', ...choice }] };
  const config = createStoredConfig(installationConfigInput.parse(input), content);
  const [readObject, readConfig] = [content.read?.objects[0], config.read[0]];
  if (!readObject || !readConfig) throw new Error('The content has no read object.');
  return { content, readPlan: createReadPlan(readObject, readConfig, { pageSize: 200 }) };
}

test('reads required and selected fields only', () => {
  expect(createPlan().readPlan.fields).toEqual(['email']);
  expect(createPlan({}, { selectedFields: ['phone'] }).readPlan.fields).toEqual(['email', 'phone']);
});

test('ignores a selected field that the latest revision no longer has', () => {
  const readConfig = { selectedFields: ['phone', 'fax'] };
  expect(createPlan({}, readConfig).readPlan.fields).toEqual(['email', 'phone']);
  expect(createPlan({ optionalFieldsAuto: 'ALL' }, readConfig).readPlan.fields).toEqual([
    'email',
    'phone',
    'fax',
  ]);
});

test('returns both names of mapped fields, and takes the mapping of unmapped names from the config', () => {
  const object = {
    requiredFields: [{ fieldName: 'email', mapToName: 'mail' }, { mapToName: 'rank' }],
    optionalFields: [{ mapToName: 'language' }],
  };
  const { readPlan } = createPlan(object, {
    fieldMappings: [{ fieldName: 'score', mapToName: 'rank' }],
  });
  expect(readPlan.fields).toEqual(['email', 'score']);
  expect(readPlan.mappings).toEqual([
    { fieldName: 'email', mapToName: 'mail' },
    { fieldName: 'score', mapToName: 'rank' },
  ]);
});

test('delivers the mapped name of an object, and finds the object by both names', () => {
  const { readPlan, content } = createPlan({ mapToName: 'people' });
  expect(readPlan).toMatchObject({ objectName: 'contacts', deliveredName: 'people' });
  const services = { catalog: createCatalog([]) };
  expect(findProviderName(services, content, 'people')).toBe('contacts');
  expect(findProviderName(services, content, 'contacts')).toBe('contacts');
  expect(findProviderName(services, content, 'deals')).toBeNull();
});

test("finds an object by the provider's alias, unless the alias is a mapped name", () => {
  const services = { catalog: createCatalog(DECLARED) };
  const [contacts] = createIntegrationContent().read.objects;
  const objects = [
    { ...contacts, objectName: 'Contacts', mapToName: 'people' },
    { ...contacts, objectName: 'Accounts', mapToName: 'invoices' },
    { ...contacts, objectName: 'Invoices' },
  ];
  const content = integrationContentInput.parse(
    createIntegrationContent('crm', { provider: 'xero', read: { objects } }),
  );
  expect(findProviderName(services, content, 'contacts')).toBe('Contacts');
  expect(findProviderName(services, content, 'invoices')).toBe('Accounts');
});

test("prefers the config's destination to the integration's", () => {
  expect(createPlan().readPlan.destination).toBe('records');
  expect(createPlan({}, { destination: 'other' }).readPlan.destination).toBe('other');
});

test("takes the size of messages from the integration, and limits pages to the provider's maximum", () => {
  const createPlanOfSize = (pageSize?: number) => createPlan({ delivery: { pageSize } }).readPlan;
  expect(createPlanOfSize()).toMatchObject({ pageSize: 200, messageSize: null });
  expect(createPlanOfSize(50)).toMatchObject({ pageSize: 50, messageSize: 50 });
  expect(createPlanOfSize(500)).toMatchObject({ pageSize: 200, messageSize: 500 });
});

test('changes the key of a plan with the connection, the fields or the conditions', () => {
  const { readPlan } = createPlan({}, { selectedFields: ['phone'] });
  const key = createPlanKey('con_1', readPlan, []);
  expect(createPlanKey('con_1', { ...readPlan, fields: ['phone', 'email'] }, [])).toBe(key);
  expect(createPlanKey('con_2', readPlan, [])).not.toBe(key);
  expect(createPlanKey('con_1', { ...readPlan, fields: ['email'] }, [])).not.toBe(key);
  const customerFilter = { fieldName: 'lifecycle', operator: 'EQ' as const, value: 'customer' };
  expect(createPlanKey('con_1', readPlan, [customerFilter])).not.toBe(key);
});

const now = new Date('2026-01-02T10:00:00.700Z');
const aMinuteAgo = new Date('2026-01-02T09:59:00.700Z');
const neverRead = { backfillDone: false, readUntil: null };
const timing = { settleMs: MINUTE_MS, lookBackMs: 0 };
const backfill = { days: 2, fullHistory: null };

test('first reads all records if the config has no default period', () => {
  const fullRead = { readType: 'BACKFILL', since: null, until: null, nextReadUntil: aMinuteAgo };
  expect(createReadWindow(neverRead, { backfill: null, timing }, now)).toEqual(fullRead);
  expect(
    createReadWindow(neverRead, { backfill: { days: null, fullHistory: true }, timing }, now),
  ).toEqual(fullRead);
});

test('first reads the records of the last days if the config has a number of days', () => {
  expect(
    createReadWindow(neverRead, { backfill: { days: 2, fullHistory: null }, timing }, now),
  ).toEqual({
    readType: 'BACKFILL',
    since: new Date('2025-12-31T10:00:00.700Z'),
    until: aMinuteAgo,
    nextReadUntil: aMinuteAgo,
  });
});

test('first reads nothing if the config has 0 days, and starts at the current second', () => {
  const window = createReadWindow(
    neverRead,
    { backfill: { days: 0, fullHistory: null }, timing },
    now,
  );
  expect(isEmptyWindow(window)).toBe(true);
  expect(window.nextReadUntil).toEqual(new Date('2026-01-02T10:00:00.000Z'));
});

test('starts a later read where the previous one ended, and ends it a minute ago', () => {
  const readUntil = new Date('2026-01-02T09:00:00.000Z');
  const window = createReadWindow({ backfillDone: true, readUntil }, { backfill, timing }, now);
  expect(window).toEqual({
    readType: 'SCHEDULED',
    since: readUntil,
    until: aMinuteAgo,
    nextReadUntil: aMinuteAgo,
  });
});

test('ends a window before the settle time, and begins it before the previous one ended', () => {
  const readUntil = new Date('2026-01-02T09:00:00.000Z');
  const lateList = { settleMs: 5 * MINUTE_MS, lookBackMs: 15 * MINUTE_MS };
  const window = createReadWindow(
    { backfillDone: true, readUntil },
    { backfill, timing: lateList },
    now,
  );
  const until = new Date('2026-01-02T09:55:00.700Z');
  const since = new Date('2026-01-02T08:45:00.000Z');
  expect(window).toEqual({ readType: 'SCHEDULED', since, until, nextReadUntil: until });
});

test('reads nothing if the previous read has just ended, and never moves its end back', () => {
  const window = createReadWindow(
    { backfillDone: true, readUntil: now },
    { backfill, timing },
    now,
  );
  expect(isEmptyWindow(window)).toBe(true);
  expect(window.nextReadUntil).toEqual(now);
});
