/**
 * A customer chooses fields, values and records of an object. The choices are sent over REST, as the connect page sends
 * them.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { createIntegration } from '../../support/fixtures/integrations.ts';
import { startUnscheduledReadJobs } from '../../support/fixtures/reads.ts';
import { readNow, readOnSchedule } from '../../support/fixtures/rest-reads.ts';
import { expectEqualIssues } from '../../support/rest/equal-refusals.ts';
import { createRestTenant } from '../../support/rest/rest-client.ts';
import { createRestInstallation } from '../../support/rest/rest-installation.ts';

const app = await getSharedApp();
const { sandbox } = app.app;
sandbox.seed('contacts', 12);
const storedContacts = sandbox.listRecords('contacts');

let workers: AsyncDisposable;
beforeAll(async () => {
  workers = await startUnscheduledReadJobs(app);
});
afterAll(() => workers[Symbol.asyncDispose]());

const contacts = {
  objectName: 'contacts',
  destination: 'records',
  schedule: '*/10 * * * *',
  requiredFields: [
    { fieldName: 'email' },
    { fieldName: 'lifecycle', mapToName: 'phase' },
    { mapToName: 'owner', default: 'lastname', prompt: 'Who owns it?' },
  ],
  optionalFields: [{ fieldName: 'phone' }, { mapToName: 'rank', default: 'score' }],
};

function install(choice?: object, object: object = {}) {
  const content = { read: { objects: [{ ...contacts, ...object }] } };
  const config = choice && { read: { objects: { contacts: { ...choice } } } };
  return createRestInstallation(app, { content, ...(config && { config }) });
}

test("uses the default of an unmapped name, and replaces it with the customer's mapping", async () => {
  const defaultRest = await install();
  const { selectedFieldMappings } = defaultRest.installation.config.content.read.objects.contacts;
  expect(selectedFieldMappings).toEqual({ owner: 'lastname', rank: 'score' });
  const [defaultRecord] = await readNow(app, defaultRest);
  expect(defaultRecord?.mappedFields).toEqual({
    phase: storedContacts[0]?.lifecycle,
    owner: storedContacts[0]?.lastname,
    rank: storedContacts[0]?.score,
  });

  const mappedRest = await install({ selectedFieldMappings: { owner: 'firstname' } });
  const [mappedRecord] = await readNow(app, mappedRest);
  expect(mappedRecord?.mappedFields).toEqual({
    phase: storedContacts[0]?.lifecycle,
    owner: storedContacts[0]?.firstname,
  });
  const [unmappedRecord] = await readNow(app, await install({ selectedFieldMappings: {} }));
  expect(unmappedRecord?.mappedFields).toMatchObject({ owner: storedContacts[0]?.lastname });
});

test('continues to read after a revision that adds a required name with a default', async () => {
  const rest = await install({ selectedFieldMappings: {} });
  const requiredFields = [...contacts.requiredFields, { mapToName: 'size', default: 'score' }];
  const { latestRevision } = await rest.get(rest.integrationPath);
  await rest.post(`${rest.integrationPath}/revisions`, {
    revision: {
      specVersion: '1.0.0',
      content: { ...latestRevision.content, read: { objects: [{ ...contacts, requiredFields }] } },
    },
  });
  const [record] = await readNow(app, rest);
  expect(record?.mappedFields).toMatchObject({ size: storedContacts[0]?.score });
  expect(await rest.get(rest.installationPath)).toMatchObject({ healthStatus: 'healthy' });
});

test("delivers mapped values in the builder's terms, and leaves other and raw values unchanged", async () => {
  const rest = await install(
    {
      selectedFields: { newsletter: true, interests: true },
      selectedValueMappings: {
        lifecycle: { fresh: 'subscriber', promising: 'lead', later: '' },
        newsletter: { yes: 'true' },
        interests: { goods: 'product' },
      },
    },
    { optionalFieldsAuto: 'all' },
  );
  const phases: Record<string, string> = { subscriber: 'fresh', lead: 'promising' };
  for (const [index, { fields, mappedFields, raw }] of (await readNow(app, rest)).entries()) {
    const { lifecycle, newsletter, interests } = storedContacts[index] as Record<string, string>;
    expect(mappedFields.phase).toBe(phases[lifecycle ?? ''] ?? lifecycle);
    expect(fields.lifecycle).toBe(lifecycle);
    expect(fields.newsletter).toBe(String(newsletter) === 'true' ? 'yes' : newsletter);
    expect(fields.interests).toEqual(String(interests) === 'product' ? ['goods'] : interests);
    expect(raw.lifecycle).toBe(lifecycle);
  }
  const { selectedValueMappings } = rest.installation.config.content.read.objects.contacts;
  expect(selectedValueMappings.lifecycle).toEqual({ fresh: 'subscriber', promising: 'lead' });
});

test('delivers names that the connect page adds, as mapped by the page or the customer', async () => {
  const dynamicMappingsInput = [
    { mapToName: 'spend', mapToDisplayName: 'Spend', fieldName: 'annual_spend' },
    {
      mapToName: 'tel',
      prompt: 'Which is the telephone?',
      mappedValues: [{ mappedValue: 'a', mappedDisplayValue: 'A' }],
    },
    { mapToName: 'unmapped' },
  ];
  const rest = await install({ dynamicMappingsInput, selectedFieldMappings: { tel: 'phone' } });
  const [record] = await readNow(app, rest);
  expect(record?.mappedFields).toEqual({
    phase: storedContacts[0]?.lifecycle,
    owner: storedContacts[0]?.lastname,
    spend: storedContacts[0]?.annual_spend,
    tel: storedContacts[0]?.phone,
  });
  const { objects } = rest.installation.config.content.read;
  expect(objects.contacts.dynamicMappingsInput).toEqual(dynamicMappingsInput);
});

