/** Revisions and integrations from the text of a manifest. */
import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import {
  createIntegrationContent,
  insertDestination,
} from '../../../support/fixtures/integrations.ts';
import { createRestTenant, type RestTenant } from '../../../support/rest/rest-client.ts';
import { createRestIntegration } from '../../../support/rest/rest-installation.ts';

const app = await getSharedApp();

const formatIntegration = (name: string, object = 'contacts') => `
  - name: ${name}
    provider: sandbox
    read:
      objects:
        - objectName: ${object}
          destination: records
          schedule: "0 * * * *"
          requiredFields:
            - fieldName: email
              mapToName: mail
`;
const formatManifest = (...integrations: string[]) =>
  `specVersion: 1.0.0\nintegrations:${integrations.join('')}`;

async function createIntegrationTenant(): Promise<{
  rest: RestTenant;
  path: string;
  revisions: string;
}> {
  const rest = await createRestTenant(app);
  await insertDestination(app, rest.tenant);
  const path = await createRestIntegration(rest, createIntegrationContent('crm'));
  return { rest, path, revisions: `${path}/revisions` };
}

test("creates a revision from the manifest's integration with the same name, or from its only one", async () => {
  const { rest, path, revisions } = await createIntegrationTenant();
  const sourceYaml = formatManifest(formatIntegration('other', 'deals'), formatIntegration('crm'));
  await rest.post(revisions, { sourceYaml });
  const { id, latestRevision } = await rest.get(path);
  expect(latestRevision).toMatchObject({
    specVersion: '1.0.0',
    content: {
      name: 'crm',
      read: {
        objects: [
          { objectName: 'contacts', requiredFields: [{ fieldName: 'email', mapToName: 'mail' }] },
        ],
      },
    },
  });
  const revisionsById = `${rest.base}/integrations/${id}/revisions`;
  await rest.post(revisionsById, { sourceYaml: formatManifest(formatIntegration('crm')) });
  expect(await rest.get(revisions)).toHaveLength(3);
});

test('refuses text that is not a manifest of the integration, and `sourceZipUrl`', async () => {
  const { rest, revisions } = await createIntegrationTenant();
  const listRefusedMembers = async (body: object) => {
    const { status, issues } = await rest.expectRefusal('POST', revisions, body);
    return [status, issues?.map(({ name }) => name)] as const;
  };
  const bomb = `a: &a [x, x]\n${Array.from({ length: 200 }, (_, index) => `b${index}: [*a, *a]`).join('\n')}`;
  for (const sourceYaml of [
    'specVersion: [',
    'just a text',
    formatManifest(formatIntegration('a'), formatIntegration('b')),
    bomb,
  ]) {
    const [status, names] = await listRefusedMembers({ sourceYaml });
    expect([status, new Set(names)]).toEqual([400, new Set(['sourceYaml'])]);
  }
  const emptyList = 'specVersion: 1.0.0\nintegrations: []';
  expect(await listRefusedMembers({ sourceYaml: emptyList })).toEqual([
    400,
    ['sourceYaml.integrations'],
  ]);
  const sourceYaml = formatManifest(formatIntegration('crm'));
  expect(await listRefusedMembers({ sourceYaml, revision: {} })).toEqual([400, ['sourceYaml']]);
  expect(await listRefusedMembers({ sourceZipUrl: 'https://builder.test/a.zip' })).toEqual([
    400,
    ['sourceZipUrl'],
  ]);
  expect(await listRefusedMembers({})).toEqual([400, ['revision']]);
  const [status, names] = await listRefusedMembers({
    sourceYaml: formatManifest(formatIntegration('crm', 'nothing')),
  });
  expect([status, names]).toEqual([400, ['sourceYaml.integrations[0].read.objects[0].objectName']]);
});

