/** Sends the body of a REST endpoint as the input of the equivalent GraphQL mutation. */
import {
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { toWord } from '../../../src/rest/endpoint/words.ts';
import { toGraphqlInput } from '../inputs/graphql-input.ts';
import type { Body, Json } from './body.ts';
import type { Fixture } from './fixture.ts';
import type { Outcome } from './outcome.ts';

const TOKEN_TIMES: Record<string, string> = { issuedAt: 'issueTime', expiresAt: 'expireTime' };

const mutations = (schema.getMutationType() as GraphQLObjectType).getFields();

type MutationCall = Pick<Body, 'mutation' | 'usesBuilder' | 'extraInput'>;

export async function sendByGraphql(
  fixture: Fixture,
  body: MutationCall,
  payload: Json,
): Promise<Outcome> {
  const { mutation, usesBuilder, extraInput = nameProject } = body;
  const type = mutations[mutation]?.args[0]?.type;
  if (!type) throw new Error(`The schema has no mutation ${mutation}.`);
  const client = usesBuilder ? fixture.tenant.builder : fixture.tenant;
  const query = `mutation RunMutation($input: ${type}) { ${mutation}(input: $input) { __typename } }`;
  const members = { ...(await extraInput(fixture)), ...payload };
  const input = toEnumNames(type, hasGroups(type) ? toGraphqlInput(members) : members);
  const { status, errors } = await client.request(query, { input });
  const [error] = errors ?? [];
  if (!error) return { status, refusal: null };
  const { problem } = error.extensions;
  const issues = problem.issues?.map(({ name, detail }) => `${name}: ${detail}`) ?? [];
  return { status: problem.status, refusal: [error.message, ...issues].join(' ') };
}

const nameProject = ({ tenant }: Fixture) => ({ projectIdOrName: tenant.projectName });

/** True if the input has `@oneOf` members, whose members REST has directly in the body. */
function hasGroups(type: GraphQLInputType): boolean {
  const input = getNamedType(type);
  const fields = isInputObjectType(input) ? Object.values(input.getFields()) : [];
  return fields.some((field) => {
    const member = getNamedType(field.type);
    return isInputObjectType(member) && member.isOneOf;
  });
}

/** Replaces REST's wire values of enums by GraphQL's names. Other values stay unchanged. */
export function toEnumNames(type: GraphQLInputType, value: unknown): unknown {
  const inner = getNullableType(type);
  if (isEnumType(inner)) {
    const enumValue = inner.getValues().find(({ name }) => toWord(inner.name, name) === value);
    return enumValue?.name ?? value;
  }
  if (isListType(inner) && Array.isArray(value)) {
    return value.map((item) => toEnumNames(inner.ofType, item));
  }
  if (!isInputObjectType(inner) || typeof value !== 'object' || value === null) return value;
  const fields = inner.getFields();
  return Object.fromEntries(
    Object.entries(value).map(([restName, member]) => {
      const name = (inner.name === 'OAuth2TokenInput' && TOKEN_TIMES[restName]) || restName;
      return [name, fields[name] ? toEnumNames(fields[name].type, member) : member];
    }),
  );
}
