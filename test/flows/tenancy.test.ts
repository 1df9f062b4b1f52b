/**
 * Tenant B requests everything of tenant A: every field and mutation that takes an ID or a name gets those of
 * A, found by walking the schema. A is the demo, which has a row of every kind.
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
import { NODES_MAX } from '../../src/domain/node.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { getSharedApp, type Tenant } from '../support/app.ts';
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
let b: Tenant;
/** The ids of A by prefix, and the names of A. */
const idsOfA = new Map<string, string>();
const namesOfA: string[] = [];

beforeAll(async () => {
  const { services, verifier } = app.app;
  await fillDemo({ services, verifier, url: 'http://gateway.test' });
  b = await app.tenant('b');
  const builder = await b.builder.query('{ viewer { builder { id } } }');
  const ownOfB = JSON.stringify([b.orgId, b.projectId, b.apiKeyId, builder]);
  for (const [prefix, ids] of Map.groupBy(await listStoredIds(app), (id) => id.slice(0, 3))) {
    const nodes = await fetchNodesForB(ids);
    const hiddenIds = ids.filter((id) => !ownOfB.includes(id) && !nodes.has(id));
    const id = hiddenIds.at(-1);
    if (id !== undefined) idsOfA.set(prefix, id);
  }
  namesOfA.push('demo', 'acme', 'ada', 'crm-sync', 'connections', 'events', 'demo.example');
});

/** Returns the ids that are nodes for B. */
async function fetchNodesForB(ids: string[]): Promise<Set<string>> {
  const foundIds = new Set<string>();
  for (let start = 0; start < ids.length; start += NODES_MAX) {
    const chunk = ids.slice(start, start + NODES_MAX);
    const { data } = await b.request('query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: chunk,
    });
    for (const node of (data?.nodes ?? []) as ({ id: string } | null)[]) {
      if (node) foundIds.add(node.id);
    }
  }
  return foundIds;
}

const dumpA = () => dumpProject(app, idsOfA.get('prj') as string);

const TEXTS: Foreign['texts'] = {
  groupRef: 'acme',
  consumerRef: 'ada',
  provider: 'sandbox',
  objectName: 'contacts',
  domain: 'demo.example',
  email: 'someone@demo.example',
  url: 'https://hooks.example/x',
  specVersion: '1.0.0',
};

/** The values of A that an argument or input field with this name may take. */
function foreignOfA(project: string): Foreign {
  return { project, findId: (prefix) => idsOfA.get(prefix), texts: TEXTS };
}

/** Expects no id of A in the data. */
function expectNothingOfA(description: string, data: unknown): void {
  const text = JSON.stringify(data ?? null);
  const leaked = [...idsOfA.values()].filter((id) => text.includes(id));
  expect(leaked, description).toEqual([]);
}

test('tenant A has a row of every kind that has an id', () => {
  const kinds = [
    'org',
    'bld',
    'bil',
    'prj',
    'key',
    'grp',
    'csm',
    'con',
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
  expect(kinds.filter((kind) => !idsOfA.has(kind))).toEqual([]);
});

test('returns no node of A to B, by key or by builder', async () => {
  const ids = [...idsOfA.values()];
  for (const caller of [b, b.builder]) {
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
    for (const name of args.length ? ['demo', idsOfA.get('prj') as string] : ['']) {
      const values = Object.fromEntries(
        args.map((arg) => [
          arg.name,
          arg.name === 'idOrName' ? name : createForeignValue(arg.name, arg.type, foreignOfA(name)),
        ]),
      );
      await queryAs(field, values, args);
    }
  }
});

async function queryAs(
  field: GraphQLField<unknown, unknown>,
  values: Record<string, unknown>,
  args: GraphQLArgument[],
) {
  const returnType = getNamedType(field.type);
  const selection = isObjectType(returnType) ? `{ ${selectFields(returnType, 1)} }` : '{ id }';
  const { declared, passed } = declareVariables(args);
  const query = `query ${declared} { ${field.name}${passed} ${isLeafType(returnType) ? '' : selection} }`;
  for (const caller of [b, b.builder]) {
    const { data } = await caller.request(query, values);
    expectNothingOfA(query, data);
  }
}

test("returns nothing of A from any filter of B's lists", async () => {
  const project = schema.getType('Project') as GraphQLObjectType;
  let requests = 0;
  const queries = Object.values(project.getFields()).flatMap((field) =>
    listArgumentSets(field).map((args) => ({ field, args })),
  );
  for (const { field, args } of queries) {
    if (args.length === 0) continue;
    const values = Object.fromEntries(
      args.map((arg) => [arg.name, createForeignArgument(field, arg, foreignOfA(b.projectId))]),
    );
    const { declared, passed } = declareVariables(args);
    const returnType = getNamedType(field.type);
    const selection = isObjectType(returnType) ? `{ ${selectFields(returnType, 1)} }` : '';
    const query = `query ${declared} { project(idOrName: "${b.projectId}") { ${field.name}${passed} ${selection} } }`;
    const { data } = await b.request(query, values);
    expectNothingOfA(query, data);
    requests += 1;
  }
  expect(requests).toBeGreaterThan(8);
});

test("refuses a cursor of A in B's list", async () => {
  const list = (first: number, after: string) =>
    `{ project(idOrName: "demo") { operations(first: ${first} ${after}) { pageInfo { endCursor } } } }`;
  const demoFile = join(app.app.services.config.DATA_DIR, 'demo.json');
  const { apiKey } = JSON.parse(readFileSync(demoFile, 'utf8'));
  const a = app.client({ 'x-api-key': apiKey });
  const { project } = await a.query(list(1, ''));
  const query = `{ project(idOrName: "${b.projectId}") { operations(after: "${project.operations.pageInfo.endCursor}") { nodes { id } } } }`;
  expect(await b.getRefusal(query)).toMatchObject({
    code: 'BAD_USER_INPUT',
    problem: { issues: [expect.objectContaining({ name: 'after' })] },
  });
});

test('changes no row of A and returns nothing of A in any mutation', async () => {
  const before = await dumpA();
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  expect(mutations.length).toBeGreaterThan(35);
  for (const mutation of mutations) {
    const input = getNullableType(mutation.args[0]?.type as GraphQLInputType);
    if (!isInputObjectType(input)) throw new Error(`${mutation.name} has no input.`);
    const selection = selectFields(getNamedType(mutation.type) as GraphQLObjectType, 1);
    const query = `mutation ($input: ${input.name}!) { ${mutation.name}(input: $input) { ${selection} } }`;
    for (const project of ['demo', idsOfA.get('prj') as string, b.projectId]) {
      for (const caller of [b, b.builder]) {
        const variables = {
          input: createForeignInput(Object.values(input.getFields()), foreignOfA(project)),
        };
        const { data, errors } = await caller.request(query, variables);
        expectNothingOfA(mutation.name, data);
        const codes = (errors ?? []).map((error) => error.extensions.code);
        expect(codes, mutation.name).not.toContain('INTERNAL_ERROR');
      }
    }
  }
  expect(await dumpA()).toBe(before);
}, 120_000);

test('returns no project for the names of A', async () => {
  for (const name of namesOfA) {
    const { data } = await b.request(`{ project(idOrName: ${JSON.stringify(name)}) { id } }`);
    expect(data).toEqual({ project: null });
  }
});
