/** An installation's config in the reference API's form. */
import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { insertDestination } from '../../../support/fixtures/integrations.ts';
import { createRestInstallation } from '../../../support/rest/rest-installation.ts';

const app = await getSharedApp();

const read = {
  objects: [
    {
      objectName: 'contacts',
      destination: 'records',
      schedule: '0 * * * *',
      requiredFields: [{ fieldName: 'email' }],
      optionalFields: [{ fieldName: 'phone' }, { mapToName: 'owner' }],
    },
    { objectName: 'deals', destination: 'records', requiredFields: [{ fieldName: 'name' }] },
  ],
};
const write = { objects: [{ objectName: 'contacts' }, { objectName: 'deals' }] };
const content = { read, write, proxy: { enabled: true } };

const contacts = {
  objectName: 'contacts',
  schedule: '30 * * * *',
  selectedFields: { email: true, phone: false },
  selectedFieldMappings: { owner: 'firstname' },
  selectedValueMappings: {},
  dynamicMappingsInput: [],
  fieldFilters: [],
  backfill: { defaultPeriod: { days: 7, fullHistory: false }, fieldFilters: [] },
};
const config = {
  provider: 'sandbox',
  read: { objects: { contacts, deals: { objectName: 'deals' } } },
  write: { objects: { contacts: { objectName: 'contacts' } } },
  subscribe: { objects: {} },
  proxy: { enabled: true },
};

const install = () => createRestInstallation(app, { content, config });
type Rest = Awaited<ReturnType<typeof install>>;

/** Updates the config with the mask, and returns its content. */
async function updateContent(rest: Rest, updateMask: string[], content: object) {
  const body = { updateMask, installation: { config: { content } } };
  return (await rest.patch(rest.installationPath, body)).config.content;
}

const listSortedIssueNames = ({ issues = [] }: { issues?: { name: string }[] }) =>
  issues.map(({ name }) => name).sort();

test('returns the config as written, without empty and false members', async () => {
  const { installation, get, installationPath } = await install();
  expect(installation.config.content).toEqual({
    provider: 'sandbox',
    read: {
      objects: {
        contacts: {
          objectName: 'contacts',
          schedule: '30 * * * *',
          selectedFields: { email: true },
          selectedFieldMappings: { owner: 'firstname' },
          disabled: false,
          backfill: { defaultPeriod: { days: 7 } },
        },
        deals: {
          objectName: 'deals',
          selectedFields: { name: true },
          selectedFieldMappings: {},
          disabled: false,
        },
      },
    },
    write: {
      objects: { contacts: { objectName: 'contacts', deletionSettings: { enabled: false } } },
    },
    proxy: { enabled: true },
  });
  const [listedInstallation] = await get(
    `${installationPath.replace(/\/[^/]+$/, '')}?groupRef=acme`,
  );
  expect(listedInstallation.config).toEqual(installation.config);
});

test('ignores values outside the mask, even invalid ones', async () => {
  const rest = await install();
  const values = { createdBy: 'consumer:bob', content: { read: 'nothing', more: 1 } };
  const changed = await rest.patch(rest.installationPath, {
    updateMask: ['config.createdBy'],
    installation: { connectionId: 5, config: values },
  });
  expect(changed.config.createdBy).toBe('consumer:bob');
  const refusal = await rest.expectRefusal('PATCH', rest.installationPath, {
    updateMask: ['connectionId', 'config.createdBy'],
    installation: { connectionId: 5, config: values },
  });
  expect(refusal.issues?.map(({ name }) => name)).toEqual(['installation.connectionId']);
});

test('returns createdBy and the id of the active revision', async () => {
  const rest = await install();
  const { latestRevision } = await rest.get(rest.integrationPath);
  expect(rest.installation.config.revisionId).toBe(latestRevision.id);
  const changed = await rest.patch(rest.installationPath, {
    updateMask: ['config.createdBy'],
    installation: { config: { createdBy: 'consumer:ann' } },
  });
  expect(changed.config).toMatchObject({
    createdBy: 'consumer:ann',
    revisionId: latestRevision.id,
  });
  expect(changed.config.content).toEqual(rest.installation.config.content);
  expect(changed.createdBy).toBe(`api:${rest.tenant.apiKeyId}`);
  await updateContent(rest, ['config.content.proxy.enabled'], { proxy: { enabled: false } });
  expect((await rest.get(rest.installationPath)).config.createdBy).toBe('consumer:ann');
});

