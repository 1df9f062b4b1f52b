/** Creates the demo's project and its content. Each step creates only what is missing. */
import { inTransaction } from '../database/transactions/transaction.ts';
import type { Services } from '../domain/access/call.ts';
import { ALL_SCOPES, toScopeName } from '../domain/access/viewer/scopes.ts';
import { continueRead } from '../domain/data/operation/read/continue-read.ts';
import { computeReadTiming, createReadWindow } from '../domain/data/operation/read/read-plan.ts';
import { startRun } from '../domain/data/operation/read/read-run.ts';
import { DEMO_APP, DEMO_CONNECTIONS, DEMO_INSTALLATIONS, DEMO_INTEGRATIONS } from './content.ts';
import { fillRoutes, ROUTE_FIELDS } from './event-routes.ts';
import { addHistory, createPastClock, isWithoutHistory, PRESENT_CLOCK } from './history.ts';
import { createRunner, type Data, DEMO_PROJECT, type Runner } from './runner.ts';

export interface DemoProject {
  orgId: string;
  projectId: string;
  projectName: string;
  integrationId: string;
  installationId: string;
  /** The id of the stream destination. */
  streamId: string;
}

interface FillInput {
  services: Services;
  issuer: string;
  /** The API key of an earlier start. Null if there is none, or it no longer works. */
  existingKey: string | null;
}

const projectIdOrName = DEMO_PROJECT;
const API_KEY_LABEL = 'Demo';

const INSTALLATION_FIELDS = 'id group { groupRef }';
const INTEGRATION_FIELDS = `
  id
  name
  revisions { totalCount }
  installations(first: 1000) { nodes { ${INSTALLATION_FIELDS} } }`;
/** All fields that the steps check. One query reads them, because each start waits for it. */
const PROJECT_FIELDS = `
  id
  orgId
  createTime
  ${ROUTE_FIELDS}
  providerApps(first: 1) { totalCount }
  connections(first: 1000) { nodes { provider group { groupRef } consumer { consumerRef } } }
  integrations(first: 1000) { nodes { ${INTEGRATION_FIELDS} } }`;

export async function fillProject({
  services,
  issuer,
  existingKey,
}: FillInput): Promise<DemoProject & { apiKey: string }> {
  const { orgs, project } = await createRunner(services, issuer).query(
    `{ orgs(last: 1) { nodes { id } } project(idOrName: "${DEMO_PROJECT}") { ${PROJECT_FIELDS} } }`,
  );
  const needsHistory = !project || isWithoutHistory(project);
  const clock = needsHistory ? createPastClock(services) : PRESENT_CLOCK;
  const runner = createRunner(services, issuer, clock);
  // The builder may have created other orgs, so only the project identifies the demo's org.
  const orgId = project?.orgId ?? orgs.nodes[0]?.id ?? (await createOrg(runner));
  const existing = project ?? (await createProject(runner, orgId));
  const projectId = existing.id;
  const apiKey = existingKey ?? (await replaceApiKey(runner));
  const streamId = await fillRoutes(runner, existing, services.sandboxUrl());
  if (existing.providerApps.totalCount === 0) await createApp(runner);
  await fillConnections(runner, existing);
  const integrations = new Map<string, Data>();
  for (const contents of DEMO_INTEGRATIONS) {
    const integration = await fillIntegration(runner, existing.integrations.nodes, contents);
    integrations.set(integration.name, integration);
  }
  const installationIds: string[] = [];
  for (const { integration, groupRef } of DEMO_INSTALLATIONS) {
    const { id } = await fillInstallation(runner, integrations.get(integration), groupRef);
    installationIds.push(id);
    if (!needsHistory) continue;
    await clock(() => runFirstReads(services, { projectId, installationId: id }));
  }
  if (needsHistory) await addHistory(services, { id: projectId, orgId });
  // The demo links to the newest integration and installation, which lists show first.
  const integrationId = [...integrations.values()].at(-1).id;
  const installationId = installationIds.at(-1)!;
  const ids = { orgId, projectId, integrationId, installationId, streamId };
  return { ...ids, projectName: DEMO_PROJECT, apiKey };
}

async function createOrg(runner: Runner): Promise<string> {
  const { org } = await runner.change('createOrg', { label: 'Demo' }, 'org { id }');
  return org.id;
}

