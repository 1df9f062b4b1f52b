/** A plan is computed from a document, applied in one transaction, and refused if the project has changed. */
import { expect, onTestFinished, test } from 'vitest';
import { removeExpired } from '../../../src/domain/upkeep/retention.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { getSharedApp, onPostgres } from '../../support/app.ts';
import { createEndUser, createJwtKeyPair } from '../../support/fixtures/end-users.ts';
import {
  applyPlan,
  DOCUMENT,
  exportDocument,
  planAndApply,
  planDocument,
} from '../../support/fixtures/project-documents.ts';
import { createRestTenant, type RestTenant } from '../../support/rest/rest-client.ts';

const START_TIME = new Date('2030-01-01T00:03:00Z');
let now = START_TIME;
const app = await getSharedApp({ now: () => now, log: createLog('silent') });
const { prisma } = app.app.services.database;

/** Resets the clock, and creates a tenant. */
async function createProject(): Promise<RestTenant> {
  now = START_TIME;
  return createRestTenant(app);
}

const listPaths = ({ changes }: { changes: { action: string; path: string }[] }) =>
  changes.map(({ action, path }) => `${action} ${path}`);

test('plans and applies a document, exports it again, and then plans no change', async () => {
  const rest = await createProject();
  const plan = await planDocument(rest, DOCUMENT);
  expect(listPaths(plan)).toEqual([
    'create allowedOrigins.https://app.example',
    'create destinations.audit',
    'create destinations.records',
    'create integrations.crm',
    'create topics.alerts',
    'create topics.alerts.destinations.audit',
    'create topics.alerts.destinations.records',
    'create topics.alerts.eventTypes.connection.created',
    'create topics.alerts.eventTypes.installation.created',
  ]);
  expect(plan).toMatchObject({ impacts: [], findings: [], allowDeletions: false });
  expect(await exportDocument(rest)).not.toContain('crm');
  expect((await applyPlan(rest, plan)).body.applyTime).toBe(now.toISOString());

  const exportedDocument = await exportDocument(rest);
  for (const line of DOCUMENT.split('\n')) expect(exportedDocument).toContain(line);
  expect((await planDocument(rest, exportedDocument)).changes).toEqual([]);
  const json = await exportDocument(rest, 'json');
  expect((await planDocument(rest, json)).changes).toEqual([]);
  const values = await rest.get(`${rest.base}/destinations/records?includeSecrets=true`);
  expect(values.secrets.url).toBe('https://hooks.example.com/in?token=abc');
  expect(values.secrets.headers).toEqual({ authorization: 'Bearer abc' });
});

test('updates, keeps and deletes resources as the document describes', async () => {
  const rest = await createProject();
  await planAndApply(rest, DOCUMENT);
  const changed = DOCUMENT.replace('      - installation.created\n', '')
    .replace('schedule: 0 * * * *', 'schedule: 30 * * * *')
    .replace('      - authorization\n', '      - authorization\n      - x-tenant\n');
  const keptPlan = await planDocument(rest, changed);
  expect(listPaths(keptPlan)).toEqual(['update destinations.records', 'update integrations.crm']);
  expect(keptPlan.findings).toMatchObject([
    {
      severity: 'warning',
      message: expect.stringContaining('eventTypes.installation.created'),
      messageParts: expect.arrayContaining([{ member: 'allowDeletions' }]),
    },
  ]);
  const plan = await planDocument(rest, changed, { allowDeletions: true });
  expect(listPaths(plan)).toContain('delete topics.alerts.eventTypes.installation.created');
  expect(plan.requiredSecrets).toEqual(['destinations.records.headers.x-tenant']);
  expect((await applyPlan(rest, plan)).status).toBe(200);
  const { secrets } = await rest.get(`${rest.base}/destinations/records?includeSecrets=true`);
  expect(secrets.headers).toMatchObject({ authorization: 'Bearer abc' });

  const emptyDocument = 'specVersion: 1.0.0\nintegrations: []\ntopics: []\ndestinations: []\n';
  await planAndApply(rest, emptyDocument, { allowDeletions: true });
  const remaining = await exportDocument(rest);
  expect(remaining).toContain('https://app.example');
  for (const name of ['crm', 'alerts', 'records', 'audit']) expect(remaining).not.toContain(name);
});

