/** Every root field is called with a key of each single scope: what it allows is what its declaration says. */
import {
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { expect, test } from 'vitest';
import { type Need, needText } from '../../../src/domain/viewer/needs.ts';
import { ALL_SCOPES, allows, type Scope } from '../../../src/domain/viewer/scopes.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { ENDPOINTS } from '../../../src/rest/endpoints.ts';
import { sharedApp } from '../../support/app.ts';

const app = await sharedApp({
  env: { RATE_LIMIT_PER_SECOND: '100000', RATE_LIMIT_BURST: '100000' },
});
const tenant = await app.tenant();

/** What they need is told by the ids, or is nothing. */
const UNDECLARED = ['viewer', 'node', 'nodes'];

type Field = GraphQLField<unknown, unknown>;
const fieldsOf = (type: ReturnType<typeof schema.getQueryType>) =>
  Object.values(type?.getFields() ?? {}).filter(({ name }) => !UNDECLARED.includes(name));
const calls: ['query' | 'mutation', Field][] = [
  ...fieldsOf(schema.getQueryType()).map((field) => ['query', field] as ['query', Field]),
  ...fieldsOf(schema.getMutationType()).map((field) => ['mutation', field] as ['mutation', Field]),
];

/** A value of the type, of nothing that exists. */
function valueOf(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return valueOf(type.ofType);
  if (isListType(type)) return [valueOf(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter((field) => isNonNullType(field.type));
    return Object.fromEntries(required.map((field) => [field.name, valueOf(field.type)]));
  }
  const values: Record<string, unknown> = { Int: 1, Float: 1, Boolean: true, JSONObject: {} };
  return values[String(type)] ?? 'unknown.example';
}

function requestOf(kind: string, { name, args, type }: Field) {
  const given = args.filter((arg) => isNonNullType(arg.type));
  const declared = given.map((arg) => `$${arg.name}: ${arg.type}`).join(', ');
  const passed = given.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const selection = isObjectType(getNamedType(type)) ? '{ __typename }' : '';
  return {
    query: `${kind}${declared && `(${declared})`} { ${name}${passed && `(${passed})`} ${selection} }`,
    variables: Object.fromEntries(given.map((arg) => [arg.name, valueOf(arg.type)])),
  };
}

test.each([
  ...ALL_SCOPES,
  null,
])('a key of the scope %s may call what declares it', async (held) => {
  const scopes: Scope[] = held ? [held] : [];
  const key = await tenant.withScopes(...scopes);
  for (const [kind, field] of calls) {
    const needs = field.extensions.needs as Need | undefined;
    expect([field.name, needs]).toEqual([field.name, expect.any(String)]);
    const { query, variables } = requestOf(kind, field);
    const { errors = [] } = await key.request(query, variables);
    const codes = errors.map(({ extensions }) => extensions.code);
    const isAllowed = needs === 'nothing' || (needs !== 'bearer' && allows(scopes, needs as Scope));
    expect([field.name, codes, codes.includes('FORBIDDEN')]).toEqual([
      field.name,
      codes,
      !isAllowed,
    ]);
  }
});

test('subscriptions and endpoints declare what they need, and descriptions say it', () => {
  const fields = [...calls.map(([, field]) => field), ...fieldsOf(schema.getSubscriptionType())];
  for (const { name, description, extensions } of fields) {
    expect([name, description]).toEqual([
      name,
      expect.stringContaining(needText(extensions.needs as Need)),
    ]);
  }
  for (const { id, needs } of ENDPOINTS) expect([id, needs]).toEqual([id, expect.any(String)]);
});
