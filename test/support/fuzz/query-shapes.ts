/**
 * Derives queries from a schema: each list, with all fields and relations of its items, one level deep. New
 * fields and lists are included automatically.
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
import type { ExclusiveFilters } from '../../../src/domain/access/paging/exclusive-filters.ts';

type Field = GraphQLField<unknown, unknown>;

/** An object type, or the interface of events, which stands for all types of events. */
type ShapedType = GraphQLObjectType | GraphQLInterfaceType;

export interface ListShape {
  /** The parent type and the field, such as `Project.connections`. */
  name: string;
  parent: ShapedType;
  field: string;
  /** All arguments except those of the page. */
  filters: readonly GraphQLArgument[];
  exclusive: ExclusiveFilters;
  item: ShapedType;
}

/** Fields that send a request to the provider for each item, which reads the connection's credentials. */
const READ_FROM_ACCOUNTS = ['Installation.contract'];

const EVENT_INTERFACE = 'NotificationEvent';

const PAGE_ARGS = ['first', 'after', 'last', 'before'];

/** Returns every Relay list of the schema. */
export function listShapes(schema: GraphQLSchema): ListShape[] {
  return listShapedTypes(schema).flatMap((parent) =>
    listFields(parent)
      .filter((field) => findItemType(field) !== null)
      .map((field) => ({
        name: `${parent.name}.${field.name}`,
        parent,
        field: field.name,
        filters: field.args.filter(({ name }) => !PAGE_ARGS.includes(name)),
        exclusive: (field.extensions.exclusive as ExclusiveFilters | undefined) ?? [],
        item: findItemType(field) as ShapedType,
      })),
  );
}

/** Returns the types that implement `Node`. */
export function listNodeTypes(schema: GraphQLSchema): ShapedType[] {
  return listShapedTypes(schema).filter((type) =>
    type.getInterfaces().some(({ name }) => name === 'Node'),
  );
}

/** Returns the node types that are rows of a table. Providers are declared in code. */
export function listStoredNodeTypes(schema: GraphQLSchema): ShapedType[] {
  return listNodeTypes(schema).filter(({ name }) => name !== 'Provider');
}

/**
 * Selects all fields without arguments: scalars, the scalars of all related objects, and a page of `size`
 * items of each list.
 */
export function selectItem(type: ShapedType, size: number): string {
  const fields = listFields(type).flatMap((field) => {
    const namedType = getNamedType(field.type);
    if (isLeafType(namedType)) return field.name;
    if (!isShaped(namedType) || READ_FROM_ACCOUNTS.includes(`${type.name}.${field.name}`))
      return [];
    if (findItemType(field)) return `${field.name}(first: ${size}) { ${selectPage('__typename')} }`;
    return `${field.name} { ${selectScalars(namedType)} }`;
  });
  return fields.join('\n');
}

/** Returns the number of objects and lists that are related to an item of the type. */
export function countRelations(type: ShapedType): number {
  return listFields(type).filter((field) => isShaped(getNamedType(field.type))).length;
}

/** Selects a page with its count and its page info. */
export function selectPage(selection: string): string {
  return `totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    nodes { ${selection} }`;
}

/** Values of a list's filters, by the filter's name. A filter by an enum takes all its values by default. */
type FilterValues = Record<string, readonly string[]>;

/** Returns each filter of the list with each of its values, alone and combined with other filters. */
export function listFilterArguments(
  { name, filters, exclusive }: ListShape,
  values: FilterValues,
): string[] {
  let combinations = [''];
  for (const filter of filters) {
    const filterValues = values[filter.name] ?? listEnumValues(filter);
    if (!filterValues) throw new Error(`${name} needs values to filter by ${filter.name}.`);
    combinations = combinations.flatMap((otherArguments) => [
      otherArguments,
      ...filterValues.map((value) => `${otherArguments} ${filter.name}: ${value}`.trim()),
    ]);
  }
  return combinations.filter((args) => args !== '' && !violatesExclusion(args, exclusive));
}

/** True if the arguments contain several filters of which only one is allowed. */
function violatesExclusion(args: string, exclusive: ExclusiveFilters): boolean {
  return exclusive.some(
    (names) => names.filter((name) => new RegExp(`(^| )${name}:`).test(args)).length > 1,
  );
}

function listEnumValues({ type }: GraphQLArgument): string[] | null {
  const namedType = getNamedType(type);
  return isEnumType(namedType) ? namedType.getValues().map(({ name }) => name) : null;
}

function selectScalars(type: ShapedType): string {
  const values = listFields(type).filter(({ type }) => isLeafType(getNamedType(type)));
  return ['__typename', ...values.map(({ name }) => name)].join(' ');
}

function listShapedTypes(schema: GraphQLSchema): ShapedType[] {
  const { Mutation, Subscription, ...types } = schema.getTypeMap();
  return Object.values(types).filter(
    (type): type is ShapedType =>
      isShaped(type) && !type.name.startsWith('__') && !type.name.endsWith('Payload'),
  );
}

function isShaped(type: unknown): type is ShapedType {
  if (isInterfaceType(type)) return type.name === EVENT_INTERFACE;
  return isObjectType(type) && !type.getInterfaces().some(({ name }) => name === EVENT_INTERFACE);
}

/**
 * Returns the fields without required arguments. Fields that look up an item by one of several keys are
 * omitted.
 */
function listFields(type: ShapedType): Field[] {
  return Object.values(type.getFields()).filter(
    ({ args, extensions }) =>
      !extensions.argumentSets &&
      !args.some((arg) => isNonNullType(arg.type) && arg.defaultValue === undefined),
  );
}

/** Returns the type of a list's items, or null if the field is no Relay list. */
function findItemType({ type }: Field): ShapedType | null {
  const connection = getNamedType(type);
  if (!isObjectType(connection)) return null;
  const { pageInfo, nodes } = connection.getFields();
  const item = pageInfo && nodes ? getNamedType(nodes.type) : null;
  return isShaped(item) ? item : null;
}
