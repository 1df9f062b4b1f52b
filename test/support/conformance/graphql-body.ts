/** The same body as a GraphQL mutation has it. */
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

type Sent = Pick<Body, 'mutation' | 'isBuilders' | 'beside'>;

export async function sendByGraphql(scene: Scene, body: Sent, given: Json): Promise<Outcome> {
  const { mutation, isBuilders, beside = ofProject } = body;
  const type = mutations[mutation]?.args[0]?.type;
  if (!type) throw new Error(`There is no mutation ${mutation}.`);
  const client = isBuilders ? scene.tenant.builder : scene.tenant;
  const query = `mutation ($input: ${type}) { ${mutation}(input: $input) { __typename } }`;
  const input = inNames(type, { ...(await beside(scene)), ...given });
  const { status, errors } = await client.request(query, { input });
  const [error] = errors ?? [];
  if (!error) return { status, refusal: null };
  const { problem } = error.extensions;
  const issues = problem.issues?.map(({ name, detail }) => `${name}: ${detail}`) ?? [];
  return { status: problem.status, refusal: [error.message, ...issues].join(' ') };
}

const ofProject = ({ tenant }: Scene) => ({ projectIdOrName: tenant.projectName });

/** Replaces REST's words by the names of enums. Other values stay as they are. */
export function inNames(type: GraphQLInputType, value: unknown): unknown {
  const inner = getNullableType(type);
  if (isEnumType(inner)) {
    const known = inner.getValues().find(({ name }) => wordOf(inner.name, name) === value);
    return known?.name ?? value;
  }
  if (isListType(inner) && Array.isArray(value)) {
    return value.map((item) => inNames(inner.ofType, item));
  }
  if (!isInputObjectType(inner) || typeof value !== 'object' || value === null) return value;
  const fields = inner.getFields();
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      fields[name] ? inNames(fields[name].type, member) : member,
    ]),
  );
}
