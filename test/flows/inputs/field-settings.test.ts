import { expect, test } from 'vitest';
import type { z } from 'zod';
import type { writeFieldSettingInput } from '../../../src/domain/integrations/installation/choice/write-field-setting.ts';
import type { Provider } from '../../../src/providers/contract.ts';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection, PROVIDERS } from '../../support/fixtures/connections.ts';
import {
  createIntegration,
  createIntegrationContent,
} from '../../support/fixtures/integrations.ts';
import {
  createContact,
  createWriter,
  startWriteJobs,
  WRITE_RECORDS,
  type Writer,
} from '../../support/fixtures/writes.ts';
import { expectEqualIssues } from '../../support/rest/equal-refusals.ts';
import { createRestTenant } from '../../support/rest/rest-client.ts';
import { createRestInstallation } from '../../support/rest/rest-installation.ts';

const app = await getSharedApp();
const { sandbox, services } = app.app;
const providersApp = await getSharedApp({ providers: PROVIDERS });

const write = { objects: [{ objectName: 'contacts', valueDefaults: { allowAnyFields: true } }] };
type Setting = z.input<typeof writeFieldSettingInput>;
const createConfig = (...fields: Setting[]) => ({ write: [{ objectName: 'contacts', fields }] });

const findContact = (id: string) =>
  sandbox.listRecords('contacts').find((record) => record.id === id);

async function findFirstLog(operationId: string) {
  const [line] = await services.database.prisma.operationLog.findMany({
    where: { operationId },
    orderBy: { id: 'asc' },
  });
  return line;
}

function createSettingsWriter(...fields: Setting[]): Promise<Writer> {
  return createWriter(app, { content: { write }, config: createConfig(...fields) });
}

test('writes defaults of missing fields, and logs their names without values', async () => {
  const writer = await createSettingsWriter(
    { fieldName: 'phone', default: '0800 1' },
    { fieldName: 'score', default: 7, writeOnUpdate: 'NEVER' },
  );
  const { result, operationId } = await writer.write({ record: createContact({ phone: '' }) });
  expect(findContact(result.recordId)).toMatchObject({ phone: '0800 1', score: 7 });
  const line = await findFirstLog(operationId);
  expect(line?.details).toEqual({ defaults: ['phone', 'score'] });
  expect(JSON.stringify(line)).not.toContain('0800');

  const withValues = await writer.write({ record: createContact({ phone: '1', score: 0 }) });
  expect(findContact(withValues.result.recordId)).toMatchObject({ phone: '1', score: 0 });
  const update = { id: result.recordId, score: 9 };
  const changed = await writer.write({ type: 'UPDATE', record: { ...update, phone: '2' } });
  expect(findContact(result.recordId)).toMatchObject({ phone: '2', score: 7 });
  expect((await findFirstLog(changed.operationId))?.details).toEqual({
    omittedFields: ['score'],
  });
});

test('refuses a record of which the installation writes no field', async () => {
  const setting = { fieldName: 'score', writeOnCreate: 'NEVER', writeOnUpdate: 'NEVER' } as const;
  const writer = await createSettingsWriter(setting);
  for (const write of [
    { type: 'CREATE', record: { score: 1 } },
    { type: 'UPDATE', record: { id: 'con_1', score: 1 } },
  ]) {
    const refusal = await writer.expectRefusal(WRITE_RECORDS, writer.createVariables(write));
    expect(refusal.code).toBe('BAD_USER_INPUT');
    expect(refusal.problem.issues).toMatchObject([
      {
        name: 'input.records.record',
        detail: 'has no field that is written. These names are omitted: score.',
      },
    ]);
  }
});

test('writes a default if the installation writes no field of the input', async () => {
  const writer = await createSettingsWriter(
    { fieldName: 'email', default: 'default@example.test' },
    { fieldName: 'score', writeOnCreate: 'NEVER' },
  );
  const { result } = await writer.write({ record: { score: 1 } });
  expect(result).toMatchObject({ success: true });
  expect(findContact(result.recordId)).toMatchObject({ email: 'default@example.test' });
});

test('does not overwrite a value at the provider if the field is written only when empty', async () => {
  const writer = await createSettingsWriter({
    fieldName: 'phone',
    default: 'none',
    writeOnUpdate: 'IF_EMPTY',
  });
  const plainWriter = await createSettingsWriter();
  const [filledRecord, emptyRecord] = [createContact({ phone: '1' }), createContact()];
  const creation = await plainWriter.write({
    batch: [{ record: filledRecord }, { record: emptyRecord }],
  });
  const ids: string[] = creation.results.map(({ recordId }: { recordId: string }) => recordId);
  const [filledId = '', emptyId = ''] = ids;
  await writer.write({ type: 'UPDATE', record: { id: filledId, phone: '2', lastname: 'New' } });
  expect(findContact(filledId)).toMatchObject({ phone: '1', lastname: 'New' });

  const batch = ids.map((id) => ({ record: { id, lastname: 'Batch' } }));
  const batchResult = await writer.write({ type: 'UPDATE', batch });
  expect(batchResult).toMatchObject({ successCount: 2 });
  expect(findContact(filledId)).toMatchObject({ phone: '1', lastname: 'Batch' });
  expect(findContact(emptyId)).toMatchObject({ phone: 'none', lastname: 'Batch' });
  await using _workers = await startWriteJobs(app);
  const input = { type: 'UPDATE', mode: 'ASYNCHRONOUS', record: { id: filledId, phone: '3' } };
  const asynchronous = await writer.write(input);
  expect(await writer.waitForOperation(asynchronous.operationId)).toMatchObject({
    status: 'SUCCESS',
  });
  expect(findContact(filledId)).toMatchObject({ phone: '1' });
});

