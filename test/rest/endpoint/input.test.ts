import { expect, test } from 'vitest';
import { z } from 'zod';
import { builderMutation } from '../../../src/domain/access/declared-mutation.ts';
import { checkRules, createRuleIssue } from '../../../src/domain/base/issues.ts';
import { DomainError, ISSUES_MAX, type Problem } from '../../../src/kernel/errors.ts';
import { type Endpoint, endpoint, type Parts } from '../../../src/rest/endpoint/endpoint.ts';
import { readInput as read } from '../../../src/rest/endpoint/request-input.ts';
import { mutationEndpoint } from '../../../src/rest/endpoint/resource-endpoints.ts';
import { toRouterPath } from '../../../src/rest/rest.ts';
import { listIssueNames } from '../../support/graphql-client.ts';
import { listIssuePositions } from '../../support/rest/rest-client.ts';

const input = z.object({
  projectIdOrName: z.string().max(9).describe('The project.'),
  name: z.string().min(2).describe('A name.'),
  kind: z.enum(['DRY_RUN', 'REAL']).nullish().describe('A kind.'),
  since: z.date().optional().describe('A time.'),
  tags: z.array(z.string()).optional().describe('Tags.'),
  limit: z.int().max(5).default(3).describe('A limit.'),
  isForced: z.boolean().optional().describe('A flag.'),
  key: z.string().optional().describe('A key.'),
});
const definition = {
  id: 'try',
  path: '/projects/{projectIdOrName}/things:try',
  tag: 'Things',
  summary: 'Tries.',
  needs: 'read',
  input,
  locations: {
    since: { in: 'body', name: 'range.since' },
    key: { in: 'header', name: 'idempotency-key' },
  },
  status: 204,
  resource: null,
  run: async () => null,
} as const;
const post = endpoint({ ...definition, method: 'POST' });
const get = endpoint({
  ...definition,
  method: 'GET',
  locations: { key: definition.locations.key },
});
const { needs: _needs, input: _input, run: _run, ...baseDefinition } = definition;
const mutationTarget = mutationEndpoint({
  ...baseDefinition,
  method: 'POST',
  mutation: builderMutation({
    description: 'Does nothing.',
    input: input.superRefine(
      checkRules(function* ({ isForced, limit }) {
        if (isForced && limit < 3) yield createRuleIssue(['limit'], 'is not for forced ones.');
      }),
    ),
    run: async () => null,
  }),
  extraInput: { dryRun: z.boolean().optional().describe('Whether nothing is done.') },
});

async function readInput(target: Endpoint, parts: Parts) {
  const result = await read(target, parts, (schema, value) => {
    const { data, error } = schema.safeParse(value);
    return error ? { error } : { value: data };
  });
  if (result.error) throw result.error;
  return result;
}

const createParts = (overrides: Partial<Parts>): Parts => ({
  path: { projectIdOrName: 'mine' },
  query: {},
  header: {},
  body: undefined,
  ...overrides,
});

async function catchProblem(read: () => Promise<unknown>): Promise<Problem> {
  try {
    await read();
  } catch (error) {
    if (error instanceof DomainError) return error.problem;
    throw error;
  }
  throw new Error('The input was accepted.');
}

test('reads members at their locations, and converts them for the domain', async () => {
  const body = { name: 'x1', kind: 'dry_run', range: { since: '2026-01-31T12:00:00+02:00' } };
  const header = { 'idempotency-key': 'k' };
  expect((await readInput(post, createParts({ body, header }))).input).toEqual({
    projectIdOrName: 'mine',
    name: 'x1',
    kind: 'DRY_RUN',
    since: new Date('2026-01-31T10:00:00Z'),
    limit: 3,
    key: 'k',
  });
});

