/** Selections and arguments of fields, for tests that walk the schema. */
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';

/** Selects all fields of a type without required arguments, down to `depth` levels. */
export function selectFields(type: GraphQLObjectType, depth: number): string {
  const selections = Object.values(type.getFields()).flatMap((field) => {
    if (field.extensions.argumentSets || field.args.some((arg) => isNonNullType(arg.type)))
      return [];
    const namedType = getNamedType(field.type);
    if (isLeafType(namedType)) return [field.name];
    if (!isObjectType(namedType) || depth === 0) return [];
    return [`${field.name} { ${selectFields(namedType, depth - 1)} }`];
  });
  return [...selections, '__typename'].join(' ');
}

/** Returns the declaration and the use of one variable for each argument. */
export function declareVariables(args: readonly GraphQLArgument[]) {
  return {
    declared: args.length ? `(${args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ')})` : '',
    passed: args.length ? `(${args.map((arg) => `${arg.name}: $${arg.name}`).join(', ')})` : '',
  };
}

const PAGE_ARGUMENTS = ['first', 'last', 'after', 'before'];

export function omitPageArguments(args: readonly GraphQLArgument[]): GraphQLArgument[] {
  return args.filter((arg) => !PAGE_ARGUMENTS.includes(arg.name));
}

/**
 * Returns the sets of arguments to pass together: all arguments of a field, or each set that a look-up accepts.
 */
export function listArgumentSets({
  args,
  extensions,
}: Pick<GraphQLField<unknown, unknown>, 'args' | 'extensions'>): GraphQLArgument[][] {
  const sets = extensions.argumentSets as readonly (readonly string[])[] | undefined;
  if (!sets) return [omitPageArguments(args)];
  return sets.map((names) =>
    args.filter(({ name }) => names.includes(name) || names.includes(`${name}?`)),
  );
}
