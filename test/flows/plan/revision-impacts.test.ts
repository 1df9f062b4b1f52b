/** A plan names the installations that a new revision breaks. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import {
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
  toRevision,
} from '../../support/fixtures/integrations.ts';
import { planDocument } from '../../support/fixtures/project-documents.ts';
import { createRestTenant, type RestTenant } from '../../support/rest/rest-client.ts';

const app = await getSharedApp();

type Field = { fieldName?: string; mapToName?: string };

interface Fields {
  requiredFields: Field[];
  optionalFields: Field[];
}

const EMAIL_FIELD = { fieldName: 'email' };
const TIER_FIELD = { mapToName: 'tier' };
const NICK_FIELD = { mapToName: 'nick' };
const PUBLISHED_FIELDS: Fields = {
  requiredFields: [EMAIL_FIELD],
  optionalFields: [{ fieldName: 'phone' }, TIER_FIELD, NICK_FIELD],
};

const createContent = (fields: Partial<Fields>, overrides: object = {}) =>
  createIntegrationContent('crm', {
    read: {
      objects: [{ objectName: 'contacts', destination: 'records', ...PUBLISHED_FIELDS, ...fields }],
    },
    ...overrides,
  });

/** Configs that select and map different fields. */
const CONFIG_BY_GROUP: Record<string, object> = {
  plain: { objectName: 'contacts' },
  phone: { objectName: 'contacts', selectedFields: ['phone'] },
  tier: { objectName: 'contacts', fieldMappings: [{ fieldName: 'firstname', mapToName: 'tier' }] },
  both: {
    objectName: 'contacts',
    selectedFields: ['phone'],
    fieldMappings: [
      { fieldName: 'firstname', mapToName: 'tier' },
      { fieldName: 'lastname', mapToName: 'nick' },
    ],
  },
  off: { objectName: 'contacts', disabled: true },
};

async function installAllGroups(): Promise<{
  rest: RestTenant;
  groupByInstallation: Map<string, string>;
}> {
  const rest = await createRestTenant(app);
  const integration = await createIntegration(app, rest.tenant, createContent({}));
  const groupByInstallation = new Map<string, string>();
  for (const [groupRef, read] of Object.entries(CONFIG_BY_GROUP)) {
    const config = { read: [read] };
    const { id } = await connectAndInstall(rest.tenant, integration, {
      groupRef,
      config,
      skipSampling: true,
    });
    groupByInstallation.set(id, groupRef);
  }
  return { rest, groupByInstallation };
}

interface Impact {
  path: string;
  reason: string;
  installationTotal: number;
  installations: { installationId: string }[];
}

const listGroups = (impacts: Impact[], groupByInstallation: Map<string, string>) =>
  [
    ...new Set(
      impacts.flatMap(({ installations }) =>
        installations.map(({ installationId }) => groupByInstallation.get(installationId)),
      ),
    ),
  ].sort();

const createDocument = (integration: object) =>
  JSON.stringify({ specVersion: '1.0.0', integrations: [integration] });

/** Returns the groups whose stored config is now refused. */
async function listRefusedGroups(rest: RestTenant, groupByInstallation: Map<string, string>) {
  const refused: string[] = [];
  for (const [id, groupRef] of groupByInstallation) {
    const path = `${rest.base}/integrations/crm/installations/${id}`;
    const { config } = await rest.get(path);
    const { status } = await rest.request('PATCH', path, {
      updateMask: ['config'],
      installation: { config },
    });
    if (status === 400) refused.push(groupRef);
  }
  return refused.sort();
}

