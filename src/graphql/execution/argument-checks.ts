/**
 * Checks the arguments of all fields of an operation before the first field runs. It omits fields that a directive
 * skips, and fields whose caller lacks their scope, because such a caller must not learn whether its input is valid.
 */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  GraphQLError,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  getVariableValues,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type NamedTypeNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { z } from 'zod';
import { meetsNeed, type Need } from '../../domain/access/viewer/needs.ts';
import type { Viewer } from '../../domain/access/viewer/viewer.ts';
import { requireNoIssues } from '../../domain/base/issues.ts';
import { parseInput } from '../../domain/base/parse-input.ts';
import { listUnstorable } from '../../domain/base/storable-input.ts';
import { DomainError } from '../../kernel/errors.ts';
import { isLongValue, runSteps, runStepsInLoopTurns, type Steps } from '../../work/steps.ts';
import { coerceVariables } from './input-values.ts';
import { cutLongLists } from './long-lists.ts';
import type { OperationArgs } from './operation-context.ts';

type Field = GraphQLField<unknown, unknown>;
type Args = Record<string, unknown>;

/**
 * `extensions.parseArguments` of a field: validates the coerced arguments and returns the input of its function. Throws
 * BAD_USER_INPUT with all issues.
 */
export type ParseArguments = (args: Args, viewer: Viewer) => Steps<unknown>;

/** A rule between the arguments of a field, in the form of zod's `refine`. */
type ArgumentRule = Parameters<z.ZodObject['refine']>;

/**
 * Returns an error for each field with wrong arguments. Stores the parsed inputs of the other fields in the context. Long
 * variables are coerced and validated in several turns of the event loop.
 */
export function listArgumentErrors(args: OperationArgs): GraphQLError[] | Promise<GraphQLError[]> {
  const { operation, viewer } = args.contextValue;
  if (!operation || !viewer) return [];
  const { variableDefinitions = [] } = operation;
  const variables = args.variableValues ?? {};
  cutLongLists(args.schema, variableDefinitions, variables);
  if (isLongValue(variables)) return runStepsInLoopTurns(checkLongVariables(args));
  // Undefined if variables are invalid, which the execution reports.
  const { coerced } = getVariableValues(args.schema, variableDefinitions, variables);
  return coerced ? runSteps(checkArguments(args, coerced)) : [];
}

/** Also replaces the variables of a mutation with coerced ones, so that the execution does not coerce them in one turn. */
function* checkLongVariables(args: OperationArgs): Steps<GraphQLError[]> {
  const { errors, values } = yield* coerceVariables(args);
  args.contextValue.hasCoercedVariables = true;
  if (errors.length > 0) return errors;
  const argumentErrors = yield* checkArguments(args, values);
  if (args.contextValue.operation?.operation === 'mutation') keepCoerced(args, values);
  yield;
  return argumentErrors;
}

const ANY_JSON: NamedTypeNode = {
  kind: Kind.NAMED_TYPE,
  name: { kind: Kind.NAME, value: 'JSON' },
};

/** Gives the variables the type JSON, whose coercion returns each value as it is. */
function keepCoerced(args: OperationArgs, values: Args): void {
  // The schema of a project has this type only if an object needs it. Its mutations have short inputs.
  if (!args.schema.getType(ANY_JSON.name.value)) return;
  const variableDefinitions = Object.keys(values).map((name) => ({
    kind: Kind.VARIABLE_DEFINITION as const,
    variable: { kind: Kind.VARIABLE as const, name: { kind: Kind.NAME as const, value: name } },
    type: ANY_JSON,
  }));
  const definitions = args.document.definitions.map((definition) =>
    definition === args.contextValue.operation
      ? { ...definition, variableDefinitions }
      : definition,
  );
  args.document = { ...args.document, definitions };
  args.variableValues = values;
}

function* checkArguments(
  { schema, contextValue }: OperationArgs,
  variables: Args,
): Steps<GraphQLError[]> {
  const { operation, document, viewer } = contextValue;
  const root = operation && schema.getRootType(operation.operation);
  if (!operation || !document || !root || !viewer) return [];
  const fragments = document.definitions.filter(
    (definition) => definition.kind === Kind.FRAGMENT_DEFINITION,
  );
  const check = new ArgumentCheck({ schema, variables, viewer, fragments });
  yield* check.visit(operation.selectionSet, root);
  contextValue.inputs = check.inputs;
  return check.errors;
}

interface CheckParts {
  schema: GraphQLSchema;
  variables: Args;
  viewer: Viewer;
  fragments: readonly FragmentDefinitionNode[];
}

