/**
 * Reports invalid literals and variables. graphql-js finds the errors. The messages omit the values, which may be
 * secrets or very long.
 */
import {
  coerceInputValue,
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  getOperationAST,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isSpecifiedScalarType,
  Kind,
  TypeInfo,
  typeFromAST,
  ValidationContext,
  ValuesOfCorrectTypeRule,
  type VariableDefinitionNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Issue } from '../../kernel/errors.ts';
import { toGraphQLError, truncateMessage } from './graphql-errors.ts';

/** The maximum number of errors of one request. graphql-js has the same limit for variables. */
const ERRORS_MAX = 50;

/** Lists invalid literals. Replaces the rule ValuesOfCorrectTypeRule, whose messages repeat the values. */
export function listLiteralErrors(schema: GraphQLSchema, document: DocumentNode): GraphQLError[] {
  const errors: GraphQLError[] = [];
  const types = new TypeInfo(schema);
  const context = new ValidationContext(schema, document, types, (error) => {
    if (errors.length < ERRORS_MAX) errors.push(omitValue(error, types.getInputType()));
  });
  visit(document, visitWithTypeInfo(types, ValuesOfCorrectTypeRule(context)));
  return errors;
}

function omitValue(error: GraphQLError, type: GraphQLInputType | null | undefined) {
  const [node] = error.nodes ?? [];
  // Errors about members of an input object name only types and fields. An error without a node comes from a custom
  // scalar.
  const concernsMembers =
    node?.kind === Kind.OBJECT_FIELD ||
    (node?.kind === Kind.OBJECT && isInputObjectType(type && getNamedType(type)));
  if (!node || !type || concernsMembers) return error;
  return new GraphQLError(`A value of type ${type} must be ${describeType(type)}.`, {
    nodes: node,
  });
}

type Variables = Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'>;

/** Returns the errors of the variables of a valid operation. */
export function listVariableErrors({
  schema,
  document,
  operationName,
  variableValues,
}: Variables): GraphQLError[] {
  const errors: GraphQLError[] = [];
  const values = variableValues ?? {};
  for (const node of getOperationAST(document, operationName)?.variableDefinitions ?? []) {
    for (const issue of listIssues(schema, node, values)) {
      if (errors.length === ERRORS_MAX) return errors;
      const detail = `Variable ${issue.name} is invalid: ${issue.detail}`;
      const cause = new GraphQLError(detail, { nodes: node });
      errors.push(toGraphQLError('BAD_USER_INPUT', detail, { extra: { issues: [issue] }, cause }));
    }
  }
  return errors;
}

function listIssues(
  schema: GraphQLSchema,
  { variable, type: typeNode, defaultValue }: VariableDefinitionNode,
  values: Readonly<Record<string, unknown>>,
): Issue[] {
  const type = typeFromAST(schema, typeNode);
  if (!isInputType(type)) return [];
  const name = variable.name.value;
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined && (defaultValue || !isNonNullType(type))) return [];
  if (value == null && isNonNullType(type)) {
    return [
      { kind: 'missing-value', in: 'body', name, detail: `must have a value of type ${type}.` },
    ];
  }
  const issues: Issue[] = [];
  try {
    coerceInputValue(value, type, (path, invalid, { message }) => {
      // graphql-js would report every error of a large value.
      if (issues.length === ERRORS_MAX) throw LIMIT_REACHED;
      const invalidType = getTypeAt(type, path);
      const repeatsValue = invalid != null && isEnumOrBuiltIn(invalidType);
      const detail = repeatsValue
        ? `must be ${describeType(invalidType)}.`
        : truncateMessage(message);
      issues.push({ in: 'body', name: formatPath(name, path), detail });
    });
  } catch (error) {
    if (error !== LIMIT_REACHED) throw error;
  }
  return issues;
}

const LIMIT_REACHED = new Error('The maximum number of errors is reached.');

type Path = readonly (string | number)[];

function getTypeAt(type: GraphQLInputType, path: Path): GraphQLInputType {
  return path.reduce<GraphQLInputType>((parent, key) => {
    const nullableType = getNullableType(parent);
    if (isListType(nullableType)) return nullableType.ofType;
    const field = isInputObjectType(nullableType) ? nullableType.getFields()[key] : undefined;
    return field?.type ?? parent;
  }, type);
}

function formatPath(name: string, path: Path): string {
  const keys = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`));
  return `${name}${keys.join('')}`;
}

const SCALARS: Readonly<Record<string, string>> = {
  Int: 'a 32-bit integer',
  Float: 'a number',
  String: 'a string',
  Boolean: 'true or false',
  ID: 'a string or an integer',
};

/** False for input objects and custom scalars, whose messages contain no value. */
function isEnumOrBuiltIn(type: GraphQLInputType): boolean {
  const namedType = getNamedType(type);
  return isEnumType(namedType) || isSpecifiedScalarType(namedType);
}

/** Describes the values that graphql-js accepts for a type. */
function describeType(type: GraphQLInputType): string {
  const namedType = getNamedType(type);
  const description = isEnumType(namedType)
    ? `one of ${namedType
        .getValues()
        .map((value) => value.name)
        .join(', ')}`
    : (SCALARS[namedType.name] ??
      `${isInputObjectType(namedType) ? 'an object of type' : 'a'} ${namedType.name}`);
  return isListType(getNullableType(type)) ? `a list of values, each ${description}` : description;
}
