/** Problems name members and values as the callers of each surface write them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GraphQLObjectType, GraphQLResolveInfo } from 'graphql';
import { expect, test } from 'vitest';
import { createCall } from '../../src/domain/access/call.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { DomainError } from '../../src/kernel/errors.ts';
import { getSharedApp } from '../support/app.ts';
import { createRestClient, createRestTenant } from '../support/rest/rest-client.ts';

const app = await getSharedApp();

const mutate = (name: string) => {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
  return `mutation RunMutation($input: ${type}!) { ${name}(input: $input) { __typename } }`;
};

test('spells a rule between members for GraphQL and for REST', async () => {
  const rest = await createRestTenant(app);
  const read = {
    projectIdOrName: rest.tenant.projectId,
    integrationIdOrName: 'crm',
    objectName: 'contacts',
    groupRef: 'acme',
  };
  const graphql = await rest.tenant.expectRefusal(mutate('triggerRead'), {
    input: { ...read, sinceTime: '2026-02-01T00:00:00Z', untilTime: '2026-01-01T00:00:00Z' },
  });
  expect(graphql.problem.detail).toBe(
    'Invalid input. `input.untilTime` must be after input.sinceTime.',
  );
  const refusal = await rest.expectRefusal(
    'POST',
    `${rest.base}/integrations/crm/objects/contacts:read`,
    {
      groupRef: 'acme',
      mode: 'async',
      sinceTimestamp: '2026-02-01T00:00:00Z',
      untilTimestamp: '2026-01-01T00:00:00Z',
    },
  );
  expect(refusal.detail).toBe('Invalid input. `untilTimestamp` must be after sinceTimestamp.');
});

test('names members of a nested rule with their whole paths on each surface', async () => {
  const rest = await createRestTenant(app);
  const target = { integrationIdOrName: 'crm', groupRef: 'acme' };
  const backfill = { days: 1, fullHistory: true };
  const graphql = await rest.tenant.expectRefusal(mutate('createInstallation'), {
    input: {
      projectIdOrName: rest.tenant.projectId,
      ...target,
      config: { provider: 'sandbox', read: [{ objectName: 'contacts', backfill }] },
    },
  });
  const period = 'input.config.read[0].backfill';
  expect(graphql.problem.issues).toMatchObject([
    {
      name: period,
      detail: `must have exactly one of ${period}.days and ${period}.fullHistory.`,
      parts: expect.arrayContaining([{ member: `${period}.days` }]),
    },
  ]);
  const read = { objects: { contacts: { backfill: { defaultPeriod: backfill } } } };
  const refusal = await rest.expectRefusal('POST', `${rest.base}/integrations/crm/installations`, {
    groupRef: 'acme',
    config: { content: { provider: 'sandbox', read } },
  });
  const wirePeriod = 'config.content.read.objects.contacts.backfill.defaultPeriod';
  expect(refusal.issues).toMatchObject([
    {
      name: wirePeriod,
      detail: `must have exactly one of ${wirePeriod}.days and ${wirePeriod}.fullHistory.`,
      parts: expect.arrayContaining([{ member: `${wirePeriod}.days` }]),
    },
  ]);
});

test('names the members of an exclusive pair on each surface', async () => {
  const rest = await createRestTenant(app);
  const { builder } = rest.tenant;
  const { problem } = await builder.expectRefusal(mutate('acceptInvite'), { input: {} });
  expect(problem.issues).toMatchObject([
    { detail: 'must have exactly one of input.inviteId and input.invitedEmail.' },
  ]);
  const client = createRestClient(app, { authorization: `Bearer ${rest.tenant.token}` });
  const refusal = await client.expectRefusal('POST', '/invites:accept', {});
  expect(refusal.issues).toMatchObject([
    { detail: 'must have exactly one of inviteId and invitedEmail.' },
  ]);
});

test('names a member of another input as the surface writes it', async () => {
  const rest = await createRestTenant(app);
  const webhook = { url: 'https://a.example', headers: { 'x-key': '***' } };
  const destination = { name: 'masked', type: 'WEBHOOK', ...webhook };
  const graphql = await rest.tenant.expectRefusal(mutate('createDestination'), {
    input: { projectIdOrName: rest.tenant.projectId, ...destination },
  });
  expect(graphql.problem.detail).toContain('list the header in keepHeaders of an update.');
  const body = { name: 'masked', type: 'webhook', metadata: webhook };
  const refusal = await rest.expectRefusal('POST', `${rest.base}/destinations`, body);
  expect(refusal.detail).toContain(
    'list the header in destination.metadata.keepHeaders of an update.',
  );
});

test('names members of a @oneOf group in a detail and in a path', async () => {
  const tenant = await app.createTenant();
  const input = {
    projectIdOrName: tenant.projectId,
    provider: 'sandbox',
    groupRef: 'acme',
    consumerRef: 'ann',
    credentials: { apiKey: '' },
  };
  const { problem } = await tenant.expectRefusal(mutate('generateConnection'), { input });
  expect(problem.issues).toMatchObject([
    { name: 'input.credentials.apiKey', detail: 'must not be empty.' },
  ]);
});

test('names the missing, unknown or null member of a variable, and of a literal', async () => {
  const tenant = await app.createTenant();
  const { errors } = await tenant.request(mutate('createDestination'), {
    input: { projectIdOrName: null, nme: 'a', type: 'NONE', url: 5 },
  });
  const issues = errors?.flatMap(({ extensions }) => extensions.problem.issues ?? []);
  expect(issues?.map(({ name, detail }) => `${name}: ${detail}`)).toEqual([
    'input.name: is required.',
    'input.type: must be one of STREAM, WEBHOOK.',
    'input.url: must be a string.',
    'input.nme: is not a member of CreateDestinationInput. Did you mean name?',
  ]);
  const literal = await tenant.request(
    'mutation CreateTopic { createTopic(input: { name: ["planted"] }) { topic { id } } }',
  );
  expect(literal.errors?.map(({ extensions }) => extensions.problem.issues)).toMatchObject([
    [{ in: 'body', name: 'input.name' }],
  ]);
});

test('reports an unknown provider once', async () => {
  const tenant = await app.createTenant();
  const { projectId: projectIdOrName } = tenant;
  const content = { name: 'crm', provider: 'sandbox', proxy: { enabled: true } };
  const integration = await tenant.expectRefusal(mutate('createIntegration'), {
    input: {
      projectIdOrName,
      name: 'crm',
      provider: 'nope',
      latestRevision: { specVersion: '1.0.0', content },
    },
  });
  expect(integration.problem.issues).toMatchObject([{ name: 'input.provider' }]);
  const { createProviderApp } = await tenant.query(
    `mutation CreateProviderApp($input: CreateProviderAppInput!) {
      createProviderApp(input: $input) { providerApp { id } }
    }`,
    { input: { projectIdOrName, provider: 'sandbox', clientId: 'a', clientSecret: 'b' } },
  );
  const connection = await tenant.expectRefusal(mutate('generateConnection'), {
    input: {
      ...{ projectIdOrName, provider: 'nope', groupRef: 'acme', consumerRef: 'ann' },
      providerAppId: createProviderApp.providerApp.id,
    },
  });
  expect(connection.problem.issues).toMatchObject([{ name: 'input.provider' }]);
});

test('repeats the value that the caller of REST has sent', async () => {
  const rest = await createRestTenant(app);
  const project = { name: 'a', appName: 'b' };
  const mask = await rest.expectRefusal('PATCH', rest.base, { updateMask: [7], project });
  expect(mask.issues).toMatchObject([{ name: 'updateMask[0]', value: 7 }]);
  const metadata = await rest.expectRefusal(
    'PUT',
    `${rest.base}/integrations/crm/object-metadata`,
    { groupRef: 'acme', fields: {} },
  );
  expect(metadata.issues).toMatchObject([{ name: 'fields', value: {} }]);
  const list = await rest.expectRefusal('GET', `${rest.base}/connections?createTimeFrom=now`);
  expect(list.issues).toMatchObject([{ name: 'createTimeFrom', value: 'now' }]);
});

test('suggests the nearest name of an unknown member, and says which specVersion is required', async () => {
  const rest = await createRestTenant(app);
  const topic = await rest.expectRefusal('POST', `${rest.base}/topics`, { nane: 'a' });
  expect(topic.issues).toMatchObject([
    { name: 'nane', detail: 'is not a field of this request. Did you mean name?' },
    { name: 'name', detail: 'is required.' },
  ]);
  const batch = await rest.expectRefusal('PUT', `${rest.base}/integrations:batch`, {
    integrations: [],
  });
  expect(batch.issues).toContainEqual(
    expect.objectContaining({ name: 'specVersion', detail: 'must be 1.0.0.' }),
  );
});

test('repeats no secret, whatever its form on a surface', async () => {
  const rest = await createRestTenant(app);
  const refusal = await rest.expectRefusal('POST', `${rest.base}/connections:generate`, {
    provider: 'sandbox',
    groupRef: 'acme',
    consumerRef: 'ann',
    oauth2AuthorizationCode: 'planted',
  });
  expect(refusal.issues).toContainEqual(
    expect.objectContaining({ name: 'oauth2AuthorizationCode', detail: 'must be an object.' }),
  );
  expect(JSON.stringify(refusal)).not.toContain('planted');
});

/** Calls the resolver of a mutation, as the execution does after the checks of the pipeline. */
async function resolve(name: string, args: object, scope: 'read' | 'full'): Promise<unknown> {
  const { services } = app.app;
  const viewer = {
    kind: 'API_KEY',
    projectId: 'prj_1',
    orgId: 'org_1',
    keyId: 'key_1',
    scopes: [scope],
  } as never;
  const call = createCall(services, viewer, { slot: undefined, gatewayUrl: undefined } as never);
  const field = (schema.getMutationType() as GraphQLObjectType).getFields()[name];
  const info = { fieldNodes: [{}] } as unknown as GraphQLResolveInfo;
  return field?.resolve?.(null, args, { viewer, call }, info);
}

test('refuses the input of a mutation by its schema, after the check of the scope', async () => {
  const args = {
    input: { projectIdOrName: '', name: 'no name', type: 'WEBHOOK', url: 'https://a.example' },
  };
  const error = await resolve('createDestination', args, 'full').catch((reason) => reason);
  expect(error).toBeInstanceOf(DomainError);
  expect((error as DomainError).shownIssues).toMatchObject([
    { name: 'input.projectIdOrName' },
    { name: 'input.name' },
  ]);
  await expect(resolve('createDestination', args, 'read')).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('no path of the domain begins with the name of a GraphQL argument', () => {
  const root = join(import.meta.dirname, '../../src/domain');
  const files = globSync('**/*.ts', { cwd: root }).filter((file) =>
    /\[\s*'input',|['"`]input\.\w/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(files).toEqual([]);
});