test('reports the line of an error in the text', async () => {
  const { rest, revisions } = await createIntegrationTenant();
  const expectYamlRefusal = async (sourceYaml: string) => {
    const { status, issues } = await rest.expectRefusal('POST', revisions, { sourceYaml });
    expect([status, issues?.[0]?.name]).toEqual([400, 'sourceYaml']);
    return issues?.[0]?.detail;
  };
  const repeatPart = (formatPart: (index: number) => string) =>
    Array.from({ length: 12_000 }, (_, index) => formatPart(index));
  expect(await expectYamlRefusal('- just\n- a list')).toBe(
    'line 1, column 1: must have specVersion, and integrations with names.',
  );
  expect(await expectYamlRefusal('a: 1\nb:\n  - c: 1\n    d: 2\n    c: 3\n')).toBe(
    'line 5, column 5: has a key twice in one map.',
  );
  const aliases = repeatPart((index) => `- &a${index}\n- *a${index}\n`).slice(0, 6_000);
  expect(await expectYamlRefusal(aliases.join(''))).toBe(
    'line 202, column 3: has more than 100 aliases.',
  );
  expect(await expectYamlRefusal(`[${repeatPart(() => '@').join()}]`)).toMatch(
    /^line 1, column 2: is not YAML: /,
  );
  expect(await expectYamlRefusal('a\n---\nb')).toBe('line 1, column 1: must be one YAML document.');
  expect(await expectYamlRefusal(' '.repeat(128 * 1024 + 1))).toBe(
    'line 1, column 1: must have at most 131072 characters.',
  );
});

test('reports each problem of a manifest at its line and column', async () => {
  const { rest, revisions } = await createIntegrationTenant();
  const manifest = (name: string, line: string) => `specVersion: 1.0.0
integrations:
  - name: ${name}
    provider: sandbox
    read:
      objects:
        - objectName: contacts
          destination: nowhere
          schedule: often
          ${line}
`;
  const list = async (method: 'POST' | 'PUT', path: string, sourceYaml: string) =>
    (await rest.expectRefusal(method, path, { sourceYaml })).issues?.map(
      ({ name, line, column, value, in: part }) => [part, name, line, column, value],
    );
  const object = 'sourceYaml.integrations[0].read.objects[0]';
  const wrong = manifest('crm', 'shedule: 1');
  const located = [
    ['body', `${object}.shedule`, 10, 11, undefined],
    ['body', `${object}.schedule`, 9, 11, 'often'],
  ];
  expect(await list('POST', revisions, wrong)).toEqual(located);
  const batch = `${rest.base}/integrations:batch`;
  expect(await list('PUT', batch, wrong)).toEqual(located);

  const word = manifest('crm', 'selectedFieldsAuto: some');
  expect((await list('PUT', batch, word))?.[0]?.slice(0, 4)).toEqual([
    'body',
    `${object}.selectedFieldsAuto`,
    10,
    11,
  ]);
  const { detail } = await rest.expectRefusal('PUT', batch, { sourceYaml: wrong });
  expect(detail).toContain(`\`${object}.schedule\` (line 9, column 11) must be`);
});

test('reports every syntax error, and a missing member, with line and column', async () => {
  const { rest } = await createIntegrationTenant();
  const list = async (sourceYaml: string) =>
    (
      await rest.expectRefusal('PUT', `${rest.base}/integrations:batch`, { sourceYaml })
    ).issues?.map(({ name, line, column }) => [name, line, column]);
  expect(await list('specVersion: "\\q"\nintegrations: "\\q"\n')).toEqual([
    ['sourceYaml', 1, 15],
    ['sourceYaml', 2, 16],
  ]);
  expect(await list('specVersion: 1.0.0\nintegrations:\n  - provider: hubspot\n')).toEqual([
    ['sourceYaml.integrations[0].name', 3, 5],
  ]);
});

const putIntegrations = (rest: RestTenant, body: object, query = '') =>
  rest.request('PUT', `${rest.base}/integrations:batch${query}`, body);

