/** Reports invalid literals and variables. The messages omit the values, which may be secrets or very long. */
import {
  type ASTNode,
  type ASTVisitor,
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isInputObjectType,
  isInputType,
  isNonNullType,
  isValueNode,
  Kind,
  TypeInfo,
  typeFromAST,
  ValidationContext,
  ValuesOfCorrectTypeRule,
  type VariableDefinitionNode,
  valueFromAST,
  visit,
  visitInParallel,
  visitWithTypeInfo,
} from 'graphql';
import { type Issue, toProblemIssue } from '../../kernel/errors.ts';
import { runSteps, type Steps } from '../../work/steps.ts';
import { toGraphQLError } from './graphql-errors.ts';
import { type Coercion, coerceValue, describeType } from './value-issues.ts';

/** The maximum number of errors of one request. graphql-js has the same limit for variables. */
const ERRORS_MAX = 50;

/** Lists invalid literals. Replaces the rule ValuesOfCorrectTypeRule, whose messages repeat the values. */
export function listLiteralErrors(schema: GraphQLSchema, document: DocumentNode): GraphQLError[] {
  const errors: GraphQLError[] = [];
  const types = new TypeInfo(schema);
  const path: PropertyKey[] = [];
  const context = new ValidationContext(schema, document, types, (error) => {
    if (errors.length === ERRORS_MAX) return;
    const cause = omitValue(error, types.getInputType());
    const issue = toProblemIssue({ path: [...path], detail: cause.message });
    const extra = { issues: [issue] };
    errors.push(toGraphQLError('GRAPHQL_VALIDATION_FAILED', cause.message, { extra, cause }));
  });
  const visitor = visitInParallel([trackPath(path), ValuesOfCorrectTypeRule(context)]);
  visit(document, visitWithTypeInfo(types, visitor));
  return errors;
}

/** Keeps in `path` the argument or the variable, the members and the indexes that lead to the visited value. */
function trackPath(path: PropertyKey[]): ASTVisitor {
  const isItem = (node: ASTNode, key: unknown) =>
    path.length > 0 && typeof key === 'number' && isValueNode(node);
  return {
    enter(node, key) {
      if (node.kind === Kind.ARGUMENT) path.splice(0, path.length, node.name.value);
      else if (node.kind === Kind.VARIABLE_DEFINITION) path.push(node.variable.name.value);
      else if (node.kind === Kind.OBJECT_FIELD) path.push(node.name.value);
      else if (isItem(node, key)) path.push(Number(key));
    },
    leave(node, key) {
      if (node.kind === Kind.ARGUMENT || node.kind === Kind.VARIABLE_DEFINITION) path.length = 0;
      else if (node.kind === Kind.OBJECT_FIELD || isItem(node, key)) path.pop();
    },
  };
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

export interface CoercedVariables {
  errors: GraphQLError[];
  /** The values that graphql-js passes to resolvers, if there are no errors. */
  values: Record<string, unknown>;
}

/** Returns the errors of the variables of a valid operation. */
export function listVariableErrors(variables: Variables): GraphQLError[] {
  return runSteps(coerceVariables(variables)).errors;
}

/** Coerces the variables of a valid operation like graphql-js. A step coerces at most one item of a list. */
export function* coerceVariables({
  schema,
  document,
  operationName,
  variableValues,
}: Variables): Steps<CoercedVariables> {
  const errors: GraphQLError[] = [];
  const values: Record<string, unknown> = {};
  const coerced = { errors, values };
  for (const node of getOperationAST(document, operationName)?.variableDefinitions ?? []) {
    const coercion = coerceVariable(schema, node, variableValues ?? {});
    let step = coercion.next();
    for (; !step.done; step = coercion.next()) {
      if (errors.length === ERRORS_MAX) return coerced;
      if (step.value) errors.push(createVariableError(node, step.value));
      else yield;
    }
    if (step.value !== undefined) values[node.variable.name.value] = step.value;
  }
  return coerced;
}

function createVariableError(node: VariableDefinitionNode, issue: Issue): GraphQLError {
  const shownIssue = toProblemIssue(issue);
  const detail = `Variable ${shownIssue.name} is invalid: ${shownIssue.detail}`;
  const cause = new GraphQLError(detail, { nodes: node });
  return toGraphQLError('BAD_USER_INPUT', detail, { extra: { issues: [shownIssue] }, cause });
}

/** Returns undefined for an absent variable without a default. */
function* coerceVariable(
  schema: GraphQLSchema,
  { variable, type: typeNode, defaultValue }: VariableDefinitionNode,
  values: Readonly<Record<string, unknown>>,
): Coercion {
  const type = typeFromAST(schema, typeNode);
  if (!isInputType(type)) return undefined;
  const name = variable.name.value;
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined && defaultValue) return valueFromAST(defaultValue, type);
  if (value === undefined && !isNonNullType(type)) return undefined;
  if (value == null && isNonNullType(type)) {
    yield { kind: 'missing-value', path: [name], detail: `must have a value of type ${type}.` };
    return undefined;
  }
  return yield* coerceValue(type, value, [name]);
}
