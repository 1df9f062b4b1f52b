/** End users in a project with the demo's customers, and objects that they must not see. */
import { readFileSync } from 'node:fs';
import { fillDemo } from '../../../src/demo/demo.ts';
import { SCOPE_BY_PERMISSION } from '../../../src/domain/access/viewer/end-user.ts';
import type { Tenant, TestApp } from '../app.ts';
import { insertRows } from '../database/insert-rows.ts';
import { generateConnection } from '../fixtures/connections.ts';
import { createEndUser, createJwtIssuer, type EndUser } from '../fixtures/end-users.ts';
import { CREATE_INSTALLATION } from '../fixtures/integrations.ts';
import type { GraphqlClient } from '../graphql-client.ts';
import { createDocument, createProvider } from '../inputs/custom-providers.ts';
import type { Foreign } from './foreign-values.ts';
import { listStoredIds } from './stored-rows.ts';

export interface EndUserCaller {
  name: string;
  user: EndUser;
  /** Objects that belong to the caller. */
  ownValues: Foreign;
  /**
   * Pairs of existing objects that the caller must not see, and of objects that do not exist. Responses for
   * both must be equal.
   */
  pairs: { foreign: Foreign; missing: Foreign }[];
  /** IDs and labels that no response may contain. */
  hidden: readonly string[];
}

const UNKNOWN_ID_SUFFIX = '01h455vb4pex5vsknk084sn02q';
const RIVAL_PARTIES = { groupRef: 'rival', consumerRef: 'bob' };
/** The demo and the other tenant have a custom provider of the same name. Only this label is the demo's. */
const DEMO_PROVIDER = 'Provider of the demo';
const permissions = Object.keys(SCOPE_BY_PERMISSION);
const PLAUSIBLE_TEXTS = {
  provider: 'sandbox',
  name: 'x-acme',
  objectName: 'contacts',
  specVersion: '1.0.0',
  url: 'https://hooks.example/x',
  domain: 'demo.example',
  email: 'someone@demo.example',
};
const RIVAL_TEXTS = { ...PLAUSIBLE_TEXTS, ...RIVAL_PARTIES };
const DEMO_TEXTS = { ...PLAUSIBLE_TEXTS, groupRef: 'acme', consumerRef: 'ada' };
const MISSING_TEXTS = { ...PLAUSIBLE_TEXTS, groupRef: 'unknown', consumerRef: 'unknown' };

/** Names the first ID with each prefix, or one that does not exist. */
function createForeign(
  project: string,
  texts: Foreign['texts'],
  ...ids: readonly string[][]
): Foreign {
  const allIds = ids.flat();
  const findId = (prefix: string) =>
    allIds.find((id) => id.startsWith(`${prefix}_`)) ?? `${prefix}_${UNKNOWN_ID_SUFFIX}`;
  return { project, texts, findId };
}