test('sets, keeps and clears the appearance, and keeps the name of the app', async () => {
  const rest = await createProject();
  const createDocument = (appearance: object) =>
    JSON.stringify({ specVersion: '1.0.0', appearance });
  const appearance = {
    appName: 'Acme',
    logoUrl: 'https://cdn.example.com/logo.svg',
    accentColor: '#AA33ff',
    locale: 'de-at',
  };
  const plan = await planDocument(rest, createDocument(appearance));
  expect(plan.changes).toMatchObject([
    { action: 'create', path: 'appearance.accentColor', after: { accentColor: '#aa33ff' } },
    { action: 'update', kind: 'appearance', path: 'appearance.appName' },
    { action: 'create', path: 'appearance.locale', after: { locale: 'de-AT' } },
    { action: 'create', path: 'appearance.logoUrl', after: { logoUrl: appearance.logoUrl } },
  ]);
  await applyPlan(rest, plan);
  const stored = { ...appearance, accentColor: '#aa33ff', locale: 'de-AT' };
  expect(await rest.get(rest.base)).toMatchObject(stored);
  expect(JSON.parse(await exportDocument(rest, 'json')).appearance).toEqual(stored);

  await planAndApply(rest, createDocument({ locale: 'en' }));
  expect(await rest.get(rest.base)).toMatchObject({ ...stored, locale: 'en' });
  const clearing = await planDocument(rest, createDocument({}), { allowDeletions: true });
  expect(listPaths(clearing)).toEqual([
    'delete appearance.accentColor',
    'delete appearance.locale',
    'delete appearance.logoUrl',
  ]);
  await applyPlan(rest, clearing);
  expect(JSON.parse(await exportDocument(rest, 'json')).appearance).toEqual({ appName: 'Acme' });
});

test('refuses values of the appearance as updateProject does', async () => {
  const rest = await createProject();
  const appearance = {
    appName: ' ',
    logoUrl: 'http://a.example',
    accentColor: 'red',
    locale: 'x_y',
  };
  const document = JSON.stringify({ specVersion: '1.0.0', appearance });
  const { status, body } = await rest.request('POST', `${rest.base}/plans`, { document });
  expect(status).toBe(400);
  const names = body.issues.map(({ name }: { name: string }) => name);
  for (const member of Object.keys(appearance)) {
    expect(names).toContainEqual(expect.stringContaining(`appearance.${member}`));
  }
});

test('creates, changes and deletes JWT keys, and identifies them by the public key', async () => {
  const rest = await createProject();
  const { publicKeyPem } = createJwtKeyPair();
  const createDocument = (label: string, active: boolean) =>
    JSON.stringify({ specVersion: '1.0.0', jwtKeys: [{ label, publicKeyPem, active }] });
  await planAndApply(rest, createDocument('server', false));
  await planAndApply(rest, createDocument('renamed', true));
  const [key] = await rest.get(`${rest.base}/jwt-keys`);
  expect(key).toMatchObject({ label: 'renamed', active: true });
  await planAndApply(rest, '{"specVersion": "1.0.0", "jwtKeys": []}', { allowDeletions: true });
  expect(await rest.get(`${rest.base}/jwt-keys`)).toEqual([]);
});

test('returns the first response if a plan is applied again, and changes nothing', async () => {
  const rest = await createProject();
  const plan = await planDocument(rest, DOCUMENT);
  const firstResponse = await applyPlan(rest, plan);
  now = new Date(START_TIME.getTime() + 60_000);
  await rest.post(`${rest.base}/topics`, { name: 'other' });
  const repeatedResponse = await applyPlan(rest, plan);
  expect(repeatedResponse.body).toEqual(firstResponse.body);
  expect(await rest.get(`${rest.base}/plans/${plan.id}`)).toEqual(firstResponse.body);
});