test('lists the installations without a required mapping, which become unhealthy with the revision', async () => {
  const { rest, groupByInstallation } = await installAllGroups();
  const nextContent = createContent({
    requiredFields: [EMAIL_FIELD, TIER_FIELD],
    optionalFields: [{ fieldName: 'phone' }, NICK_FIELD],
  });
  const { impacts } = await planDocument(rest, createDocument(nextContent));
  expect(impacts).toMatchObject([
    {
      integrationName: 'crm',
      path: 'read.objects.contacts.selectedFieldMappings',
      reason: 'must map tier to a field: contacts requires it.',
      installationTotal: 5,
    },
  ]);
  expect(listGroups(impacts, groupByInstallation)).toEqual(['phone', 'plain']);
  const path = `${rest.base}/integrations/crm/revisions`;
  const { headers } = await rest.request('POST', path, { revision: toRevision(nextContent) });
  const warning = 'must map tier to a field: contacts requires it. (2 of 5 installations)';
  expect(headers.warning).toContain(warning);
  const installations = await rest.get(`${rest.base}/integrations/crm/installations`);
  const unhealthy = installations.filter(
    (installation: { healthStatus: string }) => installation.healthStatus !== 'healthy',
  );
  expect(
    unhealthy
      .map((installation: { id: string }) => groupByInstallation.get(installation.id))
      .sort(),
  ).toEqual(['phone', 'plain']);
});

test('lists the installations whose account lacks a field that becomes required', async () => {
  const { rest, groupByInstallation } = await installAllGroups();
  const nextContent = createContent({
    requiredFields: [EMAIL_FIELD, { fieldName: 'no_such_field' }],
  });
  const { impacts, findings } = await planDocument(rest, createDocument(nextContent));
  expect(impacts).toMatchObject([
    {
      path: 'read.objects.contacts.requiredFields',
      reason: 'no_such_field is not a field of contacts in the account.',
    },
  ]);
  expect(listGroups(impacts, groupByInstallation)).toEqual(['both', 'phone', 'plain', 'tier']);
  expect(findings).toEqual([]);
});

test('prints the path and the reason of a stored impact in the words of the API that reads the plan', async () => {
  const rest = await createRestTenant(app);
  const enabled = { enabled: 'ALWAYS' };
  const createEvents = (events: object) => ({
    subscribe: {
      objects: [{ objectName: 'contacts', inheritFieldsAndMapping: true, ...events }],
    },
  });
  const content = createContent({}, createEvents({ createEvent: enabled, deleteEvent: enabled }));
  const integration = await createIntegration(app, rest.tenant, content);
  await connectAndInstall(rest.tenant, integration, {
    config: { subscribe: [{ objectName: 'contacts', deleteEvent: enabled }] },
    skipSampling: true,
  });
  const nextContent = createContent({}, createEvents({ createEvent: { enabled: 'always' } }));
  const { id, impacts } = await planDocument(rest, createDocument(nextContent));
  const isNotOffered = 'the integration does not subscribe to it for contacts.';
  expect(impacts).toMatchObject([
    {
      path: 'subscribe.objects.contacts.deleteEvent.enabled',
      reason: `always must be never: ${isNotOffered}`,
    },
  ]);
  const plan = `query Plan($id: ID!) { node(id: $id) { ... on Plan { impacts { path reason } } } }`;
  expect((await rest.tenant.query(plan, { id })).node.impacts).toEqual([
    {
      path: 'subscribe.contacts.deleteEvent.enabled',
      reason: `ALWAYS must be NEVER: ${isNotOffered}`,
    },
  ]);
});

test('lists the changes of the contract with their severity', async () => {
  const { rest } = await installAllGroups();
  const nextContent = createContent({
    requiredFields: [EMAIL_FIELD, { fieldName: 'lastname' }],
    optionalFields: [{ fieldName: 'phone' }, TIER_FIELD],
  });
  const { contractChanges } = await planDocument(rest, createDocument(nextContent));
  expect(contractChanges).toEqual([
    { severity: 'breaking', message: 'ContactsRecord.nick was removed.' },
    { severity: 'safe', message: 'ContactsRecord.lastname was added.' },
  ]);
});

test('lists no change of the contract if only a schedule changes', async () => {
  const { rest } = await installAllGroups();
  const object = {
    objectName: 'contacts',
    destination: 'records',
    schedule: '0 * * * *',
    ...PUBLISHED_FIELDS,
  };
  const nextContent = createContent({}, { read: { objects: [object] } });
  const { changes, contractChanges } = await planDocument(rest, createDocument(nextContent));
  expect(changes).toHaveLength(1);
  expect(contractChanges).toEqual([]);
});