test('writes defaults of auto-batched records', async () => {
  const writer = await createSettingsWriter({ fieldName: 'phone', default: 'collected' });
  const creation = await writer.write({
    mode: 'ASYNCHRONOUS',
    record: createContact(),
    autoBatchPolicy: { maxDelayMinutes: 1 },
  });
  expect((await findFirstLog(creation.operationId))?.details).toEqual({ defaults: ['phone'] });
  const { record } = await services.database.prisma.writeEntry.findFirstOrThrow({
    where: { operationId: creation.operationId },
  });
  expect(record).toMatchObject({ phone: 'collected' });
});

test("translates mapped names of settings to the provider's names", async () => {
  const [contacts] = createIntegrationContent().read.objects;
  const mappedContacts = {
    ...contacts,
    optionalFields: [{ fieldName: 'phone', mapToName: 'telephone' }],
  };
  const content = {
    read: { objects: [mappedContacts] },
    write: { objects: [{ objectName: 'contacts', inheritMapping: true }] },
  };
  const config = {
    read: [{ objectName: 'contacts' }],
    ...createConfig({ fieldName: 'telephone', default: '1' }),
  };
  const writer = await createWriter(app, { content, config });
  const { result } = await writer.write({ record: { email: 'mapped@example.com' } });
  expect(findContact(result.recordId)).toMatchObject({ phone: '1' });
});

test('refuses settings of an unknown field at its position', async () => {
  const rest = await createRestTenant(providersApp);
  await createIntegration(
    providersApp,
    rest.tenant,
    createIntegrationContent('crm', {
      read: null,
      write: { objects: [{ objectName: 'contacts' }] },
    }),
  );
  await generateConnection(rest.tenant, { apiKey: 'sandbox-key' });
  const target = { integrationIdOrName: 'crm', groupRef: 'acme' };
  const path = 'config.content.write.objects.contacts.selectedFieldSettings';
  expect(
    await expectEqualIssues(rest, 'createInstallation', {
      ...target,
      config: createConfig({ fieldName: 'fax' }),
    }),
  ).toEqual([`${path}.fax: is not a field that the integration names for contacts.`]);
});

test('refuses IF_EMPTY if the provider cannot return records by id', async () => {
  const rest = await createRestTenant(providersApp);
  const { capabilities } = providersApp.app.services.catalogs.builtIn.find('linear') as Provider;
  expect(capabilities.readRecords).toBeDefined();
  const objects = [{ objectName: 'projectStatuses', valueDefaults: { allowAnyFields: true } }];
  const linear = { provider: 'linear', read: null, write: { objects } };
  await createIntegration(providersApp, rest.tenant, createIntegrationContent('work', linear));
  const oauth2AuthorizationCode = { accessToken: { token: 'linear-token' }, scopes: [] };
  await generateConnection(rest.tenant, { provider: 'linear', oauth2AuthorizationCode });
  const fields = [{ fieldName: 'name', writeOnUpdate: 'IF_EMPTY' as const }];
  const config = { write: [{ objectName: 'projectStatuses', fields }] };
  const target = { integrationIdOrName: 'work', groupRef: 'acme' };
  expect(await expectEqualIssues(rest, 'createInstallation', { ...target, config })).toEqual([
    "config.content.write.objects.projectStatuses.selectedFieldSettings.name.writeOnUpdate: must be always or never: Linear can't read projectStatuses by id.",
  ]);
});

test('accepts and returns settings over REST in the form of the reference API', async () => {
  const rest = await createRestInstallation(app, { content: { write } });
  const selectedFieldSettings = {
    phone: { default: { stringValue: '1' }, writeOnCreate: 'always', writeOnUpdate: 'ifEmpty' },
    score: { default: { integerValue: 3 }, writeOnCreate: 'never', writeOnUpdate: 'always' },
  };
  const mask = 'config.content.write.objects.contacts.selectedFieldSettings';
  const objects = { contacts: { selectedFieldSettings } };
  const changed = await rest.patch(rest.installationPath, {
    updateMask: [mask],
    installation: { config: { content: { write: { objects } } } },
  });
  expect(changed.config.content.write.objects.contacts).toMatchObject({ selectedFieldSettings });
  const { node } = await rest.tenant.query(
    `query Installation($id: ID!) { node(id: $id) { ... on Installation { config { write { fields {
      fieldName default writeOnCreate writeOnUpdate
    } } } } } }`,
    { id: rest.installation.id },
  );
  expect(node.config.write[0].fields).toEqual([
    { fieldName: 'phone', default: '1', writeOnCreate: 'ALWAYS', writeOnUpdate: 'IF_EMPTY' },
    { fieldName: 'score', default: 3, writeOnCreate: 'NEVER', writeOnUpdate: 'ALWAYS' },
  ]);
});
