/** Plans of a project: computed from a document, applied in one transaction, and refused if the project has changed. */
import { expect, onTestFinished, test } from 'vitest';
import { removeExpired } from '../../../src/domain/retention.ts';
import { createLog } from '../../../src/log.ts';
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

const start = new Date('2030-01-01T00:03:00Z');
let now = start;
const app = await getSharedApp({ now: () => now, log: createLog('silent') });
const { prisma } = app.app.services.database;

async function prepare(): Promise<RestTenant> {
  now = start;
  return createRestTenant(app);
}

const listPaths = ({ changes }: { changes: { action: string; path: string }[] }) =>
  changes.map(({ action, path }) => `${action} ${path}`);

test('plans and applies a document, exports it again, and then plans no change', async () => {
  const rest = await prepare();
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

  const exported = await exportDocument(rest);
  for (const line of DOCUMENT.split('\n')) expect(exported).toContain(line);
  expect((await planDocument(rest, exported)).changes).toEqual([]);
  const json = await exportDocument(rest, 'json');
  expect((await planDocument(rest, json)).changes).toEqual([]);
  const values = await rest.get(`${rest.base}/destinations/records?includeSecrets=true`);
  expect(values.secrets.url).toBe('https://hooks.example.com/in?token=abc');
  expect(values.secrets.headers).toEqual({ authorization: 'Bearer abc' });
});

test('changes, keeps and deletes what the document says', async () => {
  const rest = await prepare();
  await planAndApply(rest, DOCUMENT);
  const changed = DOCUMENT.replace('      - installation.created\n', '')
    .replace('schedule: 0 * * * *', 'schedule: 30 * * * *')
    .replace('      - authorization\n', '      - authorization\n      - x-tenant\n');
  const keptPlan = await planDocument(rest, changed);
  expect(listPaths(keptPlan)).toEqual(['update destinations.records', 'update integrations.crm']);
  expect(keptPlan.findings).toMatchObject([
    { severity: 'warning', message: expect.stringContaining('eventTypes.installation.created') },
  ]);
  const plan = await planDocument(rest, changed, { allowDeletions: true });
  expect(listPaths(plan)).toContain('delete topics.alerts.eventTypes.installation.created');
  expect(plan.requiredSecrets).toEqual(['destinations.records.headers.x-tenant']);
  expect((await applyPlan(rest, plan)).status).toBe(200);
  const { secrets } = await rest.get(`${rest.base}/destinations/records?includeSecrets=true`);
  expect(secrets.headers).toMatchObject({ authorization: 'Bearer abc' });

  const empty = 'specVersion: 1.0.0\nintegrations: []\ntopics: []\ndestinations: []\n';
  await planAndApply(rest, empty, { allowDeletions: true });
  const remaining = await exportDocument(rest);
  expect(remaining).toContain('https://app.example');
  for (const name of ['crm', 'alerts', 'records', 'audit']) expect(remaining).not.toContain(name);
});

test('creates, changes and deletes JWT keys by their public halves', async () => {
  const rest = await prepare();
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
  const rest = await prepare();
  const plan = await planDocument(rest, DOCUMENT);
  const first = await applyPlan(rest, plan);
  now = new Date(start.getTime() + 60_000);
  await rest.post(`${rest.base}/topics`, { name: 'other' });
  const repeated = await applyPlan(rest, plan);
  expect(repeated.body).toEqual(first.body);
  expect(await rest.get(`${rest.base}/plans/${plan.id}`)).toEqual(first.body);
});

test('applies a plan once if it is applied twice concurrently', async () => {
  const rest = await prepare();
  const plan = await planDocument(rest, DOCUMENT);
  const [a, b] = await Promise.all([applyPlan(rest, plan), applyPlan(rest, plan)]);
  expect(a).toMatchObject({ status: 200, body: b.body });
  expect(await rest.get(`${rest.base}/integrations`)).toHaveLength(1);
});

test('returns 409 for a plan whose project has changed, and names the changes', async () => {
  const rest = await prepare();
  await planAndApply(rest, DOCUMENT);
  const plan = await planDocument(rest, DOCUMENT.replace('0 * * * *', '30 * * * *'));
  await rest.post(`${rest.base}/topics`, { name: 'other' });
  const { status, body } = await applyPlan(rest, plan);
  expect(status).toBe(409);
  expect(body.detail).toContain('has changed since the plan was computed: topics.other.');
  expect(await exportDocument(rest)).toContain('0 * * * *');
});

