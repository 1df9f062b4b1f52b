/**
 * End users call every field, mutation, subscription and endpoint with names and IDs of other tenants and groups. The
 * responses contain no foreign data, and are the same for names that don't exist.
 *
 * @module-tag all/walk
 */
import {
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema/schema.ts';
import { getSharedApp, HIGH_RATE_LIMITS } from '../support/app.ts';
import { openEventStream } from '../support/event-stream.ts';
import { listOperations } from '../support/rest/minimal-request.ts';
import { createEndUserCallers, type EndUserCaller } from '../support/tenancy/end-user-callers.ts';
import { createForeignRequest } from '../support/tenancy/foreign-request.ts';
import {
  createForeignArgument,
  createForeignInput,
  createForeignValue,
  type Foreign,
} from '../support/tenancy/foreign-values.ts';
import { buildQueries, findReachableFields } from '../support/tenancy/reachable-fields.ts';
import { declareVariables, selectFields } from '../support/tenancy/selections.ts';
import { dumpProject } from '../support/tenancy/stored-rows.ts';

const app = await getSharedApp({
  env: {
    DEMO: 'true',
    ...HIGH_RATE_LIMITS,
    LIMIT_COST: '1000000',
  },
});
const { callers, projectId } = await createEndUserCallers(app);
const endpoints = listOperations(app.app.rest.swagger());

/** Names in requests, which responses may repeat. */
const ID_OR_NAME = /\b(acme|unknown|ada|no-one|demo|no-project|[a-z]{3}_[0-9a-z]{26})\b/g;

/** ID prefixes of orgs and of the objects that belong to an org. */
const ORG_ID_PREFIXES = ['org', 'bld', 'bil', 'inv', 'dom'];

type Send = (names: Foreign) => Promise<unknown>;

/** Replaces the instances of problems, which are unique to each response. */
function maskInstances(text: string): string {
  return text.replaceAll(/urn:uuid:[\da-f-]{36}/g, '*');
}

/** Expects a response without hidden data, equal to the response for names that do not exist. */
async function expectNoOracle(
  { hidden, name }: EndUserCaller,
  { foreign, missing }: EndUserCaller['pairs'][number],
  { description, send }: { description: string; send: Send },
): Promise<void> {
  const [foreignResponse, missingResponse] = [
    maskInstances(JSON.stringify(await send(foreign))),
    maskInstances(JSON.stringify(await send(missing))),
  ];
  const data = foreignResponse.replace(/"errors":.*$/, '');
  const leaked = hidden.filter((id) => data.includes(id));
  expect(leaked, `${name}: ${description}`).toEqual([]);
  expect([description, foreignResponse]).toEqual([
    description,
    expect.not.stringContaining('INTERNAL_ERROR'),
  ]);
  expect([description, foreignResponse.replaceAll(ID_OR_NAME, '*')]).toEqual([
    description,
    missingResponse.replaceAll(ID_OR_NAME, '*'),
  ]);
}

test.each(callers)('$name: returns no node for a foreign id', async (caller) => {
  const query = 'query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id } }';
  const hiddenIds = caller.hidden.filter((text) => /^[a-z]{3}_/.test(text));
  for (const [prefix, prefixIds] of Map.groupBy(hiddenIds, (id) => id.slice(0, 3))) {
    const ids = prefixIds.slice(0, 100);
    const { data, errors = [] } = await caller.user.request(query, { ids });
    const codes = errors.map(({ extensions }) => extensions.code);
    const expectedCodes = ORG_ID_PREFIXES.includes(prefix) ? ids.map(() => 'FORBIDDEN') : [];
    expect([prefix, data?.nodes, codes]).toEqual([prefix, ids.map(() => null), expectedCodes]);
  }
});

test.each(callers)('$name: returns no foreign data from any field', async (caller) => {
  const fields = await findReachableFields(caller.user, caller.ownValues);
  const types = new Set(fields.map(({ type }) => type.name));
  expect([...types]).toEqual(expect.arrayContaining(['Viewer', 'Group', 'Consumer', 'Project']));
  for (const { description, field, query, args } of await buildQueries(fields, [caller.user])) {
    // A query without arguments is the same for every pair.
    for (const pair of args.length > 0 ? caller.pairs : caller.pairs.slice(0, 1)) {
      const send: Send = async (names) => {
        const values = args.map((arg) => [arg.name, createForeignArgument(field, arg, names)]);
        const { data, errors } = await caller.user.request(query, Object.fromEntries(values));
        return { data, errors };
      };
      await expectNoOracle(caller, pair, { description, send });
    }
  }
});

test.each(
  callers,
)('$name: neither changes nor returns foreign data with any mutation', async (caller) => {
  const projectBefore = await dumpProject(app, projectId);
  for (const mutation of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const input = getNullableType(mutation.args[0]?.type as GraphQLInputType);
    if (!isInputObjectType(input)) throw new Error(`${mutation.name} has no input.`);
    const selection = selectFields(getNamedType(mutation.type) as GraphQLObjectType, 1);
    const query = `mutation TestedMutation($input: ${input.name}!) { ${mutation.name}(input: $input) { ${selection} } }`;
    for (const pair of caller.pairs) {
      const send: Send = async (names) => {
        const variables = { input: createForeignInput(Object.values(input.getFields()), names) };
        const { data, errors } = await caller.user.request(query, variables);
        return { data, errors };
      };
      await expectNoOracle(caller, pair, { description: mutation.name, send });
    }
  }
  expect(await dumpProject(app, projectId)).toBe(projectBefore);
});

test.each(callers)('$name: receives no foreign data from any subscription', async (caller) => {
  for (const field of Object.values(schema.getSubscriptionType()?.getFields() ?? {})) {
    const returnType = getNamedType(field.type);
    const { declared, passed } = declareVariables(field.args);
    const selection = isObjectType(returnType) ? `{ ${selectFields(returnType, 0)} }` : '';
    const query = `subscription ${declared} { ${field.name}${passed} ${selection} }`;
    for (const pair of caller.pairs) {
      const send: Send = async (names) => {
        const values = field.args
          .filter(({ name }) => name !== 'after')
          .map((arg) => [arg.name, createForeignValue(arg.name, arg.type, names)]);
        const { headers } = caller.user;
        const variables = Object.fromEntries(values);
        const stream = await openEventStream(app.fetch, { query, variables, headers });
        const message = await stream.next();
        stream.close();
        return { data: message?.data.data, errors: message?.data.errors };
      };
      await expectNoOracle(caller, pair, { description: field.name, send });
    }
  }
});

test.each(
  callers,
)('$name: neither changes nor returns foreign data with any endpoint', async (caller) => {
  const projectBefore = await dumpProject(app, projectId);
  for (const endpoint of endpoints) {
    for (const pair of caller.pairs) {
      const send: Send = async (names) => {
        const { path, init } = createForeignRequest(endpoint, names);
        const headers = { ...init.headers, ...caller.user.headers };
        const response = await app.fetch(path, { ...init, headers });
        const text = await response.text();
        return response.ok ? { data: text } : { status: response.status, errors: text };
      };
      await expectNoOracle(caller, pair, { description: endpoint.operationId, send });
    }
  }
  expect(await dumpProject(app, projectId)).toBe(projectBefore);
});