test('reads all selectable fields: those of the integration, or those of the account', async () => {
  const withNamedFields = await install({ selectedFieldsAuto: 'all' });
  expect(Object.keys((await readNow(app, withNamedFields))[0]?.fields ?? {}).sort()).toEqual(
    ['email', 'lastname', 'lifecycle', 'phone', 'score'].sort(),
  );
  const allFields = await install({ selectedFieldsAuto: 'all' }, { optionalFieldsAuto: 'all' });
  const { associations: _, ...fields } = storedContacts[0] as Record<string, unknown>;
  expect((await readNow(app, allFields))[0]?.fields).toEqual(fields);
});

test('reads only records that match the conditions, and uses separate conditions for the backfill', async () => {
  const leads = storedContacts.filter(({ lifecycle }) => lifecycle === 'lead');
  const listEmails = (records: { fields: Record<string, unknown> }[]) =>
    records.map(({ fields }) => fields.email);
  const leadFilter = { fieldName: 'lifecycle', operator: 'eq', value: 'lead' };
  const bothFilters = [leadFilter, { fieldName: 'newsletter', operator: 'eq', value: true }];
  const rest = await install({
    fieldFilters: [leadFilter],
    backfill: { defaultPeriod: { fullHistory: true }, fieldFilters: bothFilters },
  });
  expect(listEmails(await readNow(app, rest))).toEqual(leads.map(({ email }) => email));
  expect(listEmails(await readOnSchedule(app, rest))).toEqual(
    leads.filter(({ newsletter }) => newsletter === true).map(({ email }) => email),
  );
});

test('starts the backfill at the time of the integration, unless the config sets another time', async () => {
  const noBackfill = { backfill: { defaultPeriod: { days: 0 } } };
  expect(await readOnSchedule(app, await install({}, noBackfill))).toEqual([]);
  const fullBackfill = { backfill: { defaultPeriod: { fullHistory: true } } };
  expect(await readOnSchedule(app, await install(fullBackfill, noBackfill))).toHaveLength(12);
});

test('refuses contradicting or unknown choices at their position, on both surfaces', async () => {
  const rest = await install();
  const fetchIssues = (choice: object) =>
    expectEqualIssues(rest, 'createInstallation', {
      integrationIdOrName: 'crm',
      groupRef: 'acme',
      config: { read: [{ objectName: 'contacts', ...choice }] },
    });
  const issueAt = (path: string, detail: string) =>
    `config.content.read.objects.contacts.${path}: ${detail}`;
  const filter = { fieldName: 'score', value: 1 };
  expect(await fetchIssues({ fieldFilters: [filter, filter] })).toEqual([
    issueAt('fieldFilters[1].fieldName', 'is named twice.'),
  ]);
  const sameProviderValue = ['a', 'b'].map((deliveredValue) => ({
    deliveredValue,
    providerValue: 'lead',
  }));
  expect(
    await fetchIssues({ valueMappings: [{ fieldName: 'lifecycle', values: sameProviderValue }] }),
  ).toEqual([
    issueAt('selectedValueMappings.lifecycle.b', 'is mapped twice: values are mapped one to one.'),
  ]);
  expect(
    await fetchIssues({ dynamicMappings: [{ mapToName: 'phase', fieldName: 'score' }] }),
  ).toEqual([
    issueAt(
      'dynamicMappingsInput[0].mapToName',
      "is already the integration's name for lifecycle.",
    ),
  ]);
  expect(
    await fetchIssues({ fieldMappings: [{ mapToName: 'unknown', fieldName: 'score' }] }),
  ).toEqual([
    issueAt('selectedFieldMappings.unknown', 'is not a name of contacts that customers can map.'),
  ]);
  const unknownField = { fieldName: 'nothing', value: 'x' };
  expect(await fetchIssues({ fieldFilters: [unknownField] })).toEqual([
    issueAt('fieldFilters[0].fieldName', 'is not a field of contacts in the account.'),
  ]);
});

test('refuses conditions if the provider supports none, or fewer', async () => {
  const fetchRefusal = async (provider: string, fieldFilters: object[]) => {
    const rest = await createRestTenant(app);
    await createIntegration(app, rest.tenant, {
      name: 'crm',
      provider,
      read: { objects: [{ objectName: 'contacts', destination: 'records' }] },
    });
    return rest.expectRefusal('POST', `${rest.base}/integrations/crm/installations`, {
      groupRef: 'acme',
      config: { content: { read: { objects: { contacts: { fieldFilters } } } } },
    });
  };
  const filters = ['a', 'b', 'c', 'd'].map((fieldName) => ({
    fieldName,
    operator: 'eq',
    value: 1,
  }));
  const name = 'config.content.read.objects.contacts.fieldFilters';
  expect((await fetchRefusal('freshdesk', filters)).issues).toContainEqual(
    expect.objectContaining({
      name,
      detail: "must be empty: contacts of Freshdesk can't be filtered.",
    }),
  );
  expect((await fetchRefusal('hubspot', filters)).issues).toContainEqual(
    expect.objectContaining({
      name,
      detail: 'must contain at most 3 conditions: HubSpot supports no more.',
    }),
  );
});