test('merges the fields in the mask into the config, and keeps the rest', async () => {
  const rest = await install();
  const { content: contentBefore } = rest.installation.config;
  const disabled = await updateContent(rest, ['config.content.read.objects.contacts.disabled'], {
    read: { objects: { contacts: { disabled: true }, deals: { disabled: true } } },
  });
  const { read: readBefore } = contentBefore;
  const contactsDisabled = { ...readBefore.objects.contacts, disabled: true };
  expect(disabled).toEqual({
    ...contentBefore,
    read: { objects: { ...readBefore.objects, contacts: contactsDisabled } },
  });
  const replaced = await updateContent(rest, ['config.content.read.objects.contacts'], {
    read: { objects: { contacts: { selectedFields: { phone: true } } } },
  });
  expect(replaced.read.objects).toEqual({
    ...readBefore.objects,
    contacts: {
      objectName: 'contacts',
      selectedFields: { phone: true },
      selectedFieldMappings: {},
      disabled: false,
    },
  });
  const writtenConfig = await updateContent(
    rest,
    ['config.content.write.objects', 'config.content.proxy.enabled'],
    {
      write: { objects: { deals: { objectName: 'deals', deletionSettings: { enabled: true } } } },
      proxy: { enabled: false },
    },
  );
  expect(writtenConfig).toEqual({
    ...replaced,
    write: { objects: { deals: { objectName: 'deals', deletionSettings: { enabled: true } } } },
    proxy: { enabled: false },
  });
  const added = await updateContent(rest, ['config.content.write.objects.contacts'], {
    write: { objects: { contacts: {} } },
  });
  expect(Object.keys(added.write.objects)).toEqual(['deals', 'contacts']);
});

test('accepts escaped dots in a mask, and refuses names of inherited members', async () => {
  const rest = await install();
  const dotted = await rest.expectRefusal('PATCH', rest.installationPath, {
    updateMask: ['config.content.read.objects.a\\.b\\:c.disabled'],
    installation: { config: { content: { read: { objects: { 'a.b:c': { disabled: true } } } } } },
  });
  expect(listSortedIssueNames(dotted)).toEqual(['installation.config.content.read.objects.a.b:c']);
  for (const name of ['__proto__', 'constructor']) {
    const text = `{ "read": { "objects": { "${name}": { "disabled": true } } } }`;
    const refusal = await rest.expectRefusal('PATCH', rest.installationPath, {
      updateMask: [`config.content.read.objects.${name}.disabled`],
      installation: { config: { content: JSON.parse(text) } },
    });
    expect(refusal.status).toBe(400);
    expect({}).not.toHaveProperty('disabled');
  }
});

test('refuses invalid choices at their positions', async () => {
  const rest = await install();
  const fetchIssueNames = async (updateMask: string[], content: object) =>
    listSortedIssueNames(
      await rest.expectRefusal('PATCH', rest.installationPath, {
        updateMask,
        installation: { config: { content } },
      }),
    );
  const contactsMask = 'config.content.read.objects.contacts';
  const createContent = (object: object) => ({ read: { objects: { contacts: object } } });
  const createIssuePath = (place: string) =>
    `installation.config.content.read.objects.contacts${place}`;
  expect(await fetchIssueNames(['config.content.module'], {})).toEqual(['updateMask[0]']);
  const unknown = { updateMask: ['config.content.module'], installation: {} };
  const { remedy } = await rest.expectRefusal('PATCH', rest.installationPath, unknown);
  expect(remedy).toContain('config.content.proxy.enabled');
  expect(await fetchIssueNames([contactsMask], {})).toEqual([createIssuePath('')]);
  expect(
    await fetchIssueNames(
      [contactsMask],
      createContent({ selectedFields: { email: true, nothing: true } }),
    ),
  ).toEqual([createIssuePath('.selectedFields.nothing')]);
  expect(
    await fetchIssueNames(
      [contactsMask],
      createContent({ selectedFieldMappings: { unknown: 'x' } }),
    ),
  ).toEqual([createIssuePath('.selectedFieldMappings.unknown')]);
  expect(
    await fetchIssueNames([contactsMask], createContent({ backfill: { defaultPeriod: {} } })),
  ).toEqual([createIssuePath('.backfill.defaultPeriod')]);
  expect(
    await fetchIssueNames(
      [contactsMask],
      createContent({ selectedFields: ['email'], misspelled: 1 }),
    ),
  ).toEqual([createIssuePath('.misspelled'), createIssuePath('.selectedFields')]);
  expect(await fetchIssueNames([contactsMask], createContent({ objectName: 'deals' }))).toEqual([
    createIssuePath('.objectName'),
  ]);
  const body = { groupRef: 'other', config: { content: { provider: 'hubspot' } } };
  expect(
    listSortedIssueNames(
      await rest.expectRefusal('POST', `${rest.integrationPath}/installations`, body),
    ),
  ).toContain('config.content.provider');
  expect((await rest.get(rest.installationPath)).config).toEqual(rest.installation.config);
});