test('applies a plan once if it is applied twice concurrently', async () => {
  const rest = await createProject();
  const plan = await planDocument(rest, DOCUMENT);
  const [firstResponse, secondResponse] = await Promise.all([
    applyPlan(rest, plan),
    applyPlan(rest, plan),
  ]);
  expect(firstResponse).toMatchObject({ status: 200, body: secondResponse.body });
  expect(await rest.get(`${rest.base}/integrations`)).toHaveLength(1);
});

test('returns 409 for a plan whose project has changed, and lists the changes', async () => {
  const rest = await createProject();
  await planAndApply(rest, DOCUMENT);
  const plan = await planDocument(rest, DOCUMENT.replace('0 * * * *', '30 * * * *'));
  await rest.post(`${rest.base}/topics`, { name: 'other' });
  const { status, body } = await applyPlan(rest, plan);
  expect(status).toBe(409);
  expect(body.detail).toContain('has changed since the plan was computed: topics.other.');
  expect(await exportDocument(rest)).toContain('0 * * * *');
});

/** A cluster refuses to change the triggers of distributed tables without these settings. */
const TRIGGER_SETTINGS = [
  'set local citus.enable_unsafe_triggers = on',
  `set local citus.multi_shard_modify_mode = 'sequential'`,
];

async function changeTriggers(...statements: string[]) {
  const changes = [...TRIGGER_SETTINGS, ...statements];
  await prisma.$transaction(changes.map((change) => prisma.$executeRawUnsafe(change)));
}

/** Adds a trigger that runs the statement when a plan is updated, which is the last step of applying it. */
async function breakUpdates(statement: string) {
  await changeTriggers(
    `create function break_plan() returns trigger language plpgsql as $$
      begin ${statement}; return new; end $$`,
    'create trigger break_plan before update on "Plan" for each row execute function break_plan()',
  );
  const restore = () =>
    changeTriggers(
      'drop trigger if exists break_plan on "Plan"',
      'drop function if exists break_plan()',
    );
  onTestFinished(restore);
  return restore;
}

test.for([
  { title: 'a statement fails', statement: "raise exception 'refused by the test'", status: 500 },
  {
    title: 'the database kills the session',
    statement: 'perform pg_terminate_backend(pg_backend_pid())',
    status: 503,
    // The embedded database has no sessions to kill.
    needsPostgres: !onPostgres,
  },
])('applies no part of a plan if $title', async ({ statement, status, needsPostgres }, {
  skip,
}) => {
  skip(needsPostgres ?? false);
  const rest = await createProject();
  const plan = await planDocument(rest, DOCUMENT);
  const exportBefore = await exportDocument(rest);
  const restore = await breakUpdates(statement);
  expect((await applyPlan(rest, plan)).status).toBe(status);
  expect(await exportDocument(rest)).toBe(exportBefore);
  await restore();
  expect((await applyPlan(rest, plan)).status).toBe(200);
});

test('reports every missing secret, and refuses a URL that does not match the document', async () => {
  const rest = await createProject();
  const plan = await planDocument(rest, DOCUMENT);
  const path = `${rest.base}/plans/${plan.id}:apply`;
  const emptyResponse = await rest.request('POST', path, {});
  expect(emptyResponse.status).toBe(400);
  for (const secret of plan.requiredSecrets) expect(emptyResponse.body.detail).toContain(secret);
  const wrongSecrets = plan.requiredSecrets.map((name: string) => ({
    path: name,
    value: 'https://x.example',
  }));
  const refusal = await rest.request('POST', path, { secrets: wrongSecrets });
  expect(refusal.status).toBe(400);
  expect(refusal.body.detail).toContain('https://hooks.example.com/in?token=***');
  const document = DOCUMENT.replace('token=***', 'token=abc');
  const { body } = await rest.request('POST', `${rest.base}/plans`, { document });
  expect(body.detail).toContain('`***` in place of each value');
  expect(JSON.stringify(body)).not.toContain('token=abc');
});

