/**
 * Compiled queries return exactly the result of graphql-js: data, its order, and errors with their paths.
 *
 * @module-tag all/walk
 */
import { type ExecutionArgs, execute, getOperationAST, parse } from 'graphql';
import { expect, test } from 'vitest';
import { ALL_SCOPES, type Scope } from '../../../src/domain/access/viewer/scopes.ts';
import { createContext } from '../../../src/graphql/execution/context.ts';
import { createExecutor } from '../../../src/graphql/plugins/use-compiled-queries.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { ID_PREFIXES } from '../../../src/kernel/ids.ts';
import { getSharedApp } from '../../support/app.ts';
import { fillProject, formatRowId } from '../../support/database/fill.ts';
import { toQuery } from '../../support/database/query.ts';
import {
  listNodeTypes,
  listShapes,
  selectItem,
  selectPage,
} from '../../support/fuzz/query-shapes.ts';

const FEW = 3;
const app = await getSharedApp();
const { services } = app.app;
const tenant = await app.createTenant();
const { projectId, orgId, apiKeyId } = tenant;
await fillProject(
  { ...services, query: toQuery(services.database) },
  { projectId, number: 0 },
  { few: FEW, connections: FEW * FEW, installations: FEW * FEW, operations: 20, events: 20 },
);

interface Operation {
  query: string;
  operationName?: string;
  variables?: Record<string, unknown>;
  scopes?: readonly Scope[];
}

/** Returns the results of graphql-js and of the compiled query, as JSON. */
async function executeBoth({ query, operationName, variables, scopes = ALL_SCOPES }: Operation) {
  const document = parse(query);
  const operation = getOperationAST(document, operationName);
  if (!operation) throw new Error('There is no such operation.');
  const viewer = {
    kind: 'API_KEY',
    id: apiKeyId,
    projectId,
    orgId,
    scopes,
    allowedOrigins: [],
  } as const;
  const createArgs = (): ExecutionArgs => ({
    schema,
    document,
    operationName,
    variableValues: variables,
    contextValue: createContext(services, { viewer }),
  });
  const compiled = createExecutor(operation, 1);
  return {
    expected: JSON.stringify(await execute(createArgs())),
    first: JSON.stringify(await compiled(createArgs())),
    again: JSON.stringify(await compiled(createArgs())),
  };
}

async function expectSame(operation: Operation): Promise<string> {
  const { expected, first, again: cached } = await executeBoth(operation);
  expect(first).toBe(expected);
  expect(cached).toBe(expected);
  return expected;
}

const selectInProject = (list: string) => `{ project(idOrName: "${projectId}") { ${list} } }`;

/** Returns the id of an object of the type that has dependent rows. */
function findSampleId(type: string): string {
  const table = type === 'ConnectedAccount' ? 'Connection' : type;
  const [prefix = ''] = Object.entries(ID_PREFIXES).find(([, name]) => name === table) ?? [];
  return type === 'Org' ? orgId : formatRowId(prefix, 0, 1);
}

const shapes = listShapes(schema).map((shape) => [shape.name, shape] as const);

test.each(shapes)('returns the result of graphql-js for %s', async (_name, {
  parent: { name },
  field,
  item,
}) => {
  const list = `list: ${field}(first: 2) { totalCount ${selectPage(selectItem(item, 1))} }`;
  if (name === 'Query') await expectSame({ query: `{ ${list} }` });
  else if (name === 'Viewer') await expectSame({ query: `{ viewer { ${list} } }` });
  else if (name === 'Project') await expectSame({ query: selectInProject(list) });
  else
    await expectSame({
      query: `{ node(id: "${findSampleId(name)}") { ... on ${name} { ${list} } } }`,
    });
});

test.each(
  listNodeTypes(schema).map(({ name }) => name),
)('returns the result of graphql-js for nodes of the type %s', async (name) => {
  const selection = `... on ${name} { ${selectItem(schema.getType(name) as never, 1)} }`;
  const ids = listNodeTypes(schema).map((type) => findSampleId(type.name));
  const query = `query GetNodes($ids: [ID!]!) { nodes(ids: $ids) { __typename id ${selection} } }`;
  await expectSame({ query, variables: { ids: [projectId, ...ids, 'nothing'] } });
});

test('compiles each operation of a document separately', async () => {
  const query = `query A { viewer { kind } } query B { viewer { project { id } } }`;
  expect(await expectSame({ query, operationName: 'A' })).toContain('API_KEY');
  expect(await expectSame({ query, operationName: 'B' })).toContain(projectId);
});

test('returns the result of graphql-js with variables, defaults, directives and fragments', async () => {
  const query = `query GetProject($first: Int = 2, $with: Boolean!, $status: OperationStatus) {
    project(idOrName: "${projectId}") {
      ...named @include(if: $with)
      id @skip(if: $with)
      operations(first: $first, status: $status) { edges { cursor node { ...op } } }
    }
  }
  fragment named on Project { name other: appName }
  fragment op on Operation { id status ... on Node { id } metadata { objects progress { objectName } } }`;
  for (const variables of [
    { with: true },
    { with: false, first: 1 },
    { with: true, status: 'SUCCEEDED', first: null },
  ]) {
    await expectSame({ query, variables });
  }
});

test('returns the fields of pageInfo that need another statement', async () => {
  const selectOperations = (args: string) =>
    `operations(${args}) { pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`;
  const { data } = JSON.parse(
    await expectSame({ query: selectInProject(selectOperations('first: 2')) }),
  );
  const { endCursor } = data.project.operations.pageInfo;
  for (const args of [`first: 2, after: "${endCursor}"`, `last: 2, before: "${endCursor}"`]) {
    const response = await expectSame({ query: selectInProject(selectOperations(args)) });
    expect(response).toMatch(/"hasNextPage":true,"hasPreviousPage":(true|false)/);
  }
});

test('returns the errors of graphql-js for invalid and missing variables', async () => {
  const query = `query ListOperations($first: Int!, $idOrName: String!) {
    project(idOrName: $idOrName) { operations(first: $first) { nodes { id } } }
  }`;
  for (const variables of [{}, { first: 'x', idOrName: projectId }, { first: 1, idOrName: null }]) {
    expect(await expectSame({ query, variables })).toContain('errors');
  }
});

test('returns the errors of graphql-js for refused fields and unknown objects', async () => {
  for (const query of [
    selectInProject('operations(first: 5000) { nodes { id } } topics { nodes { id } }'),
    selectInProject('operations(after: "damaged") { nodes { id } }'),
    '{ a: project(idOrName: "nobody") { id } b: viewer { kind } }',
    '{ node(id: "damaged") { id } nodes(ids: ["x"]) { id } }',
  ]) {
    await expectSame({ query });
    await expectSame({ query, scopes: ['org:read'] });
  }
});

test('returns the introspection of graphql-js', async () => {
  await expectSame({
    query:
      '{ __schema { types { name fields { name type { name kind } } } } __type(name: "Node") { possibleTypes { name } } }',
  });
});
