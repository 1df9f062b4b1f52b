/** Inputs are validated completely, after the caller is authorized and before the mutation runs. */
import { expect, onTestFinished, test } from 'vitest';
import type { z } from 'zod';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { createRestTenant } from '../../support/rest/rest-client.ts';
import { openSocket } from '../../support/socket.ts';

const app = await getSharedApp();
const { url } = await app.app.start();

const createDocument = (name: string, result: string) =>
  `mutation RunMutation($input: ${name.charAt(0).toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${result} } }`;
const CREATE_TOPIC = createDocument('createTopic', 'topic { id }');
const CREATE_DESTINATION = createDocument('createDestination', 'destination { id }');
const TRIGGER_READ = createDocument('triggerRead', 'operation { id }');
const CREATE_PROVIDER_APP = createDocument('createProviderApp', 'providerApp { id }');
const UPDATE_PROVIDER_APP = createDocument('updateProviderApp', 'providerApp { clientId scopes }');

interface Operation {
  query: string;
  variables: Record<string, unknown>;
}
type Errors = { extensions: { code: string; problem: { issues: { name: string }[] } } }[];
type Send = (operation: Operation, headers: Record<string, string>) => Promise<Errors>;

const JSON_HEADERS = { 'content-type': 'application/json' };

const TRANSPORTS: Record<string, Send> = {
  async 'a plain JSON post'(operation, headers) {
    const body = JSON.stringify(operation);
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { ...JSON_HEADERS, ...headers },
      body,
    });
    return (await response.json()).errors;
  },
  async "Yoga's own handler, which takes bodies of unknown length"(operation, headers) {
    const body = new Blob([JSON.stringify(operation)]).stream();
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { ...JSON_HEADERS, ...headers },
      body,
      duplex: 'half',
    } as RequestInit);
    return (await response.json()).errors;
  },
  async 'server-sent events'(operation, headers) {
    const stream = await openEventStream((path, init) => fetch(`${url}${path}`, init), {
      ...operation,
      headers,
    });
    const message = await stream.next();
    stream.close();
    return message?.data.errors;
  },
  async 'a WebSocket'(operation, headers) {
    const socket = await openSocket(url);
    socket.send({ type: 'connection_init', payload: headers });
    await socket.next();
    socket.send({ type: 'subscribe', id: '1', payload: operation });
    const { payload } = await socket.next();
    socket.socket.terminate();
    return payload.errors;
  },
};

/** Returns a function that counts the validations of the mutation's input. */
function countValidations(name: string): () => number {
  const input = schema.getMutationType()?.getFields()[name]?.extensions.input as z.ZodObject;
  const { run } = input._zod;
  let count = 0;
  input._zod.run = (payload, context) => {
    count += 1;
    return run(payload, context);
  };
  onTestFinished(() => {
    input._zod.run = run;
  });
  return () => count;
}

test.each(Object.keys(TRANSPORTS))('refuses an invalid input over %s', async (name) => {
  const { projectId, apiKey } = await app.createTenant();
  const getValidationCount = countValidations('createDestination');
  const input = {
    projectIdOrName: projectId,
    name: 'no name',
    type: 'WEBHOOK',
    url: 'nowhere',
    headers: { host: 'x' },
  };
  const send = TRANSPORTS[name] as Send;
  const errors = await send(
    { query: CREATE_DESTINATION, variables: { input } },
    { 'x-api-key': apiKey },
  );
  // A refused input is validated up to its first problem, and then once more to list all problems.
  expect(getValidationCount()).toBe(2);
  expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  expect(errors[0]?.extensions.problem.issues.map((issue) => issue.name)).toEqual([
    'input.name',
    'input.headers.host',
    'input.url',
  ]);
});

test('returns FORBIDDEN without issues to a caller without the scope', async () => {
  const tenant = await app.createTenant();
  const { projectId: projectIdOrName } = tenant;
  const getValidationCount = countValidations('createTopic');
  const reader = await tenant.withScopes('read');
  const { code, problem } = await reader.expectRefusal(CREATE_TOPIC, {
    input: { projectIdOrName, name: '' },
  });
  expect({ code, issues: problem.issues }).toEqual({ code: 'FORBIDDEN', issues: undefined });
  expect(getValidationCount()).toBe(0);
  const list = `query ListTopics($project: String!) {
    project(idOrName: $project) { topics(first: -1, last: 5000) { totalCount } }
  }`;
  const writer = await tenant.withScopes('reads:control', 'events:write');
  expect((await writer.expectRefusal(list, { project: projectIdOrName })).code).toBe('FORBIDDEN');
  const listRefusal = await reader.expectRefusal(list, { project: projectIdOrName });
  expect(listRefusal.problem.issues?.map(({ name }) => name)).toEqual(['first', 'last', 'last']);
});

