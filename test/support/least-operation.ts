/** The least operation that calls a field. What it names does not exist. */
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

export type Field = GraphQLField<unknown, unknown>;

/** A value of the type, of nothing that exists. */
export function leastOf(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return leastOf(type.ofType);
  if (isListType(type)) return [leastOf(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    const given = Object.values(type.getFields()).filter(isGiven);
    return Object.fromEntries(given.map((field) => [field.name, leastOf(field.type)]));
  }
  const values: Record<string, unknown> = {
    Int: 1,
    Float: 1,
    Boolean: true,
    JSONObject: {},
    DateTime: new Date().toISOString(),
  };
  return values[String(type)] ?? 'unknown.example';
}

/** The project is given although it is optional: without it, calls would concern the caller's own. */
function isGiven({ name, type }: { name: string; type: GraphQLInputType }): boolean {
  return isNonNullType(type) || name === 'projectIdOrName';
}

/** One field with its required arguments, its project, and `also`. */
export function leastOperation(
  kind: string,
  { name, args, type }: Field,
  also: readonly GraphQLArgument[] = [],
) {
  const given = args.filter((arg) => isGiven(arg) || also.includes(arg));
  const declared = given.map((arg) => `$${arg.name}: ${arg.type}`).join(', ');
  const passed = given.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const selection = isObjectType(getNamedType(type)) ? '{ __typename }' : '';
  return {
    query: `${kind}${declared && `(${declared})`} { ${name}${passed && `(${passed})`} ${selection} }`,
    variables: Object.fromEntries(given.map((arg) => [arg.name, leastOf(arg.type)])),
  };
}
