/** Fields that many types share. */
import type {
  FieldRef,
  InputFieldMap,
  InputShapeFromFields,
  InterfaceRef,
  ObjectRef,
} from '@pothos/core';
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
} from 'graphql';
import type { Call } from '../../domain/call.ts';
import type { Read } from '../../domain/declared-read.ts';
import type { Exclusive } from '../../domain/paging/exclusive-filters.ts';
import type { Page, PageArgs } from '../../domain/paging/page.ts';
import {
  byId,
  type LinkTo,
  type PageRow,
  type ProjectTable,
  type Row,
} from '../../domain/scope.ts';
import type { Context } from '../execution/context.ts';
import { needing } from './needing.ts';
import type { Types } from './schema-builder.ts';
import { Project } from './types.ts';

/**
 * Finds the relations of a list's items that a query selects. This look-ahead only saves statements, and may be
 * incomplete.
 */

/** Cached by the list's node in a document, so the cache is as bounded as that of documents. */
const KNOWN = new WeakMap<FieldNode, readonly LinkTo[]>();

/** Returns the links that the query selects on every item of the current list. */
function getLinks(info: GraphQLResolveInfo): readonly LinkTo[] {
  const [place] = info.fieldNodes as [FieldNode];
  let links = KNOWN.get(place);
  if (!links) {
    links = findLinks(info);
    KNOWN.set(place, links);
  }
  return links;
}

function findLinks({ fieldNodes, returnType, fragments }: GraphQLResolveInfo): LinkTo[] {
  const list = getNamedType(returnType);
  const item = findType(findField(list, 'nodes'));
  const page = fieldsIn(fieldNodes, fragments);
  const edges = fieldsIn(page.get('edges') ?? [], fragments);
  const items = [...(page.get('nodes') ?? []), ...(edges.get('node') ?? [])];
  // Sorted, because each distinct statement text is prepared separately.
  const names = [...fieldsIn(items, fragments).keys()].sort();
  return names.flatMap((name) => {
    const link = findField(item, name)?.extensions.link as LinkTo | undefined;
    return link ? [link] : [];
  });
}

/** Returns the fields of all nodes by name, without those that a directive may skip. */
function fieldsIn(nodes: readonly FieldNode[], fragments: GraphQLResolveInfo['fragments']) {
  const fields = new Map<string, FieldNode[]>();
  const fragmentNames = new Set<string>();
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  for (const { selections } of sets) {
    for (const selection of selections) {
      if (selection.directives?.length) continue;
      if (selection.kind === Kind.INLINE_FRAGMENT) sets.push(selection.selectionSet);
      else if (selection.kind === Kind.FIELD) {
        const name = selection.name.value;
        fields.set(name, [...(fields.get(name) ?? []), selection]);
      } else if (!fragmentNames.has(selection.name.value)) {
        fragmentNames.add(selection.name.value);
        const fragment = fragments[selection.name.value];
        if (fragment) sets.push(fragment.selectionSet);
      }
    }
  }
  return fields;
}

function findField(
  type: GraphQLNamedType | undefined,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}

function findType(field: GraphQLField<unknown, unknown> | undefined): GraphQLNamedType | undefined {
  return field && getNamedType(field.type);
}

/** Builds fields of object types and of interfaces. */
type FieldBuilder<Parent> = Omit<
  PothosSchemaTypes.FieldBuilder<Types, Parent, 'Object'>,
  'kind' | 'graphqlKind'
>;

/** Casts the builder for columns that many tables have. Pothos can't infer them for a generic type. */
function withColumns<Columns, P extends Columns>(t: FieldBuilder<P>): FieldBuilder<Columns> {
  return t as never;
}

interface Created {
  id: string;
  createTime: Date;
}

interface Updated {
  updateTime: Date | null;
}

/** Defines the fields `id` and `createTime`. */
export function createdFields<P extends Created>(t: FieldBuilder<P>) {
  const fields = withColumns<Created, P>(t);
  return {
    id: fields.exposeID('id', { description: 'Unique in the whole service.' }),
    createTime: fields.expose('createTime', {
      type: 'DateTime',
      description: 'When it was created.',
    }),
  };
}

export function updateTimeField<P extends Updated>(t: FieldBuilder<P>) {
  return withColumns<Updated, P>(t).expose('updateTime', {
    type: 'DateTime',
    nullable: true,
    description: 'When it was last changed. Null if never.',
  });
}

