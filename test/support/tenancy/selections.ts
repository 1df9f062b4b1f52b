/** Selections and arguments of fields, for walks over the schema. */
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';

/** All that can be read of a type without arguments, so many levels deep. */
export function leaves(type: GraphQLObjectType, depth: number): string {
  const selected = Object.values(type.getFields()).flatMap((field) => {
    if (field.extensions.keys || field.args.some((arg) => isNonNullType(arg.type))) return [];
    const named = getNamedType(field.type);
    if (isLeafType(named)) return [field.name];
    if (!isObjectType(named) || depth === 0) return [];
    return [`${field.name} { ${leaves(named, depth - 1)} }`];
  });
  return [...selected, '__typename'].join(' ');
}

/** How an operation declares and passes its variables: one for each argument. */
export function variablesOf(args: readonly GraphQLArgument[]) {
  return {
    declared: args.length ? `(${args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ')})` : '',
    passed: args.length ? `(${args.map((arg) => `${arg.name}: $${arg.name}`).join(', ')})` : '',
  };
}

const OF_PAGES = ['first', 'last', 'after', 'before'];

export function withoutPages(args: readonly GraphQLArgument[]): GraphQLArgument[] {
  return args.filter((arg) => !OF_PAGES.includes(arg.name));
}

/** The arguments to pass together: all of a field, or each combination that names the object of a look-up. */
export function argumentSets({
  args,
  extensions,
}: Pick<GraphQLField<unknown, unknown>, 'args' | 'extensions'>): GraphQLArgument[][] {
  const keys = extensions.keys as readonly (readonly string[])[] | undefined;
  if (!keys) return [withoutPages(args)];
  return keys.map((key) =>
    args.filter(({ name }) => key.includes(name) || key.includes(`${name}?`)),
  );
}