test('returns impacts from upsertIntegrations, and none for unchanged content', async () => {
  const { rest, groupByInstallation } = await installAllGroups();
  const mutation = `mutation UpsertIntegrations($input: UpsertIntegrationsInput!) { upsertIntegrations(input: $input) {
    impacts { reason installations { installationId installation { id } group { groupRef } } } } }`;
  const nextContent = createContent({
    requiredFields: [EMAIL_FIELD, TIER_FIELD],
    optionalFields: [NICK_FIELD],
  });
  const input = { specVersion: '1.0.0', integrations: [nextContent] };
  const { impacts } = (await rest.tenant.query(mutation, { input })).upsertIntegrations;
  expect(listGroups(impacts, groupByInstallation)).toEqual(['both', 'phone', 'plain']);
  for (const { installationId, installation, group } of impacts[0].installations) {
    expect(installation.id).toBe(installationId);
    expect(group.groupRef).toBe(groupByInstallation.get(installationId));
  }
  const repeated = await rest.tenant.query(mutation, { input });
  expect(repeated.upsertIntegrations.impacts).toEqual([]);
});

test('lists the installations of a deleted integration', async () => {
  const { rest, groupByInstallation } = await installAllGroups();
  const document = '{"specVersion": "1.0.0", "integrations": []}';
  const plan = await planDocument(rest, document, { allowDeletions: true });
  expect(listGroups(plan.impacts, groupByInstallation)).toEqual(
    Object.keys(CONFIG_BY_GROUP).sort(),
  );
  const { status } = await rest.request('POST', `${rest.base}/plans/${plan.id}:apply`, {});
  expect(status).toBe(200);
  expect(await rest.get(`${rest.base}/integrations`)).toEqual([]);
});

test('refuses to remove an object that installations read, unless allowDeletions is set', async () => {
  const { rest } = await installAllGroups();
  const nextContent = createIntegrationContent('crm', {
    read: undefined,
    proxy: { enabled: true },
  });
  const plan = await planDocument(rest, createDocument(nextContent));
  expect(plan.findings).toMatchObject([{ severity: 'error', path: 'integrations.crm' }]);
  const refusal = await rest.request('POST', `${rest.base}/plans/${plan.id}:apply`, {});
  expect(refusal.status).toBe(409);
  const deletingPlan = await planDocument(rest, createDocument(nextContent), {
    allowDeletions: true,
  });
  expect(
    (await rest.request('POST', `${rest.base}/plans/${deletingPlan.id}:apply`, {})).status,
  ).toBe(200);
});

test(
  'reports exactly the installations whose config the revision refuses',
  { tags: ['all/walk'] },
  async () => {
    const fields = [{ fieldName: 'phone' }, { fieldName: 'lastname' }, TIER_FIELD, NICK_FIELD];
    const change = fc.record({
      placements: fc.array(fc.constantFrom('required', 'optional', 'none'), {
        minLength: 4,
        maxLength: 4,
      }),
      enabled: fc.constantFrom(null, 'always'),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ placements, enabled }) => {
        const { rest, groupByInstallation } = await installAllGroups();
        const listFields = (placement: string) =>
          fields.filter((_field, index) => placements[index] === placement);
        const object = {
          objectName: 'contacts',
          destination: 'records',
          requiredFields: [EMAIL_FIELD, ...listFields('required')],
          optionalFields: listFields('optional'),
          ...(enabled && { enabled }),
        };
        const nextContent = createIntegrationContent('crm', { read: { objects: [object] } });
        const { impacts } = await planDocument(rest, createDocument(nextContent));
        const revision = { revision: toRevision(nextContent) };
        expect(
          (await rest.request('POST', `${rest.base}/integrations/crm/revisions`, revision)).status,
        ).toBe(201);
        expect(listGroups(impacts, groupByInstallation)).toEqual(
          await listRefusedGroups(rest, groupByInstallation),
        );
      }),
      { numRuns: 12 },
    );
  },
);
