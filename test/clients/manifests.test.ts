/**
 * Manifests with the features of the reference vendor's published samples. Those whose providers can read or write are
 * deployed, installed and used; the others are refused with what is missing. docs/compatibility.md lists the outcomes.
 *
 * @module-tag all/walk
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { getSharedApp } from '../support/app.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import { CREATE_INSTALLATION, insertDestination } from '../support/fixtures/integrations.ts';
import { POLLING, startReadJobs, TRIGGER_READ } from '../support/fixtures/reads.ts';
import { WRITE_RECORDS } from '../support/fixtures/writes.ts';
import { createRestTenant, type RestTenant } from '../support/rest/rest-client.ts';
import { type AccountRequirements, startStandIns } from './manifest-stand-ins.ts';

interface Field {
  fieldName?: string;
  mapToName?: string;
}

interface ReadObject {
  objectName: string;
  mapToName?: string;
  destination: string;
  schedule?: string;
  requiredFields?: Field[];
  optionalFields?: Field[];
}

interface Content {
  name: string;
  provider: string;
  module?: string;
  read?: { objects: ReadObject[] };
  write?: { objects: { objectName: string }[] };
  subscribe?: { objects: { objectName: string; destination: string }[] };
  proxy?: { enabled: boolean };
}

interface Manifest {
  file: string;
  /** The comment at the top of the file. */
  description: string;
  text: string;
  specVersion: string;
  integrations: Content[];
}

const FOLDER = join(import.meta.dirname, 'manifests');
const MANIFESTS: Manifest[] = readdirSync(FOLDER)
  .toSorted()
  .map((file) => {
    const text = readFileSync(join(FOLDER, file), 'utf8');
    const description = /^# (.*)$/m.exec(text)?.[1] ?? '';
    return { file, description, text, ...parse(text) };
  });

/** The refused manifests, each with a reason that the document repeats. */
const REFUSED = new Set(
  [
    ...['github-account', 'gitlab-assistant', 'gong-calls', 'google-calendar', 'google-contacts'],
    ...['google-mail', 'intercom-conversations', 'linkedin-ads', 'marketo-leads'],
    ...['microsoft-office', 'monday-boards', 'netsuite-ledger', 'quickbooks-invoices'],
    ...['salesforce-engagement', 'sendgrid-lists', 'slack-channels', 'unknown-provider'],
    ...['xero-purchasing', 'zoho-desk'],
  ].map((name) => `${name}.yaml`),
);
const ACCEPTED = MANIFESTS.filter(({ file }) => !REFUSED.has(file));

/** Members that are accepted, and reported as ignored. */
const WARNINGS: Record<string, string[]> = {
  'hubspot-events.yaml': [
    'integrations[0].subscribe.objects[1].createEvent.watchFieldsAuto: is ignored.',
    'integrations[0].subscribe.objects[1].deleteEvent.watchFieldsAuto: is ignored.',
  ],
  'unified-crm.yaml': [
    'input.integrations[0].read.objects[1].requiredFields[1]: is omitted, because the field stagename is named again later.',
  ],
};

const vendors = await startStandIns();
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: vendors.providers,
});
const workers = await startReadJobs(app);
afterAll(async () => {
  await workers[Symbol.asyncDispose]();
  await vendors[Symbol.asyncDispose]();
});

const UPSERT = `mutation UpsertIntegrations($input: UpsertIntegrationsInput!) {
  upsertIntegrations(input: $input) { integrations { name provider } warnings }
}`;

/** A row of the document for each manifest, by its file. */
const outcomes = new Map<string, string>();

async function prepare({ integrations }: Manifest): Promise<RestTenant> {
  const rest = await createRestTenant(app);
  const objects = integrations.flatMap(({ read, subscribe }) => [
    ...(read?.objects ?? []),
    ...(subscribe?.objects ?? []),
  ]);
  for (const name of new Set(objects.map(({ destination }) => destination))) {
    await insertDestination(app, rest.tenant, name);
  }
  return rest;
}

const deploy = ({ request, base }: RestTenant, { text: sourceYaml }: Manifest) =>
  request('PUT', `${base}/integrations:batch`, { sourceYaml });

test.each(ACCEPTED)('deploys, installs and uses $file', async (manifest) => {
  const { file, specVersion, integrations } = manifest;
  const rest = await prepare(manifest);
  const { status, body, headers } = await deploy(rest, manifest);
  expect({ status, issues: body.issues }).toEqual({ status: 200, issues: undefined });
  const names = integrations.map(({ name }) => name);
  expect(body.map(({ name }: Content) => name)).toEqual(names);
  const warnings = WARNINGS[file]?.map((text) => `299 - "${text}"`).join(', ');
  expect(headers.warning).toBe(warnings);

  const other = await prepare(manifest);
  const contents = toGraphqlInputs(integrations);
  const input = { projectIdOrName: other.tenant.projectId, specVersion, integrations: contents };
  const { upsertIntegrations } = await other.tenant.query(UPSERT, { input });
  expect(upsertIntegrations.integrations.map(({ name }: Content) => name)).toEqual(names);

  const objectNames: string[] = [];
  for (const content of integrations) objectNames.push(await readAndWrite(rest, content));
  outcomes.set(file, `works: ${objectNames.join(', ')}`);
});

/** Returns the contents as GraphQL inputs: with enum names, and without members that REST ignores. */
function toGraphqlInputs(contents: Content[]): Content[] {
  const events = new Set(['createEvent', 'deleteEvent']);
  const text = JSON.stringify(contents, (key, value) => {
    if (events.has(key)) return { enabled: value.enabled };
    return ENUMS.has(key) && typeof value === 'string' ? value.toUpperCase() : value;
  });
  return JSON.parse(text);
}

