/**
 * Tenant B calls every field and mutation of the schema with IDs and names of tenant A, which is the demo. The
 * responses contain nothing of A.
 *
 * @module-tag all/walk
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { fillDemo } from '../../src/demo/demo.ts';
import { NODES_MAX } from '../../src/domain/overview/node.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { getSharedApp, type Tenant } from '../support/app.ts';
import { createDocument, createProvider } from '../support/inputs/custom-providers.ts';
import {
  createForeignArgument,
  createForeignInput,
  createForeignValue,
  type Foreign,
} from '../support/tenancy/foreign-values.ts';
import {
  declareVariables,
  listArgumentSets,
  omitPageArguments,
  selectFields,
} from '../support/tenancy/selections.ts';
import { dumpProject, listStoredIds } from '../support/tenancy/stored-rows.ts';

const app = await getSharedApp({ env: { DEMO: 'true' } });
let tenantB: Tenant;
/** One hidden ID of A for each prefix. */
const idOfAByPrefix = new Map<string, string>();
const namesOfA: string[] = [];
/** Both tenants have a custom provider of the same name. Only this label is A's. */
const PROVIDER_OF_A = 'Provider of A';
const createLabeledDocument = (displayName: string) =>
  createDocument('https://api.acme.example', { displayName });

beforeAll(async () => {
  const { services, verifier } = app.app;
  await fillDemo({ services, verifier, url: 'http://gateway.test' });
  tenantB = await app.createTenant('b');
  const callerA = { projectId: 'demo', ...openTenantA() };
  await createProvider(callerA, createLabeledDocument(PROVIDER_OF_A));
  await createProvider(tenantB, createLabeledDocument('Provider of B'));
  const builder = await tenantB.builder.query('query Builder { viewer { builder { id } } }');
  const idsOfB = JSON.stringify([tenantB.orgId, tenantB.projectId, tenantB.apiKeyId, builder]);
  for (const [prefix, ids] of Map.groupBy(await listStoredIds(app), (id) => id.slice(0, 3))) {
    const readableIds = await listReadableIds(ids);
    const hiddenIds = ids.filter((id) => !idsOfB.includes(id) && !readableIds.has(id));
    const id = hiddenIds.at(-1);
    if (id !== undefined) idOfAByPrefix.set(prefix, id);
  }
  namesOfA.push('demo', 'acme', 'ada', 'crm-sync', 'connections', 'events', 'demo.example');
});

/** Returns a client with the API key of the demo. */
function openTenantA() {
  const demoFile = join(app.app.services.config.DATA_DIR, 'demo.json');
  const { apiKey } = JSON.parse(readFileSync(demoFile, 'utf8'));
  return app.createClient({ 'x-api-key': apiKey });
}

/** Returns the IDs whose node B may read. */
async function listReadableIds(ids: string[]): Promise<Set<string>> {
  const readableIds = new Set<string>();
  for (let start = 0; start < ids.length; start += NODES_MAX) {
    const chunk = ids.slice(start, start + NODES_MAX);
    const { data } = await tenantB.request(
      'query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id } }',
      { ids: chunk },
    );
    for (const node of (data?.nodes ?? []) as ({ id: string } | null)[]) {
      if (node) readableIds.add(node.id);
    }
  }
  return readableIds;
}

const dumpProjectA = () => dumpProject(app, idOfAByPrefix.get('prj') as string);

const PLAUSIBLE_TEXTS: Foreign['texts'] = {
  groupRef: 'acme',
  consumerRef: 'ada',
  provider: 'sandbox',
  name: 'x-acme',
  objectName: 'contacts',
  domain: 'demo.example',
  email: 'someone@demo.example',
  url: 'https://hooks.example/x',
  specVersion: '1.0.0',
};

/** Returns values of A for arguments and input fields. `project` is the ID or the name of a project. */
function createForeignValues(project: string): Foreign {
  return { project, findId: (prefix) => idOfAByPrefix.get(prefix), texts: PLAUSIBLE_TEXTS };
}

/** Expects that the data contains no ID of A, and not the label of its custom provider. */
function expectNothingOfA(description: string, data: unknown): void {
  const text = JSON.stringify(data ?? null);
  const leakedIds = [...idOfAByPrefix.values()].filter((id) => text.includes(id));
  expect(leakedIds, description).toEqual([]);
  expect(text, description).not.toContain(PROVIDER_OF_A);
}

test('finds an ID of every kind of row of tenant A', () => {
  const kinds = [
    'org',
    'bld',
    'bil',
    'prj',
    'key',
    'grp',
    'csm',
    'con',
    'cpr',
    'int',
    'rev',
    'ins',
    'cfg',
    'opr',
    'top',
    'dst',
    'etr',
    'tdr',
    'evt',
    'dlv',
  ];
  expect(kinds.filter((kind) => !idOfAByPrefix.has(kind))).toEqual([]);
});