export async function createEndUserCallers(app: TestApp) {
  const demo = await fillDemoTenant(app);
  await createJwtIssuer(demo);
  await createLabeledProvider(demo, DEMO_PROVIDER);
  const publicIds = await listPublicIds(demo);
  const insider = await createEndUser(app, demo, { ...RIVAL_PARTIES, permissions });
  const insiderIds = await createInsiderRows(app, insider);
  const otherTenant = await app.createTenant('b');
  await createLabeledProvider(otherTenant, 'Provider of b');
  const outsider = await createEndUser(app, otherTenant, { ...RIVAL_PARTIES, permissions });
  const limited = await createEndUser(app, demo, {
    ...RIVAL_PARTIES,
    permissions,
    integrations: [],
  });
  const allIds = await listStoredIds(app);
  const listOtherIds = (...visibleIds: string[][]) =>
    allIds.filter((id) => !visibleIds.flat().includes(id)).reverse();
  const { projectId } = demo;
  const insiderParties = [projectId, demo.orgId, ...insiderIds.partyIds];
  const visibleToInsider = [...publicIds, ...insiderParties, ...insiderIds.objectIds];
  const visibleToOutsider = [
    otherTenant.projectId,
    otherTenant.orgId,
    ...(await listPartyIds(outsider)),
  ];
  const createPairs = (
    project: string,
    visible: string[],
    hidden: string[],
    missingProject = project,
  ) => ({
    foreign: createForeign(project, DEMO_TEXTS, visible, hidden),
    missing: createForeign(missingProject, MISSING_TEXTS, visible),
  });
  const callers: EndUserCaller[] = [
    {
      name: 'of another group',
      user: insider,
      ownValues: createForeign(projectId, RIVAL_TEXTS, visibleToInsider),
      pairs: [createPairs(projectId, publicIds, listOtherIds(visibleToInsider))],
      hidden: listOtherIds(visibleToInsider),
    },
    {
      name: 'without integrations',
      user: limited,
      ownValues: createForeign(projectId, RIVAL_TEXTS, insiderParties),
      pairs: [createPairs(projectId, [], listOtherIds(insiderParties))],
      hidden: listOtherIds(insiderParties),
    },
    {
      name: 'of another project',
      user: outsider,
      ownValues: createForeign(otherTenant.projectId, RIVAL_TEXTS, visibleToOutsider),
      pairs: [
        createPairs(projectId, [], listOtherIds(visibleToOutsider), `prj_${UNKNOWN_ID_SUFFIX}`),
        createPairs('demo', [], listOtherIds(visibleToOutsider), 'no-project'),
        createPairs(otherTenant.projectId, [], listOtherIds(visibleToOutsider)),
      ],
      hidden: [...listOtherIds(visibleToOutsider), DEMO_PROVIDER],
    },
  ];
  return { callers, projectId };
}

function createLabeledProvider(tenant: Pick<Tenant, 'projectId' | 'query'>, displayName: string) {
  return createProvider(tenant, createDocument('https://api.acme.example', { displayName }));
}

/** Fills the demo. Returns a client with the API key of its project, which has every scope. */
export async function fillDemoTenant(app: TestApp) {
  const { services, verifier } = app.app;
  await fillDemo({ services, verifier, url: 'http://gateway.test' });
  const file = readFileSync(`${services.config.DATA_DIR}/demo.json`, 'utf8');
  const headers = { 'x-api-key': JSON.parse(file).apiKey as string };
  const client = app.createClient(headers);
  const { viewer } = await client.query('{ viewer { project { id orgId } } }');
  return {
    ...client,
    headers,
    projectId: viewer.project.id as string,
    orgId: viewer.project.orgId as string,
  };
}

/** Returns the IDs of the project's integrations and revisions, which every end user sees. */
async function listPublicIds({ query }: Pick<GraphqlClient, 'query'>): Promise<string[]> {
  const { viewer } = await query(
    '{ viewer { project { integrations { nodes { id revisions { nodes { id } } } } } } }',
  );
  interface IntegrationNode {
    id: string;
    revisions: { nodes: { id: string }[] };
  }
  return viewer.project.integrations.nodes.flatMap(({ id, revisions }: IntegrationNode) => [
    id,
    ...revisions.nodes.map((revision) => revision.id),
  ]);
}

async function listPartyIds(user: EndUser): Promise<string[]> {
  const { viewer } = await user.query('{ viewer { group { id } consumer { id } } }');
  return [viewer.group.id, viewer.consumer.id];
}

/** Creates a connection, an installation and an operation of the caller, and returns their IDs. */
async function createInsiderRows(app: TestApp, insider: EndUser) {
  const { projectId } = insider;
  const connection = await generateConnection(insider as Pick<Tenant, 'projectId' | 'query'>, {
    ...RIVAL_PARTIES,
    apiKey: 'sandbox-key',
  });
  const input = { projectIdOrName: projectId, integrationIdOrName: 'crm-sync' };
  const creation = await insider.query(CREATE_INSTALLATION, {
    input: { ...input, groupRef: RIVAL_PARTIES.groupRef, skipSampling: true },
  });
  const { id: installationId, integration, config } = creation.createInstallation.installation;
  const { id: operationId } = await insertRows(app).operation({
    projectId,
    installationId,
    groupId: connection.group.id,
    integrationId: integration.id,
    configId: config.id,
  });
  return {
    partyIds: [...(await listPartyIds(insider)), connection.id],
    objectIds: [installationId, config.id, operationId],
  };
}
