/** The installations that a new revision breaks, compared with what happens when the revision is published. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import {
  createIntegrationContent,
  installFor,
  integrate,
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

const EMAIL = { fieldName: 'email' };
const TIER = { mapToName: 'tier' };
const NICK = { mapToName: 'nick' };
const BEFORE: Fields = {
  requiredFields: [EMAIL],
  optionalFields: [{ fieldName: 'phone' }, TIER, NICK],
};

const createContent = (fields: Partial<Fields>, overrides: object = {}) =>
  createIntegrationContent('crm', {
    read: {
      objects: [{ objectName: 'contacts', destination: 'records', ...BEFORE, ...fields }],
    },
    ...overrides,
  });

/** Groups with configs that differ in what they select and map. */
const CONFIGS: Record<string, object> = {
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

async function installAll(): Promise<{ rest: RestTenant; names: Map<string, string> }> {
  const rest = await createRestTenant(app);
  const integration = await integrate(app, rest.tenant, createContent({}));
  const names = new Map<string, string>();
  for (const [groupRef, read] of Object.entries(CONFIGS)) {
    const config = { read: [read] };
    const { id } = await installFor(rest.tenant, integration, {
      groupRef,
      config,
      skipSampling: true,
    });
    names.set(id, groupRef);
  }
  return { rest, names };
}

interface Impact {
  path: string;
  reason: string;
  installationTotal: number;
  installations: { installationId: string }[];
}

const listGroups = (impacts: Impact[], names: Map<string, string>) =>
  [
    ...new Set(
      impacts.flatMap(({ installations }) =>
        installations.map(({ installationId }) => names.get(installationId)),
      ),
    ),
  ].sort();

const createDocument = (integration: object) =>
  JSON.stringify({ specVersion: '1.0.0', integrations: [integration] });

/** The groups whose present config is refused: it was valid before the revision. */
async function listRefusedGroups(rest: RestTenant, names: Map<string, string>) {
  const refused: string[] = [];
  for (const [id, groupRef] of names) {
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

test('names the installations that lack a required mapping, as health does once the revision is in force', async () => {
  const { rest, names } = await installAll();
  const next = createContent({
    requiredFields: [EMAIL, TIER],
    optionalFields: [{ fieldName: 'phone' }, NICK],
  });
  const { impacts } = await planDocument(rest, createDocument(next));
  expect(impacts).toMatchObject([
    {
      integrationName: 'crm',
      path: 'read.contacts.fieldMappings',
      reason: 'must map tier to a field: contacts requires it.',
      installationTotal: 5,
    },
  ]);
  expect(listGroups(impacts, names)).toEqual(['phone', 'plain']);
  const path = `${rest.base}/integrations/crm/revisions`;
  const { headers } = await rest.request('POST', path, { revision: toRevision(next) });
  const warning = 'must map tier to a field: contacts requires it. (2 of 5 installations)';
  expect(headers.warning).toContain(warning);
  const installations = await rest.get(`${rest.base}/integrations/crm/installations`);
  const broken = installations.filter(
    (installation: { healthStatus: string }) => installation.healthStatus !== 'healthy',
  );
  expect(broken.map((installation: { id: string }) => names.get(installation.id)).sort()).toEqual([
    'phone',
    'plain',
  ]);
});

test('names the installations whose account lacks a field that becomes required', async () => {
  const { rest, names } = await installAll();
  const next = createContent({ requiredFields: [EMAIL, { fieldName: 'no_such_field' }] });
  const { impacts, findings } = await planDocument(rest, createDocument(next));
  expect(impacts).toMatchObject([
    {
      path: 'read.contacts.requiredFields',
      reason: 'no_such_field is not a field of contacts in the account.',
    },
  ]);
  expect(listGroups(impacts, names)).toEqual(['both', 'phone', 'plain', 'tier']);
  expect(findings).toEqual([]);
});

test('lists the changes of the contract with their severity', async () => {
  const { rest } = await installAll();
  const next = createContent({
    requiredFields: [EMAIL, { fieldName: 'lastname' }],
    optionalFields: [{ fieldName: 'phone' }, TIER],
  });
  const { contractChanges } = await planDocument(rest, createDocument(next));
  expect(contractChanges).toEqual([
    { severity: 'breaking', message: 'ContactsRecord.nick was removed.' },
    { severity: 'safe', message: 'ContactsRecord.lastname was added.' },
  ]);
});

test('lists no change of the contract if only a schedule changes', async () => {
  const { rest } = await installAll();
  const object = {
    objectName: 'contacts',
    destination: 'records',
    schedule: '0 * * * *',
    ...BEFORE,
  };
  const next = createContent({}, { read: { objects: [object] } });
  const { changes, contractChanges } = await planDocument(rest, createDocument(next));
  expect(changes).toHaveLength(1);
  expect(contractChanges).toEqual([]);
});

test('upsertIntegrations reports impacts, and none for content that is in force', async () => {
  const { rest, names } = await installAll();
  const mutation = `mutation UpsertIntegrations($input: UpsertIntegrationsInput!) { upsertIntegrations(input: $input) {
    impacts { reason installations { installationId installation { id } group { groupRef } } } } }`;
  const next = createContent({ requiredFields: [EMAIL, TIER], optionalFields: [NICK] });
  const input = { specVersion: '1.0.0', integrations: [next] };
  const { impacts } = (await rest.tenant.query(mutation, { input })).upsertIntegrations;
  expect(listGroups(impacts, names)).toEqual(['both', 'phone', 'plain']);
  for (const { installationId, installation, group } of impacts[0].installations) {
    expect(installation.id).toBe(installationId);
    expect(group.groupRef).toBe(names.get(installationId));
  }
  const repeated = await rest.tenant.query(mutation, { input });
  expect(repeated.upsertIntegrations.impacts).toEqual([]);
});

test('names the installations of a deleted integration', async () => {
  const { rest, names } = await installAll();
  const document = '{"specVersion": "1.0.0", "integrations": []}';
  const plan = await planDocument(rest, document, { allowDeletions: true });
  expect(listGroups(plan.impacts, names)).toEqual(Object.keys(CONFIGS).sort());
  const { status } = await rest.request('POST', `${rest.base}/plans/${plan.id}:apply`, {});
  expect(status).toBe(200);
  expect(await rest.get(`${rest.base}/integrations`)).toEqual([]);
});

test('refuses to drop an object that installations read, without allowDeletions', async () => {
  const { rest } = await installAll();
  const next = createIntegrationContent('crm', { read: undefined, proxy: { enabled: true } });
  const plan = await planDocument(rest, createDocument(next));
  expect(plan.findings).toMatchObject([{ severity: 'error', path: 'integrations.crm' }]);
  const refused = await rest.request('POST', `${rest.base}/plans/${plan.id}:apply`, {});
  expect(refused.status).toBe(409);
  const destructive = await planDocument(rest, createDocument(next), { allowDeletions: true });
  expect(
    (await rest.request('POST', `${rest.base}/plans/${destructive.id}:apply`, {})).status,
  ).toBe(200);
});

test(
  'reports exactly the installations whose config the revision refuses',
  { tags: ['all/walk'] },
  async () => {
    const pool = [{ fieldName: 'phone' }, { fieldName: 'lastname' }, TIER, NICK];
    const change = fc.record({
      placements: fc.array(fc.constantFrom('required', 'optional', 'none'), {
        minLength: 4,
        maxLength: 4,
      }),
      enabled: fc.constantFrom(null, 'always'),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ placements, enabled }) => {
        const { rest, names } = await installAll();
        const fieldsPlaced = (placement: string) =>
          pool.filter((_field, index) => placements[index] === placement);
        const object = {
          objectName: 'contacts',
          destination: 'records',
          requiredFields: [EMAIL, ...fieldsPlaced('required')],
          optionalFields: fieldsPlaced('optional'),
          ...(enabled && { enabled }),
        };
        const next = createIntegrationContent('crm', { read: { objects: [object] } });
        const { impacts } = await planDocument(rest, createDocument(next));
        const revision = { revision: toRevision(next) };
        expect(
          (await rest.request('POST', `${rest.base}/integrations/crm/revisions`, revision)).status,
        ).toBe(201);
        expect(listGroups(impacts, names)).toEqual(await listRefusedGroups(rest, names));
      }),
      { numRuns: 12 },
    );
  },
);
