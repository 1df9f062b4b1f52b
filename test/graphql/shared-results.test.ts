/** What subscribers share, and what keeps them apart. */
import { type ExecutionArgs, parse } from 'graphql';
import { expect, test } from 'vitest';
import { operationKey, SharedResults, viewerKey } from '../../src/graphql/shared-results.ts';

const document =
  parse(`subscription S($p: String!, $after: String, $n: Int = 2, $with: Boolean = true) {
  notificationEvents(projectIdOrName: $p, after: $after) {
    cursor node { id @include(if: $with) topics(first: $n) { nodes { id } } }
  }
}`);

const keyOf = (variableValues: Record<string, unknown>) =>
  operationKey({ document, variableValues } as unknown as ExecutionArgs);

test('where a stream begins does not keep subscribers apart', () => {
  expect(keyOf({ p: 'demo', after: 'x' })).toBe(keyOf({ p: 'other', after: 'y' }));
});

test('what is asked of an event does: other values, a default, and null', () => {
  const keys = [{}, { n: null }, { n: 3 }, { with: false }, { n: 3, with: false }].map(
    (variables) => keyOf({ p: 'demo', ...variables }),
  );
  expect(new Set(keys).size).toBe(keys.length);
});

test('another document, another caller and other rights do', () => {
  const same = { document: parse('subscription { operation(id: "a") { id } }') } as ExecutionArgs;
  expect(operationKey(same)).not.toBe(keyOf({ p: 'demo' }));
  expect(operationKey(same)).toBe(operationKey(same));
  const key = { kind: 'API_KEY', id: 'key_1', projectId: 'prj_1', orgId: 'org_1' } as const;
  const keys = [
    viewerKey({ ...key, scopes: ['read'] }),
    viewerKey({ ...key, scopes: ['read', 'org:read'] }),
    viewerKey({ ...key, id: 'key_2', scopes: ['read'] }),
    viewerKey({ ...key, orgId: 'org_2', scopes: ['read'] }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});

test('an event is executed once for each key', async () => {
  const results = new SharedResults();
  let executions = 0;
  const execute = async () => {
    executions += 1;
    return { data: { executions } };
  };
  const [event, other] = [{}, {}];
  const [first, again] = [results.get(event, 'a', execute), results.get(event, 'a', execute)];
  expect(await again).toBe(await first);
  await results.get(event, 'b', execute);
  await results.get(other, 'a', execute);
  expect(executions).toBe(3);
});
