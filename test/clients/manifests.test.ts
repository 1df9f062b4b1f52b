/**
 * Tests manifests with the features of the reference vendor's published samples. It deploys, installs and
 * uses the manifests whose providers can read or write. The gateway refuses the other manifests, and reports
 * what is missing. docs/compatibility.md lists the outcomes.
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

const MANIFEST_FOLDER = join(import.meta.dirname, 'manifests');
const MANIFESTS: Manifest[] = readdirSync(MANIFEST_FOLDER)
  .toSorted()
  .map((file) => {
    const text = readFileSync(join(MANIFEST_FOLDER, file), 'utf8');
    const description = /^# (.*)$/m.exec(text)?.[1] ?? '';
    return { file, description, text, ...parse(text) };
  });

/** The refused manifests, each with a reason that the document repeats. */
const REFUSED_FILES = new Set(
  [
    ...['gong-calls', 'google-calendar', 'google-contacts', 'google-mail'],
    ...['intercom-conversations', 'linkedin-ads', 'marketo-leads', 'microsoft-office'],
    ...['netsuite-ledger', 'quickbooks-invoices', 'sendgrid-lists', 'slack-channels'],
    ...['unknown-provider'],
  ].map((name) => `${name}.yaml`),
);
const ACCEPTED_MANIFESTS = MANIFESTS.filter(({ file }) => !REFUSED_FILES.has(file));

/** The warnings about members that are accepted and ignored. */
const WARNINGS_BY_FILE: Record<string, string[]> = {
  'hubspot-events.yaml': [
    'integrations[0].subscribe.objects[1].createEvent.watchFieldsAuto: is ignored.',
    'integrations[0].subscribe.objects[1].deleteEvent.watchFieldsAuto: is ignored.',
  ],
  'unified-crm.yaml': [
    'integrations[0].read.objects[1].requiredFields[1]: is omitted, because the field stagename is named again later.',
  ],
};

const standIns = await startStandIns();
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: standIns.providers,
});
const readJobs = await startReadJobs(app);
afterAll(async () => {
  await readJobs[Symbol.asyncDispose]();
  await standIns[Symbol.asyncDispose]();
});

const UPSERT_INTEGRATIONS = `mutation UpsertIntegrations($input: UpsertIntegrationsInput!) {
  upsertIntegrations(input: $input) { integrations { name provider } warnings }
}`;

/** A row of the document for each manifest, by its file. */
const outcomes = new Map<string, string>();

/** Creates a project with the destinations that the manifest names. */
async function createTenantFor({ integrations }: Manifest): Promise<RestTenant> {
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

test.each(ACCEPTED_MANIFESTS)('deploys, installs and uses $file', async (manifest) => {
  const { file, specVersion, integrations } = manifest;
  const rest = await createTenantFor(manifest);
  const { status, body, headers } = await deploy(rest, manifest);
  expect({ status, issues: body.issues }).toEqual({ status: 200, issues: undefined });
  const names = integrations.map(({ name }) => name);
  expect(body.map(({ name }: Content) => name)).toEqual(names);
  const warnings = WARNINGS_BY_FILE[file]?.map((text) => `299 - "${text}"`).join(', ');
  expect(headers.warning).toBe(warnings);

  const graphqlRest = await createTenantFor(manifest);
  const contents = toGraphqlInputs(integrations);
  const input = {
    projectIdOrName: graphqlRest.tenant.projectId,
    specVersion,
    integrations: contents,
  };
  const { upsertIntegrations } = await graphqlRest.tenant.query(UPSERT_INTEGRATIONS, { input });
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
    return ENUM_MEMBERS.has(key) && typeof value === 'string' ? value.toUpperCase() : value;
  });
  return JSON.parse(text);
}

/** Members of manifests whose values GraphQL writes in capitals, as enum values. */
const ENUM_MEMBERS = new Set([
  'enabled',
  'optionalFieldsAuto',
  'selectedFieldsAuto',
  'watchFieldsAuto',
  'mode',
]);

/** Connects, installs, and reads or writes a record. Returns what it did in the words of the document. */
async function readAndWrite(rest: RestTenant, content: Content): Promise<string> {
  const { name, provider, module = null, read, write } = content;
  const [object] = read?.objects ?? [];
  const objectName = object?.objectName ?? write?.objects[0]?.objectName ?? '';
  const fields = object ? listFieldNames(object) : [];
  const options: AccountRequirements = { provider, module, objectName, fields };
  await using account = await standIns.open(options);
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
  // The account has only one object, so samples of the others would fail.
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
  const countRecords = async () =>
    (await findFirstMessage(createInstallation.installation.id, object))?.resultInfo.numRecords ??
    0;
  await expect.poll(countRecords, POLLING).toBeGreaterThan(0);
  return `reads \`${objectName}\``;
}

function listFieldNames({ requiredFields = [], optionalFields = [] }: ReadObject): string[] {
  return [...requiredFields, ...optionalFields].flatMap(({ fieldName }) => fieldName ?? []);
}

/** Chooses everything that the manifest offers, and a field for each name that the customer maps. */
function createChoices(object: ReadObject) {
  const { objectName, requiredFields = [], optionalFields = [] } = object;
  const [mappedField] = listFieldNames(object);
  const fieldMappings = [...requiredFields, ...optionalFields]
    .filter(({ fieldName }) => fieldName === undefined)
    .map(({ mapToName }) => ({ mapToName, fieldName: mappedField }));
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
  MANIFESTS.filter(({ file }) => REFUSED_FILES.has(file)),
)('refuses $file, and reports what is missing', async (manifest) => {
  const rest = await createTenantFor(manifest);
  const { status, body } = await deploy(rest, manifest);
  expect(status).toBe(400);
  expect(await rest.get(`${rest.base}/integrations`)).toEqual([]);
  // Objects that share a reason are listed together.
  const reasons = Map.groupBy(body.issues as RefusedIssue[], ({ detail }) =>
    detail.replace(/^line \d+, column \d+: /, ''),
  );
  const problems = [...reasons].map(([detail, issues]) => {
    const subjects = issues.map(({ name, value }) => (typeof value === 'string' ? value : name));
    const subjectList = [...new Set(subjects)].map((subject) => `\`${subject}\``).join(', ');
    return `${subjectList}: ${detail}`;
  });
  for (const problem of problems) expect(problem).toMatch(MISSING_FEATURE);
  outcomes.set(manifest.file, `refused: ${problems.join(' ')}`);
});

interface RefusedIssue {
  name: string;
  value?: unknown;
  detail: string;
}

const MISSING_FEATURE =
  /needs (read|write|subscribe)|is not an object of|is not a module of|not support proxy|is not a provider/;

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
  const [textBefore, textAfter] = readFileSync(file, 'utf8').split(OUTCOME_TABLE);
  await expect(`${textBefore}${table.join('\n')}\n\n${textAfter}`).toMatchFileSnapshot(file);
});

/** Matches the table of manifests in the document. */
const OUTCOME_TABLE = /\| Manifest \| Provider [\s\S]*?\n\n/;