test('creates and updates all integrations of a manifest, and returns unchanged ones', async () => {
  const { rest, path } = await createIntegrationTenant();
  const formatBoth = (objects: string) =>
    formatManifest(formatIntegration('crm', objects), formatIntegration('other'));
  const createdIntegrations = await putIntegrations(rest, { sourceYaml: formatBoth('contacts') });
  expect(createdIntegrations.status).toBe(200);
  expect(createdIntegrations.body.map(({ name }: { name: string }) => name)).toEqual([
    'crm',
    'other',
  ]);
  const [crm, otherIntegration] = createdIntegrations.body;
  expect(crm.id).toBe((await rest.get(path)).id);
  expect(crm.latestRevision.content.read.objects[0].requiredFields[0].mapToName).toBe('mail');

  const repeated = await putIntegrations(rest, { sourceYaml: formatBoth('contacts') });
  expect(repeated.body).toEqual(createdIntegrations.body);
  const changed = await putIntegrations(rest, { sourceYaml: formatBoth('deals') });
  expect(changed.body[0].latestRevision.id).not.toBe(crm.latestRevision.id);
  expect(changed.body[1]).toEqual(otherIntegration);
  expect(await rest.get(`${rest.base}/integrations`)).toHaveLength(2);
});

test('applies a manifest completely or not at all, and reports every issue at its position', async () => {
  const { rest } = await createIntegrationTenant();
  const expectIssueNames = async (...integrations: string[]) => {
    const { body } = await putIntegrations(rest, { sourceYaml: formatManifest(...integrations) });
    expect(body.status).toBe(400);
    return body.issues.map(({ name }: { name: string }) => name).sort();
  };
  expect(
    await expectIssueNames(
      formatIntegration('new'),
      formatIntegration('new'),
      formatIntegration('Wrong Name'),
    ),
  ).toEqual(['sourceYaml.integrations[1].name', 'sourceYaml.integrations[2].name']);
  expect(
    await expectIssueNames(
      formatIntegration('new'),
      formatIntegration('b').replace('sandbox', 'unknown'),
      formatIntegration('a', 'things'),
    ),
  ).toEqual([
    'sourceYaml.integrations[1].provider',
    'sourceYaml.integrations[2].read.objects[0].objectName',
  ]);
  expect(await rest.get(`${rest.base}/integrations`)).toHaveLength(1);
  const changedProvider = {
    sourceYaml: formatManifest(formatIntegration('crm').replace('sandbox', 'hubspot')),
  };
  expect((await putIntegrations(rest, changedProvider)).body.issues).toContainEqual(
    expect.objectContaining({ name: 'sourceYaml.integrations[0].provider' }),
  );
  expect(
    (await putIntegrations(rest, { sourceZipUrl: 'https://files.example.com/a.zip' })).status,
  ).toBe(400);
  expect((await putIntegrations(rest, {})).status).toBe(400);
});

test('refuses a manifest that drops objects of installations, unless `destructive` is set', async () => {
  const { rest, path } = await createIntegrationTenant();
  await generateConnection(rest.tenant, { apiKey: 'sandbox-key' });
  const { id } = await rest.post(`${path}/installations`, { groupRef: 'acme' });
  const sourceYaml = formatManifest(formatIntegration('crm', 'deals'), formatIntegration('later'));
  expect((await putIntegrations(rest, { sourceYaml })).body).toMatchObject({ status: 409 });
  expect(await rest.get(`${rest.base}/integrations`)).toHaveLength(1);
  expect((await putIntegrations(rest, { sourceYaml }, '?destructive=true')).status).toBe(200);
  const { objects } = await rest.get(`${path}/installations/${id}`);
  expect(objects).toMatchObject([{ objectName: 'contacts', paused: true }]);
});