/** Members of manifests whose words are names of enums in GraphQL. */
const ENUMS = new Set([
  'enabled',
  'optionalFieldsAuto',
  'selectedFieldsAuto',
  'watchFieldsAuto',
  'mode',
]);

/** Connects, installs, and reads or writes a record. Returns the actions for the document. */
async function readAndWrite(rest: RestTenant, content: Content): Promise<string> {
  const { name, provider, module = null, read, write } = content;
  const [object] = read?.objects ?? [];
  const objectName = object?.objectName ?? write?.objects[0]?.objectName ?? '';
  const fields = object ? listFieldNames(object) : [];
  const options: AccountRequirements = { provider, module, objectName, fields };
  await using account = await vendors.open(options);
  const { tenant } = rest;
  await generateConnection(tenant, { provider, ...account.connection });
  const target = {
    projectIdOrName: tenant.projectId,
    integrationIdOrName: name,
    groupRef: 'acme',
  };
  const config = {
    read: (read?.objects ?? []).map(createChoices),
    write: (write?.objects ?? []).map((object) => ({ objectName: object.objectName })),
  };
  // The account has only one object.
  const install = { input: { ...target, config, skipSampling: true } };
  const { createInstallation } = await tenant.query(CREATE_INSTALLATION, install);
  if (!object) {
    const writeInput = {
      ...target,
      objectName,
      type: 'CREATE',
      records: { record: account.record },
    };
    const { writeRecords } = await tenant.query(WRITE_RECORDS, { input: writeInput });
    expect(writeRecords.result).toMatchObject({ success: true });
    return `writes \`${objectName}\``;
  }
  if (!object.schedule) await tenant.query(TRIGGER_READ, { input: { ...target, objectName } });
  const numRecords = async () =>
    (await findFirstMessage(createInstallation.installation.id, object))?.resultInfo.numRecords ??
    0;
  await expect.poll(numRecords, POLLING).toBeGreaterThan(0);
  return `reads \`${objectName}\``;
}

function listFieldNames({ requiredFields = [], optionalFields = [] }: ReadObject): string[] {
  return [...requiredFields, ...optionalFields].flatMap(({ fieldName }) => fieldName ?? []);
}

/** Chooses everything that the manifest offers, and a field for each name that the customer maps. */
function createChoices(object: ReadObject) {
  const { objectName, requiredFields = [], optionalFields = [] } = object;
  const [first] = listFieldNames(object);
  const fieldMappings = [...requiredFields, ...optionalFields]
    .filter(({ fieldName }) => fieldName === undefined)
    .map(({ mapToName }) => ({ mapToName, fieldName: first }));
  return { objectName, fieldMappings };
}

/** Returns the first delivered message with records of the object. */
async function findFirstMessage(installationId: string, { objectName, mapToName }: ReadObject) {
  const { prisma } = app.app.services.database;
  const operations = await prisma.operation.findMany({ where: { installationId } });
  const deliveries = await prisma.delivery.findMany({
    where: { operationId: { in: operations.map(({ id }) => id) } },
    orderBy: { id: 'asc' },
  });
  const messages = deliveries.map(({ body }) => JSON.parse(body));
  return messages.find((message) => message.objectName === (mapToName ?? objectName)) ?? null;
}

test.each(
  MANIFESTS.filter(({ file }) => REFUSED.has(file)),
)('refuses $file, and names what is missing', async (manifest) => {
  const rest = await prepare(manifest);
  const { status, body } = await deploy(rest, manifest);
  expect(status).toBe(400);
  expect(await rest.get(`${rest.base}/integrations`)).toEqual([]);
  // Objects that share a reason are listed together.
  const reasons = Map.groupBy(body.issues as RefusedIssue[], ({ detail }) => detail);
  const problems = [...reasons].map(([detail, issues]) => {
    const subjects = issues.map(({ name, value }) => (typeof value === 'string' ? value : name));
    const listed = [...new Set(subjects)].map((subject) => `\`${subject}\``).join(', ');
    return `${listed}: ${detail}`;
  });
  for (const problem of problems) expect(problem).toMatch(NAMES_WHAT_IS_MISSING);
  outcomes.set(manifest.file, `refused: ${problems.join(' ')}`);
});

interface RefusedIssue {
  name: string;
  value?: unknown;
  detail: string;
}

const NAMES_WHAT_IS_MISSING =
  /needs (READ|WRITE|SUBSCRIBE)|is not an object of|is not a module of|not support PROXY|is not a provider/;

test('lists the outcomes in docs/compatibility.md', async () => {
  const file = join(import.meta.dirname, '../../docs/compatibility.md');
  const rows = MANIFESTS.map(({ file: name, description, integrations }) => {
    const providers = integrations.map(({ provider, module }) =>
      module ? `${provider}/${module}` : provider,
    );
    const link = `[${name.replace('.yaml', '')}](../test/clients/manifests/${name})`;
    const names = [...new Set(providers)].map((provider) => `\`${provider}\``).join(', ');
    return `| ${link} | ${names} | ${description} | ${outcomes.get(name) ?? 'not run'} |`;
  });
  const table = [
    '| Manifest | Provider | Features | Outcome |',
    '| --- | --- | --- | --- |',
    ...rows,
  ];
  const [before, after] = readFileSync(file, 'utf8').split(TABLE);
  await expect(`${before}${table.join('\n')}\n\n${after}`).toMatchFileSnapshot(file);
});

/** The table of manifests, the only one with such a header. */
const TABLE = /\| Manifest \| Provider [\s\S]*?\n\n/;