/** Runs the statement in each update of a plan, which is the last statement of its transaction. */
async function breakUpdates(statement: string) {
  await prisma.$executeRawUnsafe(`create function break_plan() returns trigger language plpgsql as $$
    begin ${statement}; return new; end $$`);
  await prisma.$executeRawUnsafe(
    'create trigger break_plan before update on "Plan" for each row execute function break_plan()',
  );
  const restore = async () => {
    await prisma.$executeRawUnsafe('drop trigger if exists break_plan on "Plan"');
    await prisma.$executeRawUnsafe('drop function if exists break_plan()');
  };
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
    skips: !onPostgres,
  },
])('applies no part of a plan if $title', async ({ statement, status, skips }, { skip }) => {
  skip(skips ?? false);
  const rest = await prepare();
  const plan = await planDocument(rest, DOCUMENT);
  const before = await exportDocument(rest);
  const restore = await breakUpdates(statement);
  expect((await applyPlan(rest, plan)).status).toBe(status);
  expect(await exportDocument(rest)).toBe(before);
  await restore();
  expect((await applyPlan(rest, plan)).status).toBe(200);
});

test('names every missing secret, and refuses values that do not fit', async () => {
  const rest = await prepare();
  const plan = await planDocument(rest, DOCUMENT);
  const path = `${rest.base}/plans/${plan.id}:apply`;
  const emptyRequest = await rest.request('POST', path, {});
  expect(emptyRequest.status).toBe(400);
  for (const secret of plan.requiredSecrets) expect(emptyRequest.body.detail).toContain(secret);
  const wrongSecrets = plan.requiredSecrets.map((name: string) => ({
    path: name,
    value: 'https://x.example',
  }));
  const refused = await rest.request('POST', path, { secrets: wrongSecrets });
  expect(refused.status).toBe(400);
  expect(refused.body.detail).toContain('https://hooks.example.com/in?token=***');
  const document = DOCUMENT.replace('token=***', 'token=abc');
  const { body } = await rest.request('POST', `${rest.base}/plans`, { document });
  expect(body.detail).toContain('`***` in place of each value');
  expect(JSON.stringify(body)).not.toContain('token=abc');
});

test('reports all errors of a document with line and column', async () => {
  const rest = await prepare();
  const fetchIssues = async (document: string) => {
    const { status, body } = await rest.request('POST', `${rest.base}/plans`, { document });
    expect(status).toBe(400);
    return body.issues.map(({ name, line, column }: Record<string, unknown>) => [
      name,
      line,
      column,
    ]);
  };
  const misspelt = DOCUMENT.replace('type: stream', 'type: strem').replace(
    'provider: s',
    'provder: s',
  );
  expect(await fetchIssues(misspelt)).toEqual([
    ['document.destinations[0].type', 6, 5],
    ['document.integrations[0].provder', 22, 5],
    ['document.integrations[0].provider', 21, 5],
  ]);
  const unknown = DOCUMENT.replace('      - audit\n', '      - adit\n').replace(
    'destination: records',
    'destination: recods',
  );
  expect(await fetchIssues(unknown)).toEqual([
    ['document.integrations[0].read.objects[0].destination', 26, 11],
    ['document.topics[0].destinations[0]', 18, 9],
  ]);
  expect(await fetchIssues('a: [1\nb: {2')).not.toHaveLength(0);
  const duplicatedMember = `${DOCUMENT}topics: []\n`;
  expect(await fetchIssues(duplicatedMember)).toEqual([['document', 32, 1]]);
});

test('refuses to delete a destination that an integration names', async () => {
  const rest = await prepare();
  await planAndApply(rest, DOCUMENT);
  const document = 'specVersion: 1.0.0\ntopics: []\ndestinations: []\n';
  const plan = await planDocument(rest, document, { allowDeletions: true });
  expect(plan.findings).toMatchObject([
    { severity: 'error', path: 'destinations.records', message: /integration crm/ },
  ]);
  const { status, body } = await applyPlan(rest, plan);
  expect({ status, detail: body.detail }).toMatchObject({ status: 409, detail: /integration crm/ });
});

test('promotes an export to another project by renames', async () => {
  const [from, to] = [await prepare(), await prepare()];
  await planAndApply(from, DOCUMENT);
  const url = 'https://prod.example.com/in';
  const metadata = { url };
  for (const name of ['live', 'audit']) {
    await to.post(`${to.base}/destinations`, { name, type: 'webhook', metadata });
  }
  const renames = [
    { kind: 'destination', from: 'records', to: 'live' },
    { kind: 'destination', from: 'audit', to: 'audit' },
  ];
  await planAndApply(to, await exportDocument(from), { renames, allowDeletions: true });
  const exported = await exportDocument(to);
  expect(exported).toContain(url);
  expect(exported).toContain('destination: live');
  expect(exported).not.toContain('records');
  const missing = [{ kind: 'destination', from: 'records', to: 'none' }];
  const document = await exportDocument(from);
  const refused = await to.request('POST', `${to.base}/plans`, { document, renames: missing });
  expect(refused.body.issues).toMatchObject([{ name: 'renames[0].to', value: 'none' }]);
});