test('accepts ignored members with a warning, in JSON and in manifests', async () => {
  const { rest, path } = await createIntegrationTenant();
  const event = { enabled: 'always', watchFieldsAuto: 'all' };
  const [contacts] = createIntegrationContent().read.objects;
  const content = createIntegrationContent('crm', {
    delete: { objects: [{ objectName: 'contacts' }] },
    read: { objects: [{ ...contacts, delete: true }] },
    subscribe: {
      objects: [
        {
          ...{ objectName: 'contacts', destination: 'records', inheritFieldsAndMapping: true },
          ...{ createEvent: event, updateEvent: event, deleteEvent: event },
        },
      ],
    },
  });
  const formatWarnings = (path: string) =>
    [
      `299 - "${path}.delete: is ignored."`,
      `299 - "${path}.read.objects[0].delete: is ignored."`,
      `299 - "${path}.subscribe.objects[0].createEvent.watchFieldsAuto: is ignored."`,
      `299 - "${path}.subscribe.objects[0].deleteEvent.watchFieldsAuto: is ignored."`,
    ].join(', ');
  const revision = { specVersion: '1.0.0', content };
  const revised = await rest.request('POST', `${path}/revisions`, { revision });
  expect([revised.status, revised.headers.warning]).toEqual([
    201,
    formatWarnings('revision.content'),
  ]);
  const storedContent = (await rest.get(path)).latestRevision.content;
  expect(storedContent.read.objects[0]).not.toHaveProperty('delete');
  expect(storedContent.subscribe.objects[0]).toMatchObject({
    createEvent: { enabled: 'always' },
    updateEvent: event,
    deleteEvent: { enabled: 'always' },
  });
  expect(storedContent.subscribe.objects[0].createEvent).not.toHaveProperty('watchFieldsAuto');
  const put = await putIntegrations(rest, { specVersion: '1.0.0', integrations: [content] });
  expect([put.status, put.headers.warning]).toEqual([200, formatWarnings('integrations[0]')]);
  const creation = await rest.request('POST', `${rest.base}/integrations`, {
    name: 'other',
    provider: 'sandbox',
    latestRevision: { specVersion: '1.0.0', content: { ...content, name: 'other' } },
  });
  expect([creation.status, creation.headers.warning]).toEqual([
    201,
    formatWarnings('latestRevision.content'),
  ]);
});

test('keeps the last of two fields with the same name, and returns a warning', async () => {
  const { rest, path } = await createIntegrationTenant();
  const [contacts] = createIntegrationContent().read.objects;
  const objects = [
    {
      ...contacts,
      requiredFields: [{ fieldName: 'email' }, { fieldName: 'phone', mapToName: 'tel' }],
      optionalFields: [{ fieldName: 'email', mapToName: 'mail' }],
    },
  ];
  const revision = {
    specVersion: '1.0.0',
    content: createIntegrationContent('crm', { read: { objects } }),
  };
  const { status, headers } = await rest.request('POST', `${path}/revisions`, { revision });
  expect([status, headers.warning]).toEqual([
    201,
    expect.stringContaining('read.objects[0].requiredFields[0]: is omitted'),
  ]);
  const [stored] = (await rest.get(path)).latestRevision.content.read.objects;
  expect(stored.requiredFields).toEqual([{ fieldName: 'phone', mapToName: 'tel' }]);
  expect(stored.optionalFields).toEqual([{ fieldName: 'email', mapToName: 'mail' }]);
  expect(
    (await putIntegrations(rest, { sourceYaml: formatManifest(formatIntegration('crm')) })).headers,
  ).not.toHaveProperty('warning');
});

test('keeps the case of integration names, which are unique regardless of case', async () => {
  const { rest } = await createIntegrationTenant();
  const createIntegrationBody = (name: string) => ({
    ...{ name, provider: 'sandbox' },
    latestRevision: { specVersion: '1.0.0', content: createIntegrationContent(name) },
  });
  await rest.post(`${rest.base}/integrations`, createIntegrationBody('readSalesforceContacts'));
  const path = `${rest.base}/integrations/readSalesforceContacts`;
  expect((await rest.get(path)).name).toBe('readSalesforceContacts');
  expect((await rest.expectRefusal('GET', path.toLowerCase())).status).toBe(404);
  const taken = await rest.expectRefusal(
    'POST',
    `${rest.base}/integrations`,
    createIntegrationBody('ReadSalesforceContacts'),
  );
  expect(taken).toMatchObject({
    status: 409,
    detail: expect.stringContaining('regardless of case'),
  });
  const batch = await putIntegrations(rest, {
    sourceYaml: formatManifest(formatIntegration('CRM')),
  });
  expect([batch.status, batch.body.detail]).toEqual([409, expect.stringContaining('CRM')]);
  const twice = await putIntegrations(rest, {
    sourceYaml: formatManifest(formatIntegration('one'), formatIntegration('ONE')),
  });
  expect(twice.body).toMatchObject({
    status: 400,
    issues: [{ name: 'sourceYaml.integrations[1].name' }],
  });
  const { rest: otherTenant } = await createIntegrationTenant();
  await otherTenant.post(
    `${otherTenant.base}/integrations`,
    createIntegrationBody('READSALESFORCECONTACTS'),
  );
});

