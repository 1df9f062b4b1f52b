/**
 * The number of statements of a query does not depend on the size of its pages.
 *
 * @module-tag all/walk
 */
import { expect, test } from 'vitest';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { ID_PREFIXES } from '../../../src/kernel/ids.ts';
import { getSharedApp } from '../../support/app.ts';
import { fillProject, formatRowId } from '../../support/database/fill.ts';
import { fillOrg } from '../../support/database/filled-org.ts';
import { queryRows, toQuery } from '../../support/database/query.ts';
import {
  countRelations,
  type ListShape,
  listFilterArguments,
  listShapes,
  listStoredNodeTypes,
  selectItem,
  selectPage,
} from '../../support/fuzz/query-shapes.ts';

const SHORT_PAGE = 2;
const LONG_PAGE = 12;
/** Pages of both sizes have a next page. */
const FEW_ROWS = LONG_PAGE + 2;
const MANY_ROWS = 50 * FEW_ROWS;

const app = await getSharedApp();
const { services } = app.app;
const { orgId, projectId, run } = await fillOrg(app, FEW_ROWS);
await fillProject(
  { ...services, query: toQuery(services.database) },
  { projectId, number: 0 },
  {
    few: FEW_ROWS,
    connections: FEW_ROWS * FEW_ROWS,
    installations: FEW_ROWS * FEW_ROWS,
    operations: MANY_ROWS,
    events: MANY_ROWS,
  },
);

const FILTER_VALUES = {
  active: ['true'],
  failing: ['false'],
  provider: ['"hubspot"'],
  groupRef: ['"group-1"'],
  consumerRef: ['"consumer-1"'],
  topicId: [`"${formatRowId('top', 0, 1)}"`],
  destinationId: [`"${formatRowId('dst', 0, 1)}"`],
  integrationIdOrName: ['"integration-1"'],
  installationId: [`"${formatRowId('ins', 0, 1)}"`],
  search: ['"group-1"'],
  createTime: ['{ from: "2020-01-01T00:00:00Z" }'],
  order: ['OLDEST_FIRST'],
  eventType: ['CONNECTION_CREATED'],
  eventTypes: ['[CONNECTION_CREATED, CONNECTION_ERROR]'],
};

/** Returns the ID of a row whose lists all have many items. */
function getParentId(type: string): string {
  if (type === 'Org') return orgId;
  const newest = { Installation: FEW_ROWS * FEW_ROWS - 1, Operation: MANY_ROWS - 1 }[type] ?? 0;
  return formatRowId(getIdPrefix(type), 0, newest);
}

function toTable(type: string): string {
  return type === 'ConnectedAccount' ? 'Connection' : type;
}

function getIdPrefix(type: string): string {
  const prefixEntry = Object.entries(ID_PREFIXES).find(([, table]) => table === toTable(type));
  return prefixEntry?.[0] ?? '';
}

/** Returns a query for the list, of a parent that has many items. */
function createQuery({ name, parent, field }: ListShape, args: string, selection: string): string {
  const list = `list: ${field}(${args}) { ${selectPage(selection)} }`;
  if (parent.name === 'Query') return `{ ${list} }`;
  if (parent.name === 'Viewer') return `{ parent: viewer { ${list} } }`;
  if (parent.name === 'Project') return `{ parent: project(idOrName: "${projectId}") { ${list} } }`;
  const id =
    name === 'Destination.messages' ? formatRowId('dst', 0, FEW_ROWS) : getParentId(parent.name);
  return `{ parent: node(id: "${id}") { ... on ${parent.name} { ${list} } } }`;
}

async function queryList(shape: ListShape, args: string, selection = '__typename') {
  const { data, texts } = await run(createQuery(shape, args, selection));
  return { list: (data.parent ?? data).list, texts };
}

/**
 * Returns the maximum number of statements: one each for the parent, the page, its total and its `pageInfo`, and two
 * for each relation and each total of a list.
 */
const getStatementsMax = ({ item }: ListShape) => 5 + 2 * countRelations(item);

/** This list is empty, because the caller can join no org. */
const EMPTY_LIST = 'Viewer.joinableOrgs';

const shapes = listShapes(schema).filter(({ name }) => name !== EMPTY_LIST);

test.each(
  shapes,
)('$name: runs as many statements for a long page as for a short page', async (shape) => {
  const { endCursor } = (await queryList(shape, 'last: 1')).list.pageInfo;
  for (const [direction, bound] of [
    ['first', ''],
    ['last', `, before: "${endCursor}"`],
  ]) {
    const fetchPage = (size: number) =>
      queryList(shape, `${direction}: ${size}${bound}`, selectItem(shape.item, size));
    const [short, long] = [await fetchPage(SHORT_PAGE), await fetchPage(LONG_PAGE)];
    expect(short.list.nodes).toHaveLength(SHORT_PAGE);
    expect(long.list.nodes).toHaveLength(LONG_PAGE);
    expect(long.texts.length, long.texts.join('\n')).toBe(short.texts.length);
    expect(long.texts.length).toBeLessThanOrEqual(getStatementsMax(shape));
  }
});