test('reports a provider app that the project lacks', async () => {
  const rest = await prepare();
  const document =
    '{"specVersion": "1.0.0", "providerApps": [{"provider": "hubspot", "name": "123"}]}';
  const { findings } = await planDocument(rest, document);
  expect(findings).toMatchObject([{ severity: 'warning', path: 'providerApps.123' }]);
  const app123 = { provider: 'hubspot', clientId: 'c', clientSecret: 's', externalRef: '123' };
  expect((await rest.request('POST', `${rest.base}/provider-apps`, app123)).status).toBe(200);
  expect((await planDocument(rest, document)).findings).toEqual([]);
  expect(await exportDocument(rest)).toContain('name: "123"');
});

test('requires read to plan and export, and the scope of each change to apply', async () => {
  const rest = await prepare();
  const asKeyWith = async (...scopes: Parameters<typeof rest.withScopes>) => ({
    ...rest,
    ...(await rest.withScopes(...scopes)),
  });
  const reader = await asKeyWith('read');
  const plan = await planDocument(reader, DOCUMENT);
  await exportDocument(reader);
  for (const [scopes, missing] of [
    [['read'], 'full'],
    [['read', 'events:write', 'integrations:write'], 'full'],
  ] as const) {
    const { status, body } = await applyPlan(await asKeyWith(...scopes), plan);
    expect({ status, detail: body.detail }).toMatchObject({
      status: 403,
      detail: expect.stringContaining(`needs the scope ${missing}`),
    });
  }
  const withoutOrigins = DOCUMENT.replace(/allowedOrigins:\n.*\n/, '');
  const events = await planDocument(reader, withoutOrigins);
  const partial = await applyPlan(await asKeyWith('read', 'events:write'), events);
  expect(partial.body.detail).toContain('integrations:write');
  const bothScopes = await asKeyWith('read', 'events:write', 'integrations:write');
  expect((await applyPlan(bothScopes, events)).status).toBe(200);
  const refused = await (await asKeyWith('events:write')).request('POST', `${rest.base}/plans`, {
    document: DOCUMENT,
  });
  expect(refused.status).toBe(403);
});

test("hides plans from other tenants, and rejects end users' tokens", async () => {
  const [rest, other] = [await prepare(), await prepare()];
  const plan = await planDocument(rest, DOCUMENT);
  const node = 'query Node($id: ID!) { node(id: $id) { id } }';
  expect(await rest.tenant.query(node, { id: plan.id })).toEqual({ node: { id: plan.id } });
  expect(await other.tenant.query(node, { id: plan.id })).toEqual({ node: null });
  for (const base of [rest.base, other.base]) {
    const path = `${base}/plans/${plan.id}`;
    expect((await other.request('GET', path)).status).toBe(404);
    expect((await other.request('POST', `${path}:apply`, {})).status).toBe(404);
  }
  expect((await other.request('GET', `${rest.base}:export`)).status).toBe(404);
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
    expect(await user.refusal(document, variables)).toMatchObject({ code: 'FORBIDDEN' });
  }
  expect(await user.query(node, { id: plan.id })).toEqual({ node: null });
});

test('refuses a plan after a day, and then removes it', async () => {
  const rest = await prepare();
  const plan = await planDocument(rest, DOCUMENT);
  now = new Date(start.getTime() + 24 * 3_600_000);
  expect((await applyPlan(rest, plan)).body.detail).toContain('The plan has expired.');
  now = new Date(now.getTime() + 1_000);
  await removeExpired(app.app.services, { pause: async () => {} });
  expect((await rest.request('GET', `${rest.base}/plans/${plan.id}`)).status).toBe(404);
});

test('keeps only the twenty newest unapplied plans', async () => {
  const rest = await prepare();
  const first = await planDocument(rest, 'specVersion: 1.0.0\n');
  for (let count = 0; count < 20; count += 1) await planDocument(rest, 'specVersion: 1.0.0\n');
  expect((await rest.request('GET', `${rest.base}/plans/${first.id}`)).status).toBe(404);
  const { projectId } = rest.tenant;
  expect(await prisma.plan.count({ where: { projectId } })).toBe(20);
});