test('converts strings of a query to numbers, booleans and lists', async () => {
  const query = { name: 'x1', limit: '5', isForced: 'true', tags: 'a', kind: 'real' };
  expect((await readInput(get, createParts({ query }))).input).toMatchObject({
    limit: 5,
    isForced: true,
    tags: ['a'],
    kind: 'REAL',
  });
  expect(
    (await readInput(get, createParts({ query: { ...query, tags: ['a', 'b'] } }))).input,
  ).toMatchObject({
    tags: ['a', 'b'],
  });
  const { issues } = await catchProblem(() =>
    readInput(get, createParts({ query: { ...query, isForced: 'yes' } })),
  );
  expect(issues).toMatchObject([{ in: 'query', name: 'isForced' }]);
});

test('returns the issues of all parts together, one for each location', async () => {
  const body = { name: 'x', kind: 'REAL', range: { since: 'today', until: 1 }, limit: '5' };
  const path = { projectIdOrName: 'much-too-long' };
  const { issues } = await catchProblem(() => readInput(post, createParts({ path, body })));
  expect(listIssuePositions({ issues }).sort()).toEqual([
    'body kind',
    'body limit',
    'body name',
    'body range.since',
    'body range.until',
    'path projectIdOrName',
  ]);
});

test('returns at most ISSUES_MAX issues', { tags: ['all/rows'] }, async () => {
  const createMembers = (value: unknown) =>
    Object.fromEntries(Array.from({ length: 150_000 }, (_, index) => [`m${index}`, value]));
  const { issues } = await catchProblem(() =>
    readInput(post, createParts({ body: createMembers(1) })),
  );
  expect(issues).toHaveLength(ISSUES_MAX);
  const endpointWithForm = endpoint({
    ...definition,
    method: 'POST',
    input: z.object({ ...input.shape, other: z.unknown().describe('An other.') }),
    locations: {
      ...definition.locations,
      other: {
        in: 'body',
        name: 'other',
        form: {
          schema: z.record(z.string(), z.string()),
          decode: (wire) => wire,
          locate: (_wire, path) => path,
        },
      },
    },
  });
  const tags = Array.from({ length: 5_000 }, () => 1);
  const wrong = await catchProblem(() =>
    readInput(endpointWithForm, createParts({ body: { other: createMembers(1), tags } })),
  );
  expect(wrong.issues).toHaveLength(ISSUES_MAX);
});

test("applies the rules of a mutation's schema and of the endpoint's own members", async () => {
  const body = { name: 'x1', limit: 2, dryRun: 'yes' };
  const { issues } = await catchProblem(() => readInput(mutationTarget, createParts({ body })));
  expect(issues?.map(({ name }) => name)).toEqual(['dryRun']);
  const forced = { name: 'x1', limit: 2, isForced: true };
  const broken = await catchProblem(() => readInput(mutationTarget, createParts({ body: forced })));
  expect(broken.issues).toMatchObject([{ name: 'limit', detail: 'is not for forced ones.' }]);
  const wrong = await catchProblem(() =>
    readInput(mutationTarget, createParts({ body: { name: 5, limit: 9 } })),
  );
  expect(listIssueNames(wrong)).toEqual(['name', 'limit']);
});

test('refuses text and members that cannot be stored, in every part', async () => {
  const body = JSON.parse('{"name": "a\\u0000b", "kind": {"__proto__": 1}}');
  const path = { projectIdOrName: '\ud800' };
  const { issues } = await catchProblem(() => readInput(post, createParts({ path, body })));
  expect(listIssuePositions({ issues })).toEqual([
    'path projectIdOrName',
    'body name',
    'body kind',
  ]);
});

test('throws for an endpoint whose path names an unknown input', () => {
  const path = '/orgs/{orgId}/things';
  expect(() => endpoint({ ...definition, method: 'POST', path })).toThrow('orgId');
});

test("returns a path with a verb in the router's syntax", () => {
  expect(toRouterPath('/a/{b}/c:d')).toBe('/a/:b/c::d');
  expect(toRouterPath('/a/{b}/{c}:d')).toBe('/a/:b/:c([^:]+)::d');
});