class ArgumentCheck {
  readonly errors: GraphQLError[] = [];
  readonly inputs = new Map<FieldNode, unknown>();
  readonly #parts: CheckParts;
  readonly #unvisitedFragments: Map<string, FragmentDefinitionNode>;

  constructor(parts: CheckParts) {
    this.#parts = parts;
    this.#unvisitedFragments = new Map(parts.fragments.map((node) => [node.name.value, node]));
  }

  *visit({ selections }: SelectionSetNode, type: GraphQLCompositeType): Steps<void> {
    for (const node of selections) {
      if (this.#isSkipped(node) || hasNothingToCheck(node, type)) continue;
      if (node.kind === Kind.FIELD) yield* this.#visitField(node, type);
      else if (node.kind === Kind.INLINE_FRAGMENT) {
        const fragmentType = this.#findType(node.typeCondition?.name.value) ?? type;
        yield* this.visit(node.selectionSet, fragmentType);
      } else yield* this.#visitFragment(node.name.value, type);
    }
  }

  /** Visits each fragment once, so that the check takes linear time. */
  *#visitFragment(name: string, parentType: GraphQLCompositeType): Steps<void> {
    const fragment = this.#unvisitedFragments.get(name);
    if (!fragment) return;
    this.#unvisitedFragments.delete(name);
    const type = this.#findType(fragment.typeCondition.name.value) ?? parentType;
    yield* this.visit(fragment.selectionSet, type);
  }

  *#visitField(node: FieldNode, parentType: GraphQLCompositeType): Steps<void> {
    const field = findField(parentType, node.name.value);
    if (!field) return;
    const need = (field.extensions.needs as Need | undefined) ?? 'nothing';
    if (!meetsNeed(this.#parts.viewer, need)) return;
    if (field.args.length > 0) yield* this.#checkArguments(node, field);
    const type = getNamedType(field.type);
    if (node.selectionSet && isCompositeType(type)) yield* this.visit(node.selectionSet, type);
  }

  *#checkArguments(node: FieldNode, field: Field): Steps<void> {
    try {
      const args = getArgumentValues(field, node, this.#parts.variables);
      this.inputs.set(node, yield* parseArguments(field, args, this.#parts.viewer));
    } catch (error) {
      if (error instanceof GraphQLError) this.errors.push(error);
      else if (error instanceof DomainError) this.errors.push(toFieldError(node, error));
      else throw error;
    }
  }

  #findType(name: string | undefined): GraphQLCompositeType | undefined {
    const type = name === undefined ? undefined : this.#parts.schema.getType(name);
    return isCompositeType(type) ? type : undefined;
  }

  #isSkipped(node: SelectionNode): boolean {
    if (!node.directives?.length) return false;
    const { variables } = this.#parts;
    return (
      getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true ||
      getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if === false
    );
  }
}

function findField(type: GraphQLCompositeType, name: string): Field | undefined {
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}

/** True for leaves without arguments, which are most fields of a document. */
function hasNothingToCheck(node: SelectionNode, parentType: GraphQLCompositeType): boolean {
  if (node.kind !== Kind.FIELD || node.selectionSet) return false;
  return !findField(parentType, node.name.value)?.args.length;
}

function toFieldError(node: FieldNode, error: DomainError): GraphQLError {
  return new GraphQLError(error.message, { nodes: node, originalError: error });
}

/** Returns the input of the field's function. Undefined if the field declares no `parseArguments`. */
function* parseArguments(field: Field, args: Args, viewer: Viewer): Steps<unknown> {
  requireNoIssues(listUnstorable(args));
  yield;
  const parse = field.extensions.parseArguments as ParseArguments | undefined;
  if (parse) return yield* parse(args, viewer);
  parseInput(getArgumentSchema(field), args);
  return undefined;
}

const schemas = new WeakMap<Field, z.ZodType>();

/** Returns the schema that the zod plugin validates when the field runs. */
function getArgumentSchema(field: Field): z.ZodType {
  const known = schemas.get(field);
  if (known) return known;
  const { argumentNames = [], argumentRule } = field.extensions;
  const validators = new Map(
    field.args.map(({ name, extensions }) => [name, extensions.validator as z.ZodType | undefined]),
  );
  // Issues are reported in the declared order of the arguments. The schema sorts them by name.
  const members = (argumentNames as readonly string[]).flatMap((name) => {
    const validator = validators.get(name);
    return validator ? [[name, validator] as const] : [];
  });
  const object = z.looseObject(Object.fromEntries(members));
  const rule = argumentRule as ArgumentRule | undefined;
  const schema = rule ? object.refine(...rule) : object;
  schemas.set(field, schema);
  return schema;
}