const filteredShapes = shapes.filter(({ filters }) => filters.length > 0);

/** Returns arguments with one filter, and with as many as the list accepts. Other combinations add no statements. */
function listFewAndManyFilters(shape: ListShape): string[] {
  const combinations = listFilterArguments(shape, FILTER_VALUES);
  const countFilters = (args: string) =>
    shape.filters.filter(({ name }) => new RegExp(`(^| )${name}:`).test(args)).length;
  const filtersMax = Math.max(...combinations.map(countFilters));
  return combinations.filter((args) => [1, filtersMax].includes(countFilters(args)));
}

test.each(
  filteredShapes,
)('$name with filters: runs as many statements for many parents as for two', async (shape) => {
  for (const parent of shapes.filter(({ item }) => item === shape.parent)) {
    for (const args of listFewAndManyFilters(shape)) {
      const list = `${shape.field}(first: 2, ${args}) { ${selectPage('__typename')} }`;
      const fetchParents = (size: number) => queryList(parent, `first: ${size}`, list);
      const [short, long] = [await fetchParents(SHORT_PAGE), await fetchParents(LONG_PAGE)];
      expect(long.list.nodes).toHaveLength(LONG_PAGE);
      expect(long.texts.length, long.texts.join('\n')).toBe(short.texts.length);
    }
  }
});

/** Additional statements: one for the sealed values of destinations, one for the names of the orgs of invites. */
const STATEMENTS_OF_FIELDS: Record<string, number> = { Destination: 1, Invite: 1 };

test.each(
  listStoredNodeTypes(schema),
)('runs as many statements for many nodes of type $name as for two', async (type) => {
  const { name } = type;
  const table = `select "id" from "${toTable(name)}" order by "id" desc limit $1`;
  const fetchNodes = async (size: number) => {
    const rows = await queryRows<{ id: string }>(services.database, table, [size]);
    const ids = JSON.stringify(rows.map(({ id }) => id));
    return run(
      `query Nodes { nodes(ids: ${ids}) { ... on ${name} { ${selectItem(type, SHORT_PAGE)} } } }`,
    );
  };
  const [short, long] = [await fetchNodes(SHORT_PAGE), await fetchNodes(LONG_PAGE)];
  expect(long.data.nodes.filter((node: object | null) => node !== null)).toHaveLength(LONG_PAGE);
  expect(long.texts.length, long.texts.join('\n')).toBe(short.texts.length);
  expect(long.texts.length).toBeLessThanOrEqual(
    1 + 2 * countRelations(type) + (STATEMENTS_OF_FIELDS[name] ?? 0),
  );
});

test('reads connections with their groups, consumers and provider apps in one statement', async () => {
  const { data, texts } = await run(`query Project { project(idOrName: "${projectId}") {
    connections(first: 20) { nodes { id group { id } consumer { id } providerApp { id } } }
  } }`);
  expect(data.project.connections.nodes).toHaveLength(20);
  expect(data.project.connections.nodes[0].providerApp).not.toBeNull();
  expect(texts).toHaveLength(1 + 1);
});

test('reads attention items of many projects with as many statements as those of one project', async () => {
  const list = 'attentionItems { kind subject { id } }';
  const single = await run(`query Project { project(idOrName: "${projectId}") { ${list} } }`);
  const many = await run(
    `query Projects { projects(last: ${LONG_PAGE}) { nodes { id ${list} } } }`,
  );
  expect(many.data.projects.nodes).toHaveLength(LONG_PAGE);
  expect(many.data.projects.nodes).toContainEqual({ id: projectId, ...single.data.project });
  expect(single.data.project.attentionItems.length).toBeGreaterThan(LONG_PAGE);
  expect(many.texts.length, many.texts.join('\n')).toBe(single.texts.length);
});

const OPERATION_LISTS = `a: operations(first: 3, status: SUCCEEDED) { totalCount nodes { id installationId } }
  b: operations(last: 2) { totalCount pageInfo { hasPreviousPage endCursor } nodes { id } }`;

test('returns the same rows from lists of many parents as from each list', async () => {
  const list = `installations(first: ${LONG_PAGE}) { nodes { id ${OPERATION_LISTS} } }`;
  const { data } = await run(`query Project { project(idOrName: "${projectId}") { ${list} } }`);
  const { nodes } = data.project.installations;
  expect(nodes[0].a.nodes).toHaveLength(3);
  for (const installation of nodes) {
    const node = `node(id: "${installation.id}") { ... on Installation { id ${OPERATION_LISTS} } }`;
    expect((await run(`{ ${node} }`)).data.node).toEqual(installation);
  }
});