test('returns no node of A to an API key or a builder of B', async () => {
  const ids = [...idOfAByPrefix.values()];
  for (const caller of [tenantB, tenantB.builder]) {
    const { nodes } = await caller.query('query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids,
    });
    expect(nodes).toEqual(ids.map(() => null));
  }
});

test('returns nothing of A from any query', async () => {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {});
  for (const field of fields) {
    const args = omitPageArguments(field.args);
    for (const name of args.length ? ['demo', idOfAByPrefix.get('prj') as string] : ['']) {
      const values = Object.fromEntries(
        args.map((arg) => [
          arg.name,
          arg.name === 'idOrName'
            ? name
            : createForeignValue(arg.name, arg.type, createForeignValues(name)),
        ]),
      );
      await expectNothingFromField(field, values, args);
    }
  }
});

async function expectNothingFromField(
  field: GraphQLField<unknown, unknown>,
  values: Record<string, unknown>,
  args: GraphQLArgument[],
) {
  const returnType = getNamedType(field.type);
  const selection = isObjectType(returnType) ? `{ ${selectFields(returnType, 1)} }` : '{ id }';
  const { declared, passed } = declareVariables(args);
  const query = `query ${declared} { ${field.name}${passed} ${isLeafType(returnType) ? '' : selection} }`;
  for (const caller of [tenantB, tenantB.builder]) {
    const { data } = await caller.request(query, values);
    expectNothingOfA(query, data);
  }
}

test("returns nothing of A from any filter of B's lists", async () => {
  const project = schema.getType('Project') as GraphQLObjectType;
  let requestCount = 0;
  const queries = Object.values(project.getFields()).flatMap((field) =>
    listArgumentSets(field).map((args) => ({ field, args })),
  );
  for (const { field, args } of queries) {
    if (args.length === 0) continue;
    const values = Object.fromEntries(
      args.map((arg) => [
        arg.name,
        createForeignArgument(field, arg, createForeignValues(tenantB.projectId)),
      ]),
    );
    const { declared, passed } = declareVariables(args);
    const returnType = getNamedType(field.type);
    const selection = isObjectType(returnType) ? `{ ${selectFields(returnType, 1)} }` : '';
    const query = `query ${declared} { project(idOrName: "${tenantB.projectId}") { ${field.name}${passed} ${selection} } }`;
    const { data } = await tenantB.request(query, values);
    expectNothingOfA(query, data);
    requestCount += 1;
  }
  expect(requestCount).toBeGreaterThan(8);
});

test("refuses a cursor of A in B's list", async () => {
  const buildQuery = (first: number, after: string) =>
    `query Operations { project(idOrName: "demo") { operations(first: ${first} ${after}) { pageInfo { endCursor } } } }`;
  const { project } = await openTenantA().query(buildQuery(1, ''));
  const query = `query Operations { project(idOrName: "${tenantB.projectId}") { operations(after: "${project.operations.pageInfo.endCursor}") { nodes { id } } } }`;
  expect(await tenantB.expectRefusal(query)).toMatchObject({
    code: 'BAD_USER_INPUT',
    problem: { issues: [expect.objectContaining({ name: 'after' })] },
  });
});

test('neither changes nor returns anything of A with any mutation', async () => {
  const projectBefore = await dumpProjectA();
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  expect(mutations.length).toBeGreaterThan(35);
  for (const mutation of mutations) {
    const input = getNullableType(mutation.args[0]?.type as GraphQLInputType);
    if (!isInputObjectType(input)) throw new Error(`${mutation.name} has no input.`);
    const selection = selectFields(getNamedType(mutation.type) as GraphQLObjectType, 1);
    const query = `mutation TestedMutation($input: ${input.name}!) { ${mutation.name}(input: $input) { ${selection} } }`;
    for (const project of ['demo', idOfAByPrefix.get('prj') as string, tenantB.projectId]) {
      for (const caller of [tenantB, tenantB.builder]) {
        const variables = {
          input: createForeignInput(Object.values(input.getFields()), createForeignValues(project)),
        };
        const { data, errors } = await caller.request(query, variables);
        expectNothingOfA(mutation.name, data);
        const codes = (errors ?? []).map((error) => error.extensions.code);
        expect(codes, mutation.name).not.toContain('INTERNAL_ERROR');
      }
    }
  }
  expect(await dumpProjectA()).toBe(projectBefore);
}, 120_000);

test('shows each tenant its own custom provider of the same name', async () => {
  const query = '{ provider(name: "x-acme") { displayName } }';
  const [ofA, ofB] = [await openTenantA().query(query), await tenantB.query(query)];
  expect([ofA, ofB]).toEqual([
    { provider: { displayName: PROVIDER_OF_A } },
    { provider: { displayName: 'Provider of B' } },
  ]);
});

test('returns no project for the names of A', async () => {
  for (const name of namesOfA) {
    const { data } = await tenantB.request(
      `query Project { project(idOrName: ${JSON.stringify(name)}) { id } }`,
    );
    expect(data).toEqual({ project: null });
  }
});