/** Nested flow and block collections. */
const nestFlow = (levels: number) => `a: ${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}\n`;
const nestBlocks = (levels: number) =>
  Array.from({ length: levels }, (_, index) => `${' '.repeat(index)}a:\n`).join('');

test.each([
  ['of flow collections', nestFlow(33), 'line 1'],
  ['of blocks', nestBlocks(33), 'line 33'],
  ['that never ends', '['.repeat(100_000), 'line 1'],
  ['inside a key', `? ${nestFlow(800)}\n: 1`, 'line 1'],
  ['after a large text', `b: ${'x'.repeat(20_000)}\n${nestFlow(40)}`, 'line 2'],
])('refuses nesting deeper than 32 levels %s', async (_what, sourceYaml, line) => {
  const { rest, revisions } = await createIntegrationTenant();
  const { status, issues } = await rest.expectRefusal('POST', revisions, { sourceYaml });
  expect([status, issues?.map(({ name, detail }) => [name, detail])]).toEqual([
    400,
    [
      [
        'sourceYaml',
        expect.stringMatching(`^${line}, column \\d+: is nested deeper than 32 levels.$`),
      ],
    ],
  ]);
});

test('refuses aliases that nest deeper than 32 levels, and accepts 32 levels', async () => {
  const { rest, revisions } = await createIntegrationTenant();
  const fetchDetail = async (sourceYaml: string) =>
    (await rest.expectRefusal('POST', revisions, { sourceYaml })).issues?.[0]?.detail;
  const chain = Array.from(
    { length: 40 },
    (_, index) => `b${index}: &b${index} [*b${index - 1}]\n`,
  ).slice(1);
  expect(await fetchDetail(`b0: &b0 []\n${chain.join('')}`)).toBe(
    'line 1, column 1: is nested deeper than 32 levels where its aliases are resolved.',
  );
  const noManifest = 'line 1, column 1: is required.';
  for (const text of [nestFlow(32), nestBlocks(32)])
    expect(await fetchDetail(text)).toBe(noManifest);
});

/** A text of the maximum length that no manifest has, and that takes long to parse. */
const SLOW_TEXT = Array.from({ length: 18_000 }, (_, index) => `k${index}: `)
  .join('\n')
  .slice(0, 130_000);

test(
  'serves a quiet tenant while another sends 10 times its share of maximal manifests',
  { tags: ['all/rows'] },
  async () => {
    const [noisy, quiet] = [await createIntegrationTenant(), await createIntegrationTenant()];
    const comment = `# ${'x'.repeat(20_000)}\n`;
    const attack = Array.from({ length: 90 }, () =>
      noisy.rest.request('POST', noisy.revisions, { sourceYaml: SLOW_TEXT }),
    );
    for (const sourceYaml of [
      formatManifest(formatIntegration('crm')),
      comment + formatManifest(formatIntegration('crm')),
    ]) {
      await quiet.rest.post(quiet.revisions, { sourceYaml });
      expect((await app.fetch('/livez')).status).toBe(200);
    }
    const responses = await Promise.all(attack);
    const refusals = responses.filter(({ status }) => status === 429);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([400, 429]));
    expect(refusals[0]).toMatchObject({
      body: { detail: expect.stringContaining('already has 8 documents'), retryAfterSeconds: 1 },
    });
    expect(responses.length - refusals.length).toBeGreaterThanOrEqual(9);
  },
);

test("refuses a large manifest for another tenant's project before it is read", async () => {
  const [ownIntegration, foreignIntegration] = [
    await createIntegrationTenant(),
    await createIntegrationTenant(),
  ];
  const path = `${foreignIntegration.rest.base}/integrations/crm/revisions`;
  const { status } = await ownIntegration.rest.request('POST', path, {
    sourceYaml: SLOW_TEXT,
  });
  expect(status).toBe(404);
});
