/** End users beside the demo's own customers, and what exists without being theirs. */
import { readFileSync } from 'node:fs';
import { fillDemo } from '../../../src/demo/demo.ts';
import { SESSION_PERMISSIONS } from '../../../src/domain/viewer/end-user.ts';
import type { Tenant, TestApp } from '../app.ts';
import { insertRows } from '../database/rows.ts';
import type { GraphqlClient } from '../graphql-client.ts';
import { generate } from '../scenes/connections.ts';
import { type EndUser, endUser, jwtIssuer } from '../scenes/end-users.ts';
import { CREATE_INSTALLATION } from '../scenes/integrations.ts';
import type { Foreign } from './foreign-values.ts';
import { storedIds } from './stored-rows.ts';

export interface EndUserCaller {
  name: string;
  user: EndUser;
  /** What the caller has itself. */
  own: Foreign;
  /** What is not the caller's, and beside it what does not exist: no answer may tell them apart. */
  pairs: { foreign: Foreign; nothing: Foreign }[];
  /** Ids that no answer may hold. */
  hidden: readonly string[];
}

const MISSING = '01h455vb4pex5vsknk084sn02q';
const WHO = { groupRef: 'rival', consumerRef: 'bob' };
const permissions = Object.keys(SESSION_PERMISSIONS);
const TEXTS = {
  provider: 'sandbox',
  objectName: 'contacts',
  specVersion: '1.0.0',
  url: 'https://hooks.example/x',
  domain: 'demo.example',
  email: 'someone@demo.example',
};
const OWN = { ...TEXTS, ...WHO };
const DEMOS = { ...TEXTS, groupRef: 'acme', consumerRef: 'ada' };
const NOBODYS = { ...TEXTS, groupRef: 'nobody', consumerRef: 'no-one' };

/** The names of the first ids that have the prefix; else of what does not exist. */
function namesOf(project: string, texts: Foreign['texts'], ...ids: readonly string[][]): Foreign {
  const all = ids.flat();
  const idOf = (prefix: string) =>
    all.find((id) => id.startsWith(`${prefix}_`)) ?? `${prefix}_${MISSING}`;
  return { project, texts, idOf };
}

export async function endUserCallers(app: TestApp) {
  const demo = await demoTenant(app);
  await jwtIssuer(demo);
  const shown = await shownToAll(demo);
  const insider = await endUser(app, demo, { ...WHO, permissions });
  const mine = await idsOfInsider(app, insider);
  const other = await app.tenant('b');
  const outsider = await endUser(app, other, { ...WHO, permissions });
  const limited = await endUser(app, demo, { ...WHO, permissions, integrations: [] });
  const all = await storedIds(app);
  const without = (...seen: string[][]) => all.filter((id) => !seen.flat().includes(id)).reverse();
  const { projectId } = demo;
  const ends = [projectId, demo.orgId, ...mine.ends];
  const seen = [...shown, ...ends, ...mine.used];
  const theirs = [other.projectId, other.orgId, ...(await endsOf(outsider))];
  const pairs = (project: string, known: string[], hidden: string[], missing = project) => ({
    foreign: namesOf(project, DEMOS, known, hidden),
    nothing: namesOf(missing, NOBODYS, known),
  });
  const callers: EndUserCaller[] = [
    {
      name: 'of another group',
      user: insider,
      own: namesOf(projectId, OWN, seen),
      pairs: [pairs(projectId, shown, without(seen))],
      hidden: without(seen),
    },
    {
      name: 'without integrations',
      user: limited,
      own: namesOf(projectId, OWN, ends),
      pairs: [pairs(projectId, [], without(ends))],
      hidden: without(ends),
    },
    {
      name: 'of another project',
      user: outsider,
      own: namesOf(other.projectId, OWN, theirs),
      pairs: [
        pairs(projectId, [], without(theirs), `prj_${MISSING}`),
        pairs('demo', [], without(theirs), 'no-project'),
        pairs(other.projectId, [], without(theirs)),
      ],
      hidden: without(theirs),
    },
  ];
  return { callers, projectId };
}

/** A caller of every scope of the demo's project. */
export async function demoTenant(app: TestApp) {
  const { services, verifier } = app.app;
  await fillDemo({ services, verifier, url: 'http://gateway.test' });
  const file = readFileSync(`${services.config.DATA_DIR}/demo.json`, 'utf8');
  const headers = { 'x-api-key': JSON.parse(file).apiKey as string };
  const client = app.client(headers);
  const { viewer } = await client.query('{ viewer { project { id orgId } } }');
  return {
    ...client,
    headers,
    projectId: viewer.project.id as string,
    orgId: viewer.project.orgId as string,
  };
}

/** The integrations of the project, and their revisions. */
async function shownToAll({ query }: Pick<GraphqlClient, 'query'>): Promise<string[]> {
  const { viewer } = await query(
    '{ viewer { project { integrations { nodes { id revisions { nodes { id } } } } } } }',
  );
  interface Shown {
    id: string;
    revisions: { nodes: { id: string }[] };
  }
  return viewer.project.integrations.nodes.flatMap(({ id, revisions }: Shown) => [
    id,
    ...revisions.nodes.map((revision) => revision.id),
  ]);
}

async function endsOf(user: EndUser): Promise<string[]> {
  const { viewer } = await user.query('{ viewer { group { id } consumer { id } } }');
  return [viewer.group.id, viewer.consumer.id];
}

/** A connection, an installation and an operation of its own. */
async function idsOfInsider(app: TestApp, insider: EndUser) {
  const { projectId } = insider;
  const connection = await generate(insider as Pick<Tenant, 'projectId' | 'query'>, {
    ...WHO,
    apiKey: 'sandbox-key',
  });
  const input = { projectIdOrName: projectId, integrationIdOrName: 'crm-sync' };
  const made = await insider.query(CREATE_INSTALLATION, {
    input: { ...input, groupRef: WHO.groupRef, skipSampling: true },
  });
  const { id: installationId, integration, config } = made.createInstallation.installation;
  const { id: operationId } = await insertRows(app).operation({
    projectId,
    installationId,
    groupId: connection.group.id,
    integrationId: integration.id,
    configId: config.id,
  });
  return {
    ends: [...(await endsOf(insider)), connection.id],
    used: [installationId, config.id, operationId],
  };
}