test('changes an object of the config by JSON Patch', async () => {
  const rest = await install();
  await insertDestination(app, rest.tenant, 'others');
  const path = `${rest.integrationPath}/objects/contacts/config-content`;
  const changed = await rest.patch(path, {
    groupRef: 'acme',
    action: 'read',
    changes: [
      { op: 'add', path: '/selectedFields/phone', value: true },
      { op: 'add', path: '/destination', value: 'others' },
      { op: 'remove', path: '/schedule' },
      { op: 'remove', path: '/selectedFieldMappings/owner' },
    ],
  });
  const { contacts: contactsBefore, deals } = rest.installation.config.content.read.objects;
  const { schedule: _, ...contactsWithoutSchedule } = contactsBefore;
  expect(changed.config.content.read.objects).toEqual({
    deals,
    contacts: {
      ...contactsWithoutSchedule,
      destination: 'others',
      selectedFields: { email: true, phone: true },
      selectedFieldMappings: {},
    },
  });
  const { id: installationId } = rest.installation;
  const deletion = await rest.patch(path, {
    installationId,
    action: 'write',
    changes: [{ op: 'replace', path: '/deletionSettings/enabled', value: true }],
  });
  expect(deletion.config.content.write.objects.contacts.deletionSettings).toEqual({
    enabled: true,
  });
});

test('changes nothing if a JSON Patch fails', async () => {
  const rest = await install();
  const createPath = (object: string) => `${rest.integrationPath}/objects/${object}/config-content`;
  const getPatchRefusal = (overrides: object, object = 'contacts') =>
    rest.expectRefusal('PATCH', createPath(object), {
      groupRef: 'acme',
      action: 'read',
      ...overrides,
    });
  const add = { op: 'add', path: '/selectedFields/phone', value: true };
  const missingPath = { op: 'replace', path: '/nothing/there', value: 1 };
  expect(listSortedIssueNames(await getPatchRefusal({ changes: [add, missingPath] }))).toEqual([
    'changes[1].path',
  ]);
  expect(await getPatchRefusal({ changes: [{ ...add, value: 'yes' }] })).toMatchObject({
    status: 400,
  });
  const misspelled = { op: 'add', path: '/schedul', value: '' };
  expect(await getPatchRefusal({ changes: [misspelled] })).toMatchObject({
    issues: [{ detail: 'is not a member of this input. Did you mean schedule?' }],
  });
  expect(await getPatchRefusal({ changes: [] })).toMatchObject({ status: 400 });
  expect(await getPatchRefusal({ changes: [add] }, 'companies')).toMatchObject({ status: 404 });
  expect(await getPatchRefusal({ changes: [add], action: 'subscribe' })).toMatchObject({
    status: 404,
  });
  expect(await getPatchRefusal({ changes: [add], groupRef: 'unknown' })).toMatchObject({
    status: 404,
  });
  const { id: installationId } = rest.installation;
  expect(await getPatchRefusal({ changes: [add], installationId })).toMatchObject({ status: 400 });
  expect((await rest.get(rest.installationPath)).config).toEqual(rest.installation.config);
  const reader = await rest.withScopes('read');
  const patch = { groupRef: 'acme', action: 'read', changes: [add] };
  expect(await reader.expectRefusal('PATCH', createPath('contacts'), patch)).toMatchObject({
    status: 403,
  });
  const otherTenant = await install();
  expect(await otherTenant.expectRefusal('PATCH', createPath('contacts'), patch)).toMatchObject({
    status: 404,
  });
});

test('applies concurrent patches one after the other', async () => {
  const rest = await install();
  const path = `${rest.integrationPath}/objects/contacts/config-content`;
  const enable = (action: string, change: object) =>
    rest.patch(path, { groupRef: 'acme', action, changes: [change] });
  await Promise.all([
    enable('read', { op: 'add', path: '/selectedFields/phone', value: true }),
    enable('read', { op: 'add', path: '/disabled', value: true }),
    enable('write', { op: 'add', path: '/deletionSettings', value: { enabled: true } }),
  ]);
  const { read: readConfig, write: writeConfig } = (await rest.get(rest.installationPath)).config
    .content;
  expect(readConfig.objects.contacts).toMatchObject({
    disabled: true,
    selectedFields: { email: true, phone: true },
  });
  expect(writeConfig.objects.contacts.deletionSettings).toEqual({ enabled: true });
});

test('returns 422 for proxy requests if the config disables the proxy', async () => {
  const rest = await install();
  const proxyPath = `${rest.base}/installations/${rest.installation.id}/proxy/objects`;
  await updateContent(rest, ['config.content.proxy.enabled'], { proxy: { enabled: false } });
  const { status, body } = await rest.request('GET', proxyPath);
  expect([status, body.detail]).toEqual([
    422,
    "The installation's config does not allow forwarded requests.",
  ]);
});