test('reports all errors of a document with line and column', async () => {
  const rest = await createProject();
  const expectIssues = async (document: string) => {
    const { status, body } = await rest.request('POST', `${rest.base}/plans`, { document });
    expect(status).toBe(400);
    return body.issues.map(({ name, line, column }: Record<string, unknown>) => [
      name,
      line,
      column,
    ]);
  };
  const misspelled = DOCUMENT.replace('type: stream', 'type: strem').replace(
    'provider: s',
    'provder: s',
  );
  expect(await expectIssues(misspelled)).toEqual([
    ['document.destinations[0].type', 6, 5],
    ['document.integrations[0].provder', 22, 5],
    ['document.integrations[0].provider', 21, 5],
  ]);
  const unknownNames = DOCUMENT.replace('      - audit\n', '      - adit\n').replace(
    'destination: records',
    'destination: recods',
  );
  expect(await expectIssues(unknownNames)).toEqual([
    ['document.integrations[0].read.objects[0].destination', 26, 11],
    ['document.topics[0].destinations[0]', 18, 9],
  ]);
  expect(await expectIssues('a: [1\nb: {2')).not.toHaveLength(0);
  const duplicatedMember = `${DOCUMENT}topics: []\n`;
  expect(await expectIssues(duplicatedMember)).toEqual([['document', 32, 1]]);
});

test('suggests the nearest member for an unknown member of a document', async () => {
  const rest = await createProject();
  const document = DOCUMENT.replace('provider: s', 'provder: s');
  const { body } = await rest.request('POST', `${rest.base}/plans`, { document });
  expect(body.issues).toContainEqual(
    expect.objectContaining({
      name: 'document.integrations[0].provder',
      detail: expect.stringMatching(/is not a member here: use .*\. Did you mean provider\?$/),
    }),
  );
});

test('refuses to delete a destination that an integration names', async () => {
  const rest = await createProject();
  await planAndApply(rest, DOCUMENT);
  const document = 'specVersion: 1.0.0\ntopics: []\ndestinations: []\n';
  const plan = await planDocument(rest, document, { allowDeletions: true });
  expect(plan.findings).toMatchObject([
    { severity: 'error', path: 'destinations.records', message: /integration crm/ },
  ]);
  const { status, body } = await applyPlan(rest, plan);
  expect({ status, detail: body.detail }).toMatchObject({ status: 409, detail: /integration crm/ });
});

test('applies an export to another project, and renames its destinations', async () => {
  const [source, target] = [await createProject(), await createProject()];
  await planAndApply(source, DOCUMENT);
  const url = 'https://prod.example.com/in';
  const metadata = { url };
  for (const name of ['live', 'audit']) {
    await target.post(`${target.base}/destinations`, { name, type: 'webhook', metadata });
  }
  const renames = [
    { kind: 'destination', from: 'records', to: 'live' },
    { kind: 'destination', from: 'audit', to: 'audit' },
  ];
  await planAndApply(target, await exportDocument(source), { renames, allowDeletions: true });
  const exportedDocument = await exportDocument(target);
  expect(exportedDocument).toContain(url);
  expect(exportedDocument).toContain('destination: live');
  expect(exportedDocument).not.toContain('records');
  const unknownRename = [{ kind: 'destination', from: 'records', to: 'none' }];
  const document = await exportDocument(source);
  const refusal = await target.request('POST', `${target.base}/plans`, {
    document,
    renames: unknownRename,
  });
  expect(refusal.body.issues).toMatchObject([{ name: 'renames[0].to', value: 'none' }]);
});

test('reports a provider app that the project lacks', async () => {
  const rest = await createProject();
  const document =
    '{"specVersion": "1.0.0", "providerApps": [{"provider": "hubspot", "name": "123"}]}';
  const { findings } = await planDocument(rest, document);
  expect(findings).toMatchObject([{ severity: 'warning', path: 'providerApps.123' }]);
  const providerApp = { provider: 'hubspot', clientId: 'c', clientSecret: 's', externalRef: '123' };
  expect((await rest.request('POST', `${rest.base}/provider-apps`, providerApp)).status).toBe(200);
  expect((await planDocument(rest, document)).findings).toEqual([]);
  expect(await exportDocument(rest)).toContain('name: "123"');
});