async function createProject(runner: Runner, orgId: string): Promise<Data> {
  const input = { name: DEMO_PROJECT, appName: 'Demo CRM sync', orgId };
  return (await runner.change('createProject', input, `project { ${PROJECT_FIELDS} }`)).project;
}

/** Creates a key with all scopes, and deletes the demo's earlier keys, whose values are lost. */
async function replaceApiKey(runner: Runner): Promise<string> {
  const { apiKeys } = await runner.getProject('apiKeys(first: 1000) { nodes { id label } }');
  for (const { id, label } of apiKeys.nodes) {
    if (label !== API_KEY_LABEL) continue;
    await runner.change('deleteApiKey', { projectIdOrName, apiKey: id }, 'deletedId');
  }
  const input = { projectIdOrName, label: API_KEY_LABEL, scopes: ALL_SCOPES.map(toScopeName) };
  const { key } = await runner.change('createApiKey', input, 'key');
  return key;
}

/** Creates the provider app that receives the sandbox's events. */
async function createApp(runner: Runner): Promise<void> {
  await runner.change('createProviderApp', { projectIdOrName, ...DEMO_APP }, 'providerApp { id }');
}

async function fillConnections(runner: Runner, { connections }: Data): Promise<void> {
  const existing = connections.nodes.map(({ provider, group, consumer }: Data) =>
    [provider, group.groupRef, consumer.consumerRef].join(' '),
  );
  for (const connection of DEMO_CONNECTIONS) {
    const input = { projectIdOrName, provider: 'sandbox', ...connection };
    const { provider, groupRef, consumerRef } = input;
    if (existing.includes([provider, groupRef, consumerRef].join(' '))) continue;
    await runner.change('generateConnection', input, 'connection { id }');
  }
}

type Content = (typeof DEMO_INTEGRATIONS)[number][0];

async function fillIntegration(
  runner: Runner,
  existing: Data[],
  [firstContent, ...laterContents]: readonly [Content, ...object[]],
): Promise<Data> {
  const integration =
    existing.find(({ name }) => name === firstContent.name) ??
    (await createIntegration(runner, firstContent));
  for (const content of laterContents.slice(integration.revisions.totalCount - 1)) {
    const input = {
      projectIdOrName,
      integrationIdOrName: firstContent.name,
      revision: { specVersion: '1.0.0', content },
    };
    await runner.change('createRevision', input, 'revision { id }');
  }
  return integration;
}

async function createIntegration(runner: Runner, content: Content): Promise<Data> {
  const { name, provider } = content;
  const latestRevision = { specVersion: '1.0.0', content };
  const input = { projectIdOrName, name, provider, latestRevision };
  const selection = `integration { ${INTEGRATION_FIELDS} }`;
  return (await runner.change('createIntegration', input, selection)).integration;
}

async function fillInstallation(
  runner: Runner,
  { name, installations }: Data,
  groupRef: string,
): Promise<Data> {
  const existing = installations.nodes.find(({ group }: Data) => group.groupRef === groupRef);
  if (existing) return existing;
  const input = { projectIdOrName, integrationIdOrName: name, groupRef };
  // Selecting the contract makes the gateway learn the types of the account's fields.
  const selection = `installation { ${INSTALLATION_FIELDS} contract { hash } }`;
  return (await runner.change('createInstallation', input, selection)).installation;
}

/** Reads each object that is due and has not been read. */
async function runFirstReads(
  services: Services,
  { projectId, installationId }: { projectId: string; installationId: string },
): Promise<void> {
  const { database, now } = services;
  const { objects, ...installation } = await database.prisma.installation.findUniqueOrThrow({
    where: { projectId_id: { projectId, id: installationId } },
    include: { objects: { where: { backfillOperationId: null, nextReadTime: { not: null } } } },
  });
  for (const object of objects) {
    const { objectName } = object;
    const run = await inTransaction(database, async (tx) => {
      const window = createReadWindow(
        object,
        { backfill: null, timing: computeReadTiming(null, objectName) },
        now(),
      );
      const { processes } = database;
      const input = { installation, objectName, ...window };
      const started = await startRun(tx, input, { processes, isHeld: true });
      await tx.installedObject.update({
        where: {
          projectId_installationId_objectName: { projectId, installationId, objectName },
        },
        data: { backfillOperationId: started.operation.id, nextReadTime: null },
      });
      return started.run;
    });
    await continueRead(services, run, new AbortController().signal);
  }
}
