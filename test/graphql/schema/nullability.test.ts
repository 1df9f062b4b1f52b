/**
 * A field that can fail on its own is nullable, and wrong arguments refuse the operation before it runs
 * (docs/api-policy.md).
 */
import {
  type GraphQLField,
  getNamedType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { expect, test, vi } from 'vitest';
import { findScope, type Need } from '../../../src/domain/access/viewer/needs.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { createInstallation, createIntegration } from '../../support/fixtures/integrations.ts';
import { createStream } from '../../support/fixtures/streams.ts';

const app = await getSharedApp();
const { sandbox } = app.app;
sandbox.seed('contacts', 3);

type Field = GraphQLField<unknown, unknown>;

/** Fields of Query, of objects and of interfaces, by name. A subscription has one root field, which nothing surrounds. */
const fields = Object.values(schema.getTypeMap())
  .filter((type) => isObjectType(type) || isInterfaceType(type))
  .filter(({ name }) => !name.startsWith('__') && name !== 'Subscription')
  .flatMap((type) =>
    Object.values(type.getFields()).map((field) => ({ type: type.name, field: field as Field })),
  );

/** True if the field calls a provider, or needs a scope that other fields of its type don't need. */
function canFailAlone({ type, field: { extensions } }: (typeof fields)[number]): boolean {
  const scope = findScope((extensions.needs as Need | undefined) ?? 'nothing');
  const ordinaryScope = type === 'Org' ? 'org:read' : 'read';
  return Boolean(extensions.providerCalls) || (scope !== null && scope !== ordinaryScope);
}

test('makes exactly those lists nullable that call a provider or need a scope of their own', () => {
  const isList = ({ type }: Field) =>
    isListType(isNonNullType(type) ? type.ofType : type) ||
    getNamedType(type).name.endsWith('Connection');
  const lists = fields.filter(
    ({ type, field }) => type !== 'Mutation' && isList(field) && field.extensions.needs,
  );
  expect(lists.length).toBeGreaterThan(50);
  const name = ({ type, field }: (typeof fields)[number]) => `${type}.${field.name}`;
  expect(lists.filter(({ field }) => !isNonNullType(field.type)).map(name)).toEqual(
    lists.filter(canFailAlone).map(name),
  );
});

test('makes every field nullable that calls a provider or needs a scope of its own', () => {
  const alone = fields.filter(canFailAlone);
  expect(alone.length).toBeGreaterThan(50);
  const nonNull = alone.filter(({ field }) => isNonNullType(field.type));
  expect(nonNull.map(({ type, field }) => `${type}.${field.name}`)).toEqual([]);
});

const LIST_ALL_RECORDS = `query ListAllRecords($project: String!) {
  project(idOrName: $project) {
    installations { nodes { group { groupRef } records(objectName: "contacts", first: 1) { nodes { id } } } }
  }
}`;

async function installForGroups(tenant: Tenant, keys: Record<string, string>): Promise<void> {
  await createIntegration(app, tenant);
  for (const [groupRef, apiKey] of Object.entries(keys)) {
    await generateConnection(tenant, { apiKey, groupRef, skipCheck: true });
    await createInstallation(tenant, { groupRef });
  }
}

test("returns the records of the other customers when one customer's key is rejected", async () => {
  const tenant = await app.createTenant();
  await installForGroups(tenant, { a: 'sandbox-key-a', b: 'rejected-key', c: 'sandbox-key-c' });
  const { data, errors } = await tenant.request(LIST_ALL_RECORDS, { project: tenant.projectId });
  const rows: [string, number | undefined][] = data.project.installations.nodes.map(
    // biome-ignore lint/suspicious/noExplicitAny: the shape of the query
    ({ group, records }: any) => [group.groupRef, records?.nodes.length],
  );
  expect(rows.toSorted()).toEqual([
    ['a', 1],
    ['b', undefined],
    ['c', 1],
  ]);
  expect(errors).toMatchObject([{ path: ['project', 'installations', 'nodes', 1, 'records'] }]);
});

test('makes only the metadata null when the provider fails', async () => {
  const tenant = await app.createTenant();
  await installForGroups(tenant, { a: 'sandbox-key-a' });
  sandbox.faults.set({ pathPrefix: '/objects', status: 500, times: 1_000 });
  const query = `query DescribeContacts($project: String!) {
    root: objectMetadata(projectIdOrName: $project, provider: "sandbox", groupRef: "a", objectName: "contacts") { name }
    project(idOrName: $project) {
      installations { nodes { objectMetadata(objectName: "contacts") { name } connection { objects { name } } } }
    }
  }`;
  const { data, errors } = await tenant.request(query, { project: tenant.projectId });
  sandbox.faults.clear();
  expect(data).toMatchObject({ root: null, project: { installations: { nodes: [{}] } } });
  expect(data.project.installations.nodes[0].objectMetadata).toBeNull();
  expect(errors?.length).toBeGreaterThanOrEqual(2);
});

test('makes only the fields null whose scope a key with `read` lacks', async () => {
  const tenant = await app.createTenant();
  await installForGroups(tenant, { a: 'sandbox-key-a' });
  await createStream(app.app.services.database, { ...tenant, name: 'stream' });
  const reader = await tenant.withScopes('read');
  const query = `query ReadAlone($project: String!) {
    project(idOrName: $project) {
      retryableDeliveryCount(statuses: [FAILED])
      destinations { nodes { name messages { nodes { body } } } }
      connections { nodes { status requests { nodes { createTime } } } }
      operations { nodes { requests { nodes { createTime } } } }
    }
    orgs { nodes { id } }
  }`;
  const { data, errors } = await reader.request(query, { project: tenant.projectId });
  expect(data.orgs).toBeNull();
  expect(data.project).toMatchObject({
    retryableDeliveryCount: null,
    connections: { nodes: [{ status: expect.any(String), requests: null }] },
  });
  for (const node of data.project.destinations.nodes) expect(node.messages).toBeNull();
  expect(new Set(errors?.map(({ extensions }) => extensions.code))).toEqual(new Set(['FORBIDDEN']));
});

test('returns an error in place of a node whose scope the key lacks', async () => {
  const tenant = await app.createTenant();
  const reader = await tenant.withScopes('read');
  const query = 'query GetNodes($ids: [ID!]!) { nodes(ids: $ids) { id } }';
  const ids = [tenant.orgId, tenant.projectId];
  // The query is compiled when it runs for the third time.
  for (let run = 1; run <= 4; run += 1) {
    const { data, errors } = await reader.request(query, { ids });
    expect(data).toEqual({ nodes: [null, { id: tenant.projectId }] });
    expect(errors).toMatchObject([{ path: ['nodes', 0], extensions: { code: 'FORBIDDEN' } }]);
  }
});

test('refuses wrong arguments of every field before it runs one', async () => {
  const tenant = await app.createTenant();
  await installForGroups(tenant, { a: 'sandbox-key-a' });
  const query = `query WrongArguments($project: String!, $first: Int!) {
    project(idOrName: $project) {
      topics(first: 0) { nodes { id } }
      groups(first: $first, last: 5000) { nodes { id } }
      connection(id: "x", provider: "sandbox") { id }
      installations { nodes { records(objectName: "contacts", first: 0) { nodes { id } } ...more } }
    }
    nodes(ids: [${'"x",'.repeat(101)}]) { id }
  }
  fragment more on Installation { other: records(objectName: "contacts", first: 1) { nodes { id } } }`;
  const takeFault = vi.spyOn(sandbox.faults, 'take');
  const { data, errors = [] } = await tenant.request(query, {
    project: tenant.projectId,
    first: -1,
  });
  expect(takeFault).not.toHaveBeenCalled();
  takeFault.mockRestore();
  expect(data).toBeUndefined();
  const issues = errors.map(({ extensions }) => [
    extensions.code,
    extensions.problem.issues?.map(({ name }) => name),
  ]);
  expect(issues).toEqual([
    ['BAD_USER_INPUT', ['first']],
    ['BAD_USER_INPUT', ['first', 'last', 'last']],
    ['BAD_USER_INPUT', ['id']],
    ['BAD_USER_INPUT', ['first']],
    ['BAD_USER_INPUT', ['ids']],
  ]);
  expect(errors.every(({ path }) => path === undefined)).toBe(true);
});

test('ignores wrong arguments of skipped fields', async () => {
  const tenant = await app.createTenant();
  const query = `query SkippedArguments($project: String!, $isShown: Boolean!) {
    project(idOrName: $project) { name topics(first: 0) @include(if: $isShown) { totalCount } }
  }`;
  const variables = { project: tenant.projectId, isShown: false };
  expect(await tenant.query(query, variables)).toEqual({ project: { name: tenant.projectName } });
});

test('runs no field of a mutation with a wrong input', async () => {
  const tenant = await app.createTenant();
  const query = `mutation CreateTopics($project: String!) {
    valid: createTopic(input: { projectIdOrName: $project, name: "events" }) { topic { id } }
    wrong: createTopic(input: { projectIdOrName: $project, name: "" }) { topic { id } }
  }`;
  const { data, errors } = await tenant.request(query, { project: tenant.projectId });
  expect(data).toBeUndefined();
  expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  const { project } = await tenant.query('{ project { topics { totalCount } } }');
  expect(project.topics.totalCount).toBe(0);
});

test('refuses a query with a cursor of another list', async () => {
  const tenant = await app.createTenant();
  await tenant.query(
    'mutation CreateTopic { createTopic(input: { name: "events" }) { topic { id } } }',
  );
  const { project } = await tenant.query('{ project { topics { pageInfo { endCursor } } } }');
  const query = `query WrongCursor($after: String) {
    viewer { kind }
    project { groups(after: $after) { nodes { id } } }
  }`;
  const after = project.topics.pageInfo.endCursor;
  const { data, errors } = await tenant.request(query, { after });
  expect(data).toBeUndefined();
  expect(errors).toMatchObject([
    { extensions: { code: 'BAD_USER_INPUT', problem: { issues: [{ name: 'after' }] } } },
  ]);
});
