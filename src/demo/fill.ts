/** The demo's project and what is in it; each step adds what is missing. */
import type { Services } from '../domain/call.ts';
import { ALL_SCOPES } from '../domain/viewer/scopes.ts';
import { DEMO_CONNECTIONS, DEMO_REVISIONS } from './content.ts';
import { addOperations } from './operations.ts';
import { fillRoutes } from './routes.ts';
import { createRunner, type Data, DEMO_PROJECT, type Runner } from './runner.ts';

export interface DemoProject {
  orgId: string;
  projectId: string;
  projectName: string;
  integrationId: string;
  installationId: string;
}

interface Filling {
  services: Services;
  issuer: string;
  /** The API key of an earlier start, where it still works. */
  knownKey: string | null;
}

const projectIdOrName = DEMO_PROJECT;
const KEY_LABEL = 'Demo';

export async function fillProject({
  services,
  issuer,
  knownKey,
}: Filling): Promise<DemoProject & { apiKey: string }> {
  const runner = createRunner(services, issuer);
  const orgId = await fillOrg(runner);
  const projectId = await fillEmptyProject(runner, orgId);
  const apiKey = knownKey ?? (await newApiKey(runner));
  await fillRoutes(runner, services.sandboxUrl ?? '');
  await fillConnections(runner);
  const integrationId = await fillIntegration(runner);
  const installation = await fillInstallation(runner);
  await addOperations(services.database, { projectId, integrationId, ...installation });
  const { installationId } = installation;
  return { orgId, projectId, projectName: DEMO_PROJECT, integrationId, installationId, apiKey };
}

async function fillOrg(runner: Runner): Promise<string> {
  const { orgs } = await runner.query('{ orgs(first: 1) { nodes { id } } }');
  if (orgs.nodes[0]) return orgs.nodes[0].id;
  const { org } = await runner.change('createOrg', { label: 'Demo' }, 'org { id }');
  return org.id;
}

async function fillEmptyProject(runner: Runner, orgId: string): Promise<string> {
  const known = await runner.project('id');
  if (known) return known.id;
  const input = { name: DEMO_PROJECT, appName: 'Demo CRM sync', orgId };
  const { project } = await runner.change('createProject', input, 'project { id }');
  return project.id;
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

async function fillConnections(runner: Runner): Promise<void> {
  const { connections } = await runner.project(
    'connections { nodes { group { groupRef } consumer { consumerRef } } }',
  );
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

async function fillIntegration(runner: Runner): Promise<string> {
  const [first, second] = DEMO_REVISIONS;
  const selection = 'id revisions { totalCount }';
  const known = await runner.project(`integration(idOrName: "${first.name}") { ${selection} }`);
  const integration = known.integration ?? (await createIntegration(runner, first, selection));
  if (integration.revisions.totalCount < DEMO_REVISIONS.length) {
    const input = {
      projectIdOrName,
      integrationIdOrName: first.name,
      revision: { specVersion: '1.0.0', content: second },
    };
    await runner.change('createRevision', input, 'revision { id }');
  }
  return integration.id;
}

async function createIntegration(
  runner: Runner,
  content: (typeof DEMO_REVISIONS)[0],
  selection: string,
): Promise<Data> {
  const { name, provider } = content;
  const latestRevision = { specVersion: '1.0.0', content };
  const input = { projectIdOrName, name, provider, latestRevision };
  const { integration } = await runner.change(
    'createIntegration',
    input,
    `integration { ${selection} }`,
  );
  return integration;
}

async function fillInstallation(
  runner: Runner,
): Promise<{ installationId: string; configId: string }> {
  const { groupRef } = DEMO_CONNECTIONS[0];
  const { installations } = await runner.project(
    `installations(first: 1, groupRef: "${groupRef}") { nodes { id config { id } } }`,
  );
  const [known] = installations.nodes;
  if (known) return { installationId: known.id, configId: known.config.id };
  const input = { projectIdOrName, integrationIdOrName: DEMO_REVISIONS[0].name, groupRef };
  const { installation } = await runner.change(
    'createInstallation',
    input,
    'installation { id config { id } }',
  );
  return { installationId: installation.id, configId: installation.config.id };
}
