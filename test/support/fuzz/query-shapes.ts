/**
 * The shapes of queries that a schema has: each list with everything that its items lead to, one level
 * deep. A new field or list is in them by itself.
 */
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Exclusive } from '../../../src/domain/paging/exclusive-filters.ts';

type Field = GraphQLField<unknown, unknown>;

/** An object type, or the interface of events, which stands for all of its types. */
export type ShapedType = GraphQLObjectType | GraphQLInterfaceType;

export interface ListShape {
  /** `Project.connections`. */
  name: string;
  parent: ShapedType;
  field: string;
  /** The arguments that are not of the page. */
  filters: readonly GraphQLArgument[];
  exclusive: Exclusive;
  item: ShapedType;
}

const PAGE_ARGS = ['first', 'after', 'last', 'before'];

/** Every Relay list of the schema, wherever it hangs. */
export function listShapes(schema: GraphQLSchema): ListShape[] {
  return shapedTypes(schema).flatMap((parent) =>
    fieldsOf(parent)
      .filter((field) => itemOf(field) !== null)
      .map((field) => ({
        name: `${parent.name}.${field.name}`,
        parent,
        field: field.name,
        filters: field.args.filter(({ name }) => !PAGE_ARGS.includes(name)),
        exclusive: (field.extensions.exclusive as Exclusive | undefined) ?? [],
        item: itemOf(field) as ShapedType,
      })),
  );
}

/** What has an id of its own. */
export function nodeTypes(schema: GraphQLSchema): ShapedType[] {
  return shapedTypes(schema).filter((type) =>
    type.getInterfaces().some(({ name }) => name === 'Node'),
  );
}

/** Node types that are rows of a table. Providers are declared in code. */
export function storedNodeTypes(schema: GraphQLSchema): ShapedType[] {
  return nodeTypes(schema).filter(({ name }) => name !== 'Provider');
}

/**
 * All that can be asked of an item without arguments: its own values, the values of all objects that it
 * leads to, and a page of so many items of each of its lists.
 */
export function selectionOf(type: ShapedType, size: number): string {
  const fields = fieldsOf(type).flatMap((field) => {
    const named = getNamedType(field.type);
    if (isLeafType(named)) return field.name;
    if (!isShaped(named)) return [];
    if (itemOf(field)) return `${field.name}(first: ${size}) { ${pageOf('__typename')} }`;
    return `${field.name} { ${valuesOf(named)} }`;
  });
  return fields.join('\n');
}

/** How many objects and lists an item of the type leads to. */
export function relationsOf(type: ShapedType): number {
  return fieldsOf(type).filter((field) => isShaped(getNamedType(field.type))).length;
}

/** A page with everything around its items. */
export function pageOf(selection: string): string {
  return `totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    nodes { ${selection} }`;
}

/** Values by which a list may be filtered, by the filter's name; all of an enum where it is left out. */
export type FilterValues = Record<string, readonly string[]>;

/** Each filter of the list with each of its values, alone and with those of the others. */
export function argumentsOf(
  { name, filters, exclusive }: ListShape,
  values: FilterValues,
): string[] {
  let all = [''];
  for (const filter of filters) {
    const given = values[filter.name] ?? enumValues(filter);
    if (!given) throw new Error(`${name} needs values to filter by ${filter.name}.`);
    all = all.flatMap((others) => [
      others,
      ...given.map((value) => `${others} ${filter.name}: ${value}`.trim()),
    ]);
  }
  return all.filter((args) => args !== '' && !isRefused(args, exclusive));
}

/** Whether the arguments hold several filters of which one at most may be given. */
function isRefused(args: string, exclusive: Exclusive): boolean {
  return exclusive.some(
    (names) => names.filter((name) => new RegExp(`(^| )${name}:`).test(args)).length > 1,
  );
}

function enumValues({ type }: GraphQLArgument): string[] | null {
  const named = getNamedType(type);
  return isEnumType(named) ? named.getValues().map(({ name }) => name) : null;
}

function valuesOf(type: ShapedType): string {
  const values = fieldsOf(type).filter(({ type }) => isLeafType(getNamedType(type)));
  return ['__typename', ...values.map(({ name }) => name)].join(' ');
}

function shapedTypes(schema: GraphQLSchema): ShapedType[] {
  const { Mutation, Subscription, ...types } = schema.getTypeMap();
  return Object.values(types).filter(
    (type): type is ShapedType =>
      isShaped(type) && !type.name.startsWith('__') && !type.name.endsWith('Payload'),
  );
}

function isShaped(type: unknown): type is ShapedType {
  if (isInterfaceType(type)) return type.name === EVENTS;
  return isObjectType(type) && !type.getInterfaces().some(({ name }) => name === EVENTS);
}

const EVENTS = 'NotificationEvent';

/** The fields that need no arguments. Look-ups need one of their keys. */
function fieldsOf(type: ShapedType): Field[] {
  return Object.values(type.getFields()).filter(
    ({ args, extensions }) =>
      !extensions.keys &&
      !args.some((arg) => isNonNullType(arg.type) && arg.defaultValue === undefined),
  );
}

/** The type of a list's items; null for what is no Relay list. */
function itemOf({ type }: Field): ShapedType | null {
  const connection = getNamedType(type);
  if (!isObjectType(connection)) return null;
  const { pageInfo, nodes } = connection.getFields();
  const item = pageInfo && nodes ? getNamedType(nodes.type) : null;
  return isShaped(item) ? item : null;
}
