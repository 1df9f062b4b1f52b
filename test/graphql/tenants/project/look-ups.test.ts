/** The default project of a call, and lookups of single objects by ids and names. */
import { beforeAll, expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { createEndUser } from '../../../support/fixtures/end-users.ts';
import { connectAndInstall, createIntegration } from '../../../support/fixtures/integrations.ts';

const app = await getSharedApp();

const CREATE_TOPIC = `mutation CreateTopic($input: CreateTopicInput!) {
  createTopic(input: $input) { topic { id project { id } } }
}`;
const DELETE_TOPIC = `mutation DeleteTopic($input: DeleteTopicInput!) {
  deleteTopic(input: $input) { deletedId }
}`;
const CREATE_PROJECT = `mutation CreateProject($input: CreateProjectInput!) {
  createProject(input: $input) { project { id } }
}`;
const CREATE_APP = `mutation CreateProviderApp($input: CreateProviderAppInput!) {
  createProviderApp(input: $input) { providerApp { id redirectUrl } }
}`;

test("uses the API key's project if none is named", async () => {
  const tenant = await app.createTenant();
  const { topic } = (await tenant.query(CREATE_TOPIC, { input: { name: 'own' } })).createTopic;
  expect(topic.project).toEqual({ id: tenant.projectId });
  expect(await tenant.query('{ project { id } }')).toEqual({ project: { id: tenant.projectId } });
});

test('requires a builder with several projects to name one, unless an id implies it', async () => {
  const tenant = await app.createTenant();
  const { builder, orgId } = tenant;
  const { topic } = (await builder.query(CREATE_TOPIC, { input: { name: 'own' } })).createTopic;
  expect(topic.project).toEqual({ id: tenant.projectId });

  const input = { orgId, name: `second-${crypto.randomUUID().slice(0, 8)}`, appName: 'Second' };
  await builder.query(CREATE_PROJECT, { input });
  expect(await builder.expectRefusal(CREATE_TOPIC, { input: { name: 'other' } })).toMatchObject({
    code: 'BAD_USER_INPUT',
    problem: {
      issues: [
        {
          name: 'input.projectIdOrName',
          detail: 'is required, because you have several projects.',
        },
      ],
    },
  });
  expect(await builder.expectRefusal('{ project { id } }')).toMatchObject({
    problem: { issues: [{ name: 'idOrName' }] },
  });

  const otherTenant = await app.createTenant('b');
  const deletion = { input: { topicId: topic.id } };
  for (const caller of [otherTenant, otherTenant.builder]) {
    expect(await caller.expectRefusal(DELETE_TOPIC, deletion)).toMatchObject({ code: 'NOT_FOUND' });
  }
  expect(await builder.query(DELETE_TOPIC, deletion)).toEqual({
    deleteTopic: { deletedId: topic.id },
  });
});

test('requires the project in deleteProject', async () => {
  const { builder, projectName } = await app.createTenant();
  const query = `mutation DeleteProject { deleteProject(input: { confirmName: "${projectName}" }) { deletedId } }`;
  expect(await builder.expectRefusal(query)).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
});

let tenant: Tenant;
/** Queries of each lookup, with the id that each must return. */
let lookUps: [field: string, id: string][];

beforeAll(async () => {
  tenant = await app.createTenant();
  const { topic } = (await tenant.query(CREATE_TOPIC, { input: { name: 'all' } })).createTopic;
  const integration = await createIntegration(app, tenant);
  const { id: installationId, connection } = await connectAndInstall(tenant, integration);
  const appInput = { provider: 'hubspot', clientId: 'a', clientSecret: 'a', scopes: ['oauth'] };
  await tenant.query(CREATE_APP, { input: appInput });
  const { providerApp } = (await tenant.query(CREATE_APP, { input: appInput })).createProviderApp;
  const { project } = await tenant.query(
    '{ project { destinations { nodes { id } } consumers { nodes { id } } } }',
  );
  const [destination] = project.destinations.nodes;
  const [consumer] = project.consumers.nodes;
  lookUps = [
    [`topic(idOrName: "${topic.id}")`, topic.id],
    ['topic(idOrName: "all")', topic.id],
    [`destination(idOrName: "${destination.id}")`, destination.id],
    ['destination(idOrName: "records")', destination.id],
    [`group(idOrRef: "${connection.group.id}")`, connection.group.id],
    ['group(idOrRef: "acme")', connection.group.id],
    [`consumer(idOrRef: "${consumer.id}")`, consumer.id],
    ['consumer(idOrRef: "ann")', consumer.id],
    [`connection(id: "${connection.id}")`, connection.id],
    ['connection(provider: "sandbox", groupRef: "acme")', connection.id],
    ['connection(provider: "sandbox", groupRef: "acme", consumerRef: "ann")', connection.id],
    [`installation(id: "${installationId}")`, installationId],
    ['installation(integrationIdOrName: "crm", groupRef: "acme")', installationId],
    [`providerApp(id: "${providerApp.id}")`, providerApp.id],
    ['providerApp(provider: "hubspot")', providerApp.id],
  ];
});

test('returns the object of the project by each lookup, and null to another project', async () => {
  const otherTenant = await app.createTenant('other');
  for (const [field, id] of lookUps) {
    const name = field.replace(/\(.*/, '');
    const query = `{ project { ${field} { id } } }`;
    expect([field, await tenant.query(query)]).toEqual([field, { project: { [name]: { id } } }]);
    expect([field, await otherTenant.query(query)]).toEqual([field, { project: { [name]: null } }]);
  }
});

test("returns an end user's own objects by each lookup", async () => {
  const ann = await createEndUser(app, tenant);
  const bob = await createEndUser(app, tenant, { groupRef: 'rival', consumerRef: 'bob' });
  for (const [field, id] of lookUps) {
    const name = field.replace(/\(.*/, '');
    const query = `{ project { ${field} { id } } }`;
    if (['topic', 'destination', 'providerApp'].includes(name)) {
      expect(await ann.expectRefusal(query)).toMatchObject({ code: 'FORBIDDEN' });
      continue;
    }
    expect([field, await ann.query(query)]).toEqual([field, { project: { [name]: { id } } }]);
    expect([field, await bob.query(query)]).toEqual([field, { project: { [name]: null } }]);
  }
});

test.each([
  'connection',
  'connection(groupRef: "acme")',
  'connection(id: "con_x", provider: "sandbox", groupRef: "acme")',
  'installation(integrationIdOrName: "crm")',
  'providerApp(id: "app_x", provider: "hubspot")',
])('refuses a lookup without exactly one key: %s', async (field) => {
  expect(await tenant.expectRefusal(`{ project { ${field} { id } } }`)).toMatchObject({
    code: 'BAD_USER_INPUT',
    problem: { issues: [{ name: 'id', detail: expect.stringContaining('not both') }] },
  });
});

test('returns the redirect URL of a provider app', async () => {
  const { providerApp } = (
    await tenant.query('{ project { providerApp(provider: "hubspot") { redirectUrl } } }')
  ).project;
  expect(providerApp.redirectUrl).toMatch(/^http.*\/oauth\/callback$/);
});

interface ObjectSupport {
  name: string;
  displayName: string;
  supports: string[];
}

test("returns the supported operations of a provider's objects", async () => {
  const { providers } = await tenant.query(
    '{ providers { nodes { name supports objects { name displayName supports } } } }',
  );
  let narrowerCount = 0;
  for (const { supports, objects } of providers.nodes) {
    for (const object of objects as ObjectSupport[]) {
      expect(supports).toEqual(expect.arrayContaining(object.supports));
      if (object.supports.length < supports.length) narrowerCount += 1;
    }
  }
  expect(narrowerCount).toBeGreaterThan(10);
});