test('requires read to plan and export, and the scope of each change to apply', async () => {
  const rest = await createProject();
  const createKeyWith = async (...scopes: Parameters<typeof rest.withScopes>) => ({
    ...rest,
    ...(await rest.withScopes(...scopes)),
  });
  const reader = await createKeyWith('read');
  const plan = await planDocument(reader, DOCUMENT);
  await exportDocument(reader);
  for (const [scopes, missingScope] of [
    [['read'], 'full'],
    [['read', 'events:write', 'integrations:write'], 'full'],
  ] as const) {
    const { status, body } = await applyPlan(await createKeyWith(...scopes), plan);
    expect({ status, detail: body.detail }).toMatchObject({
      status: 403,
      detail: expect.stringContaining(`needs the scope ${missingScope}`),
    });
  }
  const withoutOrigins = DOCUMENT.replace(/allowedOrigins:\n.*\n/, '');
  const planWithoutOrigins = await planDocument(reader, withoutOrigins);
  const partialResponse = await applyPlan(
    await createKeyWith('read', 'events:write'),
    planWithoutOrigins,
  );
  expect(partialResponse.body.detail).toContain('integrations:write');
  const bothScopes = await createKeyWith('read', 'events:write', 'integrations:write');
  expect((await applyPlan(bothScopes, planWithoutOrigins)).status).toBe(200);
  const refusal = await (await createKeyWith('events:write')).request(
    'POST',
    `${rest.base}/plans`,
    {
      document: DOCUMENT,
    },
  );
  expect(refusal.status).toBe(403);
});

test("hides plans from other tenants, and rejects end users' tokens", async () => {
  const [rest, otherTenant] = [await createProject(), await createProject()];
  const plan = await planDocument(rest, DOCUMENT);
  const NODE = 'query Node($id: ID!) { node(id: $id) { id } }';
  expect(await rest.tenant.query(NODE, { id: plan.id })).toEqual({ node: { id: plan.id } });
  expect(await otherTenant.tenant.query(NODE, { id: plan.id })).toEqual({ node: null });
  for (const base of [rest.base, otherTenant.base]) {
    const path = `${base}/plans/${plan.id}`;
    expect((await otherTenant.request('GET', path)).status).toBe(404);
    expect((await otherTenant.request('POST', `${path}:apply`, {})).status).toBe(404);
  }
  expect((await otherTenant.request('GET', `${rest.base}:export`)).status).toBe(404);
  const user = await createEndUser(app, rest.tenant);
  const input = { projectIdOrName: rest.tenant.projectId, document: DOCUMENT };
  for (const [document, variables] of [
    [
      'mutation PlanProject($input: PlanProjectInput!) { planProject(input: $input) { plan { id } } }',
      { input },
    ],
    [
      'mutation ApplyPlan($input: ApplyPlanInput!) { applyPlan(input: $input) { plan { id } } }',
      { input: { planId: plan.id } },
    ],
    ['{ exportProject { document } }', {}],
  ] as const) {
    expect(await user.expectRefusal(document, variables)).toMatchObject({ code: 'FORBIDDEN' });
  }
  expect(await user.query(NODE, { id: plan.id })).toEqual({ node: null });
});

test('refuses a plan that is a day old, and deletes it afterwards', async () => {
  const rest = await createProject();
  const plan = await planDocument(rest, DOCUMENT);
  now = new Date(START_TIME.getTime() + 24 * 3_600_000);
  expect((await applyPlan(rest, plan)).body.detail).toContain('The plan has expired.');
  now = new Date(now.getTime() + 1_000);
  await removeExpired(app.app.services, { pause: async () => {} });
  expect((await rest.request('GET', `${rest.base}/plans/${plan.id}`)).status).toBe(404);
});

test('keeps only the twenty newest unapplied plans', async () => {
  const rest = await createProject();
  const oldestPlan = await planDocument(rest, 'specVersion: 1.0.0\n');
  for (let count = 0; count < 20; count += 1) await planDocument(rest, 'specVersion: 1.0.0\n');
  expect((await rest.request('GET', `${rest.base}/plans/${oldestPlan.id}`)).status).toBe(404);
  const { projectId } = rest.tenant;
  expect(await prisma.plan.count({ where: { projectId } })).toBe(20);
});