test('returns 403 without issues to a REST caller without the scope', async () => {
  const { base, withScopes, expectRefusal } = await createRestTenant(app);
  const reader = await withScopes('read');
  const refusal = await reader.expectRefusal('POST', `${base}/topics`, { name: '', more: 1 });
  expect({ status: refusal.status, issues: refusal.issues }).toEqual({
    status: 403,
    issues: undefined,
  });
  const { issues } = await expectRefusal('POST', `${base}/topics`, { name: '', more: 1 });
  expect(issues?.map(({ name }) => name)).toEqual(['more', 'name']);
});

const listIssueNames = async (tenant: Tenant, query: string, input: object) =>
  (await tenant.expectRefusal(query, { input })).problem.issues?.map(({ name }) => name);

test('returns issues that need the database together, and only for a valid input', async () => {
  const tenant = await app.createTenant();
  const { projectId: projectIdOrName } = tenant;
  const content = {
    name: 'crm',
    provider: 'sandbox',
    write: { objects: [{ objectName: 'contacts' }] },
  };
  const create = createDocument('createIntegration', 'integration { id }');
  const latestRevision = { specVersion: '1.0.0', content };
  await tenant.query(create, {
    input: { projectIdOrName, name: 'crm', provider: 'sandbox', latestRevision },
  });
  const input = {
    projectIdOrName,
    integrationIdOrName: 'crm',
    groupRef: 'unknown',
    objectName: 'nothing',
    sinceTime: '2026-01-02T00:00:00Z',
    untilTime: '2026-01-01T00:00:00Z',
  };
  expect(await listIssueNames(tenant, TRIGGER_READ, { ...input, groupRef: '' })).toEqual([
    'input.groupRef',
    'input.untilTime',
  ]);
  const { untilTime: _, ...valid } = input;
  expect(await listIssueNames(tenant, TRIGGER_READ, valid)).toEqual([
    'input.groupRef',
    'input.objectName',
  ]);
});

test('ignores fields outside an update mask', async () => {
  const tenant = await app.createTenant();
  const { projectId: projectIdOrName } = tenant;
  const input = { projectIdOrName, provider: 'hubspot', clientId: 'c', clientSecret: 's' };
  const { providerApp } = (await tenant.query(CREATE_PROVIDER_APP, { input })).createProviderApp;
  const wrong = { clientId: 'other', clientSecret: '', provider: '', scopes: ['', 'line\nbreak'] };
  const createUpdate = (...updateMask: string[]) => ({
    projectIdOrName,
    providerAppId: providerApp.id,
    updateMask,
    providerApp: wrong,
  });
  const changed = await tenant.query(UPDATE_PROVIDER_APP, { input: createUpdate('CLIENT_ID') });
  expect(changed.updateProviderApp.providerApp).toEqual({ clientId: 'other', scopes: [] });
  expect(
    await listIssueNames(
      tenant,
      UPDATE_PROVIDER_APP,
      createUpdate('CLIENT_SECRET', 'SCOPES', 'METADATA'),
    ),
  ).toEqual([
    'input.providerApp.clientSecret',
    'input.providerApp.scopes[0]',
    'input.providerApp.scopes[1]',
    'input.providerApp.metadata',
  ]);
});

test('ignores fields outside an update mask of REST', async () => {
  const { base, post, request } = await createRestTenant(app);
  const { id } = await post(`${base}/destinations`, {
    name: 'hooks',
    type: 'webhook',
    metadata: { url: 'https://hooks.example.com/' },
  });
  const destination = { name: 'renamed', status: 'nothing', metadata: { url: 5 } };
  const path = `${base}/destinations/${id}`;
  const renameResponse = await request('PATCH', path, { updateMask: ['name'], destination });
  expect(renameResponse).toMatchObject({ status: 200, body: { name: 'renamed' } });
  const refusal = await request('PATCH', path, {
    updateMask: ['status', 'metadata.url'],
    destination,
  });
  expect(refusal.body.issues.map(({ name }: { name: string }) => name)).toEqual([
    'destination.status',
    'destination.metadata.url',
  ]);
});

test('validates a valid input once', async () => {
  const tenant = await app.createTenant();
  const getValidationCount = countValidations('createTopic');
  const input = { projectIdOrName: tenant.projectId, name: 'orders' };
  expect((await tenant.request(CREATE_TOPIC, { input })).errors).toBeUndefined();
  expect(getValidationCount()).toBe(1);
});
