/** Builds the smallest operation that calls a field. Its arguments name nothing that exists. */
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

/** Returns a value of the type that names nothing that exists. */
export function createMinimalValue(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return createMinimalValue(type.ofType);
  if (isListType(type)) return [createMinimalValue(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    const allFields = Object.values(type.getFields());
    const inputFields = type.isOneOf ? allFields.slice(0, 1) : allFields.filter(isIncluded);
    return Object.fromEntries(
      inputFields.map((field) => [field.name, createMinimalValue(field.type)]),
    );
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

/** True for required members, and for the project. Without it, the call would concern the caller's own project. */
function isIncluded({ name, type }: { name: string; type: GraphQLInputType }): boolean {
  return isNonNullType(type) || name === 'projectIdOrName';
}

/** Returns an operation that passes the required arguments of a field, its project, and `extraArguments`. */
export function buildMinimalOperation(
  kind: string,
  { name, args, type }: Field,
  extraArguments: readonly GraphQLArgument[] = [],
) {
  const passedArguments = args.filter((arg) => isIncluded(arg) || extraArguments.includes(arg));
  const declarations = passedArguments.map((arg) => `$${arg.name}: ${arg.type}`).join(', ');
  const passed = passedArguments.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const selection = isObjectType(getNamedType(type)) ? '{ __typename }' : '';
  return {
    query: `${kind}${declarations && `(${declarations})`} { ${name}${passed && `(${passed})`} ${selection} }`,
    variables: Object.fromEntries(
      passedArguments.map((arg) => [arg.name, createMinimalValue(arg.type)]),
    ),
  };
}
