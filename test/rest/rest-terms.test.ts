/** Checks that errors of REST contain no name of a GraphQL enum and no path of a GraphQL input. */
import { isEnumType } from 'graphql';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { isForBuilders } from '../../src/domain/access/viewer/needs.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import type { Problem } from '../../src/kernel/errors.ts';
import { unwrapSchema } from '../../src/kernel/unwrap-schema.ts';
import type { Endpoint } from '../../src/rest/endpoint/endpoint.ts';
import { findEnumName, toWord } from '../../src/rest/endpoint/words.ts';
import { ENDPOINTS } from '../../src/rest/endpoints.ts';
import { getSharedApp, HIGH_RATE_LIMITS } from '../support/app.ts';
import { createMinimalValue, type JsonSchema } from '../support/rest/minimal-request.ts';
import { createRestTenant, type RestTenant } from '../support/rest/rest-client.ts';
import { createRestInstallation } from '../support/rest/rest-installation.ts';

const app = await getSharedApp({ env: HIGH_RATE_LIMITS });
const rest = await createRestTenant(app);

/** The names of all values of GraphQL's enums. */
const ENUM_NAMES = Object.values(schema.getTypeMap()).flatMap((type) =>
  isEnumType(type) && !type.name.startsWith('__') ? type.getValues().map(({ name }) => name) : [],
);
const ENUM_NAME = new RegExp(`\\b(${[...new Set(ENUM_NAMES)].join('|')})\\b`);
const TYPE_NAMES = Object.keys(schema.getTypeMap()).filter((name) => !name.startsWith('__'));
const GRAPHQL_PATH = new RegExp(`\\binput\\.\\w|\\b(${TYPE_NAMES.join('|')})\\.[a-z]\\w+`);

/** Returns the texts of a problem that contain terms of GraphQL. It ignores values, because the caller chose them. */
function listGraphqlTexts({ detail, issues = [] }: Problem): string[] {
  const texts = [detail, ...issues.flatMap((issue) => [issue.name, issue.detail])];
  return texts.filter((text) => ENUM_NAME.test(text) || GRAPHQL_PATH.test(text));
}

/** Returns values that each break a rule of the member. */
function createWrongValues(member: z.ZodType): unknown[] {
  const { inner } = unwrapSchema(member);
  const wrongValues: unknown[] = [undefined, null, 'no-such-value', 7, {}, [{}], ['no-such-value']];
  if (inner instanceof z.ZodObject) wrongValues.push(...createWrongObjects(inner));
  if (inner instanceof z.ZodArray) {
    wrongValues.push(...createWrongValues(inner.element as z.ZodType).map((value) => [value]));
  }
  return wrongValues;
}

/** Returns objects with the required members, one of which is invalid. */
function createWrongObjects(object: z.ZodObject): unknown[] {
  const minimalObject = createMinimalInput(object) as Record<string, unknown>;
  return Object.entries<z.ZodType>(object.shape).flatMap(([name, member]) =>
    createWrongValues(member).map((value) => ({ ...minimalObject, [name]: value })),
  );
}

/** Returns a minimal valid input in REST's terms. */
function createMinimalInput(schema: z.ZodType): unknown {
  const json = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      if (!(zodSchema instanceof z.ZodEnum)) return;
      const enumName = findEnumName(zodSchema);
      jsonSchema.enum = (zodSchema.options as string[]).map((name) => toWord(enumName, name));
    },
  });
  return createMinimalValue(
    resolveReferences(json as JsonSchema, json as { $defs?: Record<string, JsonSchema> }),
  );
}

function resolveReferences(
  node: JsonSchema,
  root: { $defs?: Record<string, JsonSchema> },
): JsonSchema {
  const text = JSON.stringify(node, (_key, value) => {
    const ref = (value as { $ref?: string } | null)?.$ref;
    return ref ? (root.$defs?.[ref.split('/').at(-1) ?? ''] ?? {}) : value;
  });
  return JSON.parse(text);
}

const fillPath = ({ path }: Endpoint, { tenant }: RestTenant) =>
  path.replace('{projectIdOrName}', tenant.projectName).replaceAll(/\{\w+\}/g, 'unknown');

test.each(ENDPOINTS.map((endpoint) => [endpoint.id, endpoint] as const))(
  "%s refuses requests in REST's terms",
  { tags: ['all/walk'] },
  async (_id, endpoint) => {
    const { partSchemas, method, needs } = endpoint;
    const client = isForBuilders(needs) ? rest.builder : rest;
    const bodies = partSchemas.body ? [{}, ...createWrongObjects(partSchemas.body)] : [undefined];
    const queries = Object.keys(partSchemas.query?.shape ?? {}).map(
      (name) => `?${name}=no-such-value`,
    );
    const graphqlTexts: string[] = [];
    const base = fillPath(endpoint, rest);
    for (const path of [base, ...queries.map((query) => base + query)]) {
      for (const body of path === base ? bodies : [bodies[0]]) {
        const response = await client.request(method, path, body);
        if (response.status >= 400 && response.body?.type)
          graphqlTexts.push(...listGraphqlTexts(response.body));
      }
    }
    expect([...new Set(graphqlTexts)]).toEqual([]);
  },
);

test('lists the values of REST if a value of an enum is missing', async () => {
  const fetchIssues = async (path: string, body: object, client = rest.request) =>
    ((await client('POST', path, body)).body.issues as { name: string; detail: string }[]).map(
      ({ name, detail }) => `${name}: ${detail}`,
    );
  const routes = `${rest.base}/notification-event-topic-routes`;
  expect(await fetchIssues(routes, { topicId: 'top_1' })).toEqual([
    expect.stringMatching(/^eventType: must be one of .*\bread\.backfill\.done\b/),
  ]);
  const claimedDomain = { domain: 'acme.example', parentId: rest.tenant.orgId };
  expect(await fetchIssues('/claimed-domains', claimedDomain, rest.builder.request)).toEqual([
    'parentType: must be org.',
  ]);
});

test("describes broken rules of a write in REST's terms", async () => {
  const { integrationPath, expectRefusal } = await createRestInstallation(app);
  const contacts = `${integrationPath}/objects/contacts`;
  const body = { groupRef: 'acme', type: 'create', record: { email: 'ann@example.com' } };
  const missingType = await expectRefusal('POST', contacts, { ...body, type: undefined });
  expect(missingType.issues).toMatchObject([
    { name: 'type', detail: 'must be one of create, update, delete.' },
  ]);
  const policy = { retryPolicy: { deadlineHours: 1 } };
  const retryRefusal = await expectRefusal('POST', contacts, { ...body, ...policy });
  expect(retryRefusal.issues).toMatchObject([
    { name: 'retryPolicy', detail: 'must be given only with the mode asynchronous.' },
  ]);
  const deletion = { groupRef: 'acme', type: 'delete', mode: 'asynchronous', record: { id: '1' } };
  const deletionRefusal = await expectRefusal('POST', contacts, deletion);
  expect(deletionRefusal.issues).toMatchObject([
    { name: 'mode', detail: 'must be synchronous for a delete.', value: 'asynchronous' },
  ]);
});
