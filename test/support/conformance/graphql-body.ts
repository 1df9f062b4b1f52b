/** Sends the body of a REST endpoint as the input of the equivalent GraphQL mutation. */
import {
  type GraphQLInputType,
  type GraphQLObjectType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { wordOf } from '../../../src/rest/endpoint/words.ts';
import type { Body, Json } from './body.ts';
import type { Outcome } from './outcome.ts';
import type { Scene } from './scene.ts';

const mutations = (schema.getMutationType() as GraphQLObjectType).getFields();

type MutationCall = Pick<Body, 'mutation' | 'isBuilders' | 'extraInput'>;

export async function sendByGraphql(
  scene: Scene,
  body: MutationCall,
  payload: Json,
): Promise<Outcome> {
  const { mutation, isBuilders, extraInput = nameProject } = body;
  const type = mutations[mutation]?.args[0]?.type;
  if (!type) throw new Error(`The schema has no mutation ${mutation}.`);
  const client = isBuilders ? scene.tenant.builder : scene.tenant;
  const query = `mutation ($input: ${type}) { ${mutation}(input: $input) { __typename } }`;
  const input = toEnumNames(type, { ...(await extraInput(scene)), ...payload });
  const { status, errors } = await client.request(query, { input });
  const [error] = errors ?? [];
  if (!error) return { status, refusal: null };
  const { problem } = error.extensions;
  const issues = problem.issues?.map(({ name, detail }) => `${name}: ${detail}`) ?? [];
  return { status: problem.status, refusal: [error.message, ...issues].join(' ') };
}

const nameProject = ({ tenant }: Scene) => ({ projectIdOrName: tenant.projectName });

/** Replaces REST's wire values of enums by GraphQL's names. Other values stay unchanged. */
export function toEnumNames(type: GraphQLInputType, value: unknown): unknown {
  const inner = getNullableType(type);
  if (isEnumType(inner)) {
    const enumValue = inner.getValues().find(({ name }) => wordOf(inner.name, name) === value);
    return enumValue?.name ?? value;
  }
  if (isListType(inner) && Array.isArray(value)) {
    return value.map((item) => toEnumNames(inner.ofType, item));
  }
  if (!isInputObjectType(inner) || typeof value !== 'object' || value === null) return value;
  const fields = inner.getFields();
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      fields[name] ? toEnumNames(fields[name].type, member) : member,
    ]),
  );
}
