/** The demo's project and what is in it; each step adds what is missing. */
import type { Services } from '../domain/call.ts';
import { ALL_SCOPES } from '../domain/viewer/scopes.ts';
import { DEMO_APP, DEMO_CONNECTIONS, DEMO_REVISIONS } from './content.ts';
import { fillRoutes, KNOWN_ROUTES } from './event-routes.ts';
import { addOperations } from './operations.ts';
import { createRunner, type Data, DEMO_PROJECT, type Runner } from './runner.ts';

export interface DemoProject {
  orgId: string;
  projectId: string;
  projectName: string;
  integrationId: string;
  installationId: string;
  /** The destination to follow. */
  streamId: string;
}

interface Filling {
  services: Services;
  issuer: string;
  /** The API key of an earlier start, if it still works. */
  knownKey: string | null;
}

const projectIdOrName = DEMO_PROJECT;
const KEY_LABEL = 'Demo';

const [FIRST_REVISION] = DEMO_REVISIONS;
const INTEGRATION = 'id revisions { totalCount }';
const INSTALLATION = 'id config { id }';
/** All that is checked, in one query: every start waits for it. */
const KNOWN = `
  id
  ${KNOWN_ROUTES}
  providerApps(first: 1) { totalCount }
  connections { nodes { group { groupRef } consumer { consumerRef } } }
  integration(idOrName: "${FIRST_REVISION.name}") { ${INTEGRATION} }
  installations(first: 1, groupRef: "${DEMO_CONNECTIONS[0].groupRef}") { nodes { ${INSTALLATION} } }`;

export async function fillProject({
  services,
  issuer,
  knownKey,
}: Filling): Promise<DemoProject & { apiKey: string }> {
  const runner = createRunner(services, issuer);
  const { orgs, project } = await runner.query(
    `{ orgs(last: 1) { nodes { id } } project(idOrName: "${DEMO_PROJECT}") { orgId ${KNOWN} } }`,
  );
  // The builder may have created other orgs since: only the project names the demo's own.
  const orgId = project?.orgId ?? orgs.nodes[0]?.id ?? (await createOrg(runner));
  const known = project ?? (await createProject(runner, orgId));
  const projectId = known.id;
  const apiKey = knownKey ?? (await newApiKey(runner));
  const streamId = await fillRoutes(runner, known, services.sandboxUrl());
  if (known.providerApps.totalCount === 0) await createApp(runner);
  await fillConnections(runner, known);
  const integrationId = await fillIntegration(runner, known);
  const installation = await fillInstallation(runner, known);
  await addOperations(services, { projectId, integrationId, ...installation });
  const { installationId } = installation;
  const ids = { orgId, projectId, integrationId, installationId, streamId };
  return { ...ids, projectName: DEMO_PROJECT, apiKey };
}

async function createOrg(runner: Runner): Promise<string> {
  const { org } = await runner.change('createOrg', { label: 'Demo' }, 'org { id }');
  return org.id;
}

async function createProject(runner: Runner, orgId: string): Promise<Data> {
  const input = { name: DEMO_PROJECT, appName: 'Demo CRM sync', orgId };
  return (await runner.change('createProject', input, `project { ${KNOWN} }`)).project;
}

/** A key of every scope; those of earlier starts, whose values are lost, go. */
async function newApiKey(runner: Runner): Promise<string> {
  const { apiKeys } = await runner.project('apiKeys { nodes { id label } }');
  for (const { id, label } of apiKeys.nodes) {
    if (label !== KEY_LABEL) continue;
    await runner.change('deleteApiKey', { projectIdOrName, apiKey: id }, 'deletedId');
  }
  const input = { projectIdOrName, label: KEY_LABEL, scopes: ALL_SCOPES };
  const { key } = await runner.change('createApiKey', input, 'key');
  return key;
}

/** Where the sandbox sends what changes there. */
async function createApp(runner: Runner): Promise<void> {
  await runner.change('createProviderApp', { projectIdOrName, ...DEMO_APP }, 'providerApp { id }');
}

async function fillConnections(runner: Runner, { connections }: Data): Promise<void> {
  const nameOf = (groupRef: string, consumerRef: string) => `${groupRef} ${consumerRef}`;
  const known = connections.nodes.map(({ group, consumer }: Data) =>
    nameOf(group.groupRef, consumer.consumerRef),
  );
  for (const connection of DEMO_CONNECTIONS) {
    if (known.includes(nameOf(connection.groupRef, connection.consumerRef))) continue;
    const input = { projectIdOrName, provider: 'sandbox', ...connection };
    await runner.change('generateConnection', input, 'connection { id }');
  }
}

async function fillIntegration(runner: Runner, known: Data): Promise<string> {
  const [first] = DEMO_REVISIONS;
  const integration = known.integration ?? (await createIntegration(runner, first));
  for (const content of DEMO_REVISIONS.slice(integration.revisions.totalCount)) {
    const input = {
      projectIdOrName,
      integrationIdOrName: first.name,
      revision: { specVersion: '1.0.0', content },
    };
    await runner.change('createRevision', input, 'revision { id }');
  }
  return integration.id;
}

async function createIntegration(
  runner: Runner,
  content: (typeof DEMO_REVISIONS)[0],
): Promise<Data> {
  const { name, provider } = content;
  const latestRevision = { specVersion: '1.0.0', content };
  const input = { projectIdOrName, name, provider, latestRevision };
  const { integration } = await runner.change(
    'createIntegration',
    input,
    `integration { ${INTEGRATION} }`,
  );
  return integration;
}

async function fillInstallation(
  runner: Runner,
  { installations }: Data,
): Promise<{ installationId: string; configId: string }> {
  const { groupRef } = DEMO_CONNECTIONS[0];
  const [known] = installations.nodes;
  if (known) return { installationId: known.id, configId: known.config.id };
  const input = { projectIdOrName, integrationIdOrName: FIRST_REVISION.name, groupRef };
  const { installation } = await runner.change(
    'createInstallation',
    input,
    `installation { ${INSTALLATION} }`,
  );
  return { installationId: installation.id, configId: installation.config.id };
}