export function projectField<P extends { projectId: string }>(t: FieldBuilder<P>) {
  return t.field({
    type: Project,
    description: 'The project that it belongs to.',
    resolve: ({ projectId }, _args, { get }) => get(byId('Project'), projectId),
  });
}

interface LinkOptions<T extends ProjectTable, C> {
  type: ObjectRef<Types, Row<T>> | InterfaceRef<Types, Row<T>>;
  table: T;
  /** The parent's column with the id. */
  column: C;
  description: string;
}

/** The parent's columns with ids. */
type IdColumn<P, V> = { [K in keyof P & string]: P[K] extends V ? K : never }[keyof P & string];

/** Defines a relation that may be null: it is empty, or its object was deleted. */
export function linkField<P, T extends ProjectTable>(
  t: FieldBuilder<P>,
  { type, table, column, description }: LinkOptions<T, IdColumn<P, string | null>>,
) {
  return t.field({
    type,
    nullable: true,
    description,
    extensions: { link: { table, column } satisfies LinkTo },
    resolve: (parent, _args, { find }) => {
      const id = parent[column] as string | null;
      return (id === null ? null : (linkedRow(parent, column) ?? find(byId(table), id))) as never;
    },
  });
}

/** Defines a relation that is never null. */
export function sureLinkField<P, T extends ProjectTable>(
  t: FieldBuilder<P>,
  { type, table, column, description }: LinkOptions<T, IdColumn<P, string>>,
) {
  return t.field({
    type,
    description,
    extensions: { link: { table, column } satisfies LinkTo },
    resolve: (parent, _args, { get }) =>
      (linkedRow(parent, column) ?? get(byId(table), parent[column] as string)) as never,
  });
}

/** Returns the relation that was read with the parent's page. Undefined if the page was read without it. */
function linkedRow(parent: unknown, column: string): object | null | undefined {
  return (parent as PageRow).linked?.[column];
}

type DeclaredRead = Pick<Read<never, unknown>, 'needs' | 'description'>;
type Lists<N> = readonly [ObjectRef<Types, N> | InterfaceRef<Types, N>, unknown];
type Listed<N> = Promise<Page<N>> | Page<N>;

interface ListOptions<A, L> {
  /** Default: the description of the read. */
  description?: string;
  /** The filters of the list. */
  args?: A;
  /** Filters that a document must not combine. */
  exclusive?: Exclusive;
  list: L;
}

/** Defines a Relay list. One declared read receives the parent, the page arguments and the filters. */
export function listField<P, N extends object, A extends InputFieldMap = Record<never, never>>(
  t: PothosSchemaTypes.RootFieldBuilder<Types, P>,
  lists: Lists<N>,
  options: ListOptions<A, Read<[parent: P, args: InputShapeFromFields<A> & PageArgs], Listed<N>>>,
): FieldRef<Types, unknown> {
  const { list } = options;
  return pagedField(
    t,
    lists,
    options,
    (parent: P, args: InputShapeFromFields<A> & PageArgs, call) => list(call, parent, args),
  );
}

/** Defines a list of the root, which contains what the caller may see. */
export function rootListField<P, N extends object>(
  t: PothosSchemaTypes.RootFieldBuilder<Types, P>,
  lists: Lists<N>,
  options: ListOptions<undefined, Read<[args: PageArgs], Listed<N>>>,
): FieldRef<Types, unknown> {
  const { list } = options;
  return pagedField(t, lists, options, (_parent: P, args: PageArgs, call) => list(call, args));
}

/** Runs after `first` and `last` were validated separately. */
const ONE_DIRECTION = [
  ({ first, last }: PageArgs) => first == null || last == null,
  { message: 'must not be combined with first.', path: ['last'] },
];

function pagedField<P, N extends object, A extends PageArgs>(
  t: PothosSchemaTypes.RootFieldBuilder<Types, P>,
  [type, connection]: Lists<N>,
  { list, args, exclusive = [] }: ListOptions<unknown, DeclaredRead>,
  run: (parent: P, args: A, call: Call) => Listed<N>,
): FieldRef<Types, unknown> {
  const { extensions, ...described } = needing(list);
  const field = {
    ...described,
    extensions: { ...extensions, exclusive },
    type,
    args,
    validate: { refine: ONE_DIRECTION },
    resolve: (parent: P, given: A, { call }: Context, info: GraphQLResolveInfo) =>
      run(parent, { ...given, links: getLinks(info) }, call),
  };
  // A Page is lazy and Pothos' own type of a connection is not. GraphQL resolves both in the same way.
  return t.connection(field as never, connection as never) as never;
}
