/** Adds Relay connections to types. A declared read returns the page for the parent, the page arguments and the filters. */
import type { InputShapeFromFields, InterfaceRef, ObjectRef } from '@pothos/core';
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
import type { z } from 'zod';
import type { Call } from '../../domain/access/call.ts';
import type { Read } from '../../domain/access/declared-read.ts';
import type { ExclusiveFilters } from '../../domain/access/paging/exclusive-filters.ts';
import type { Page, PageArgs } from '../../domain/access/paging/page.ts';
import type { LinkTo } from '../../domain/access/scope.ts';
import type { Context } from '../execution/context.ts';
import { describeField, type FieldDeclaration, needsOwnScope } from './fields.ts';
import { type ArgRefs, createArgs } from './inputs.ts';
import { builder, type Types } from './schema-builder.ts';
import { getConnection } from './types.ts';

type TypeRef<T> = ObjectRef<Types, T> | InterfaceRef<Types, T>;
type ListResult<N> = Promise<Page<N>> | Page<N>;
type Args<F extends z.ZodObject> = InputShapeFromFields<ArgRefs<F>> & PageArgs;

interface ListOptions<F> {
  filters?: F;
  /** Filters that a document must not combine. */
  exclusive?: ExclusiveFilters;
}

/** Adds a list to a type: `addList(Project, 'topics', Topic, listTopics, { filters: searchFilters })`. */
export function addList<
  P,
  N extends object,
  F extends z.ZodObject = z.ZodObject<Record<never, never>>,
>(
  parent: TypeRef<P>,
  name: string,
  type: TypeRef<N>,
  list: Read<[parent: P, args: Args<F>], ListResult<N>>,
  { filters, exclusive = [] }: ListOptions<F> = {},
): void {
  const defineField = (t: FieldBuilder<P>) =>
    defineList(t, type, {
      parentName: parent.name,
      declaration: list,
      args: filters && createArgs(t.arg, filters),
      exclusive,
      run: (row: P, args: Args<F>, call) => list(call, row, args),
    });
  if (parent.kind === 'Interface')
    builder.interfaceField(parent, name as never, defineField as never);
  else builder.objectField(parent as ObjectRef<Types, P>, name as never, defineField as never);
}

/** Adds a list of all objects that the caller may see. The read receives only the page arguments. */
export function addViewerList<P, N extends object>(
  parent: ObjectRef<Types, P> | 'Query',
  name: string,
  type: TypeRef<N>,
  list: Read<[args: PageArgs], ListResult<N>>,
): void {
  const defineField = (t: FieldBuilder<P>) =>
    defineList(t, type, {
      parentName: parent === 'Query' ? parent : parent.name,
      declaration: list,
      exclusive: [],
      run: (_parent: P, args: PageArgs, call) => list(call, args),
    });
  if (parent === 'Query') builder.queryField(name, defineField as never);
  else builder.objectField(parent, name as never, defineField as never);
}

type FieldBuilder<P> = PothosSchemaTypes.RootFieldBuilder<Types, P>;

interface ListDefinition<P, A, N> {
  parentName: string;
  declaration: FieldDeclaration;
  args?: unknown;
  exclusive: ExclusiveFilters;
  run(parent: P, args: A, call: Call): ListResult<N>;
}

function defineList<P, N extends object, A extends PageArgs>(
  t: FieldBuilder<P>,
  type: TypeRef<N>,
  { parentName, declaration, args, exclusive, run }: ListDefinition<P, A, N>,
) {
  const { extensions, ...options } = describeField(declaration);
  const field = {
    ...options,
    extensions: { ...extensions, exclusive },
    nullable: needsOwnScope(parentName, declaration),
    type,
    args,
    validate: { refine: ONE_DIRECTION },
    resolve: (parent: P, input: A, { call }: Context, info: GraphQLResolveInfo) =>
      run(parent, { ...input, links: getLinks(info) }, call),
  };
  // Pothos types the members of a connection as values. A Page has functions and promises, which GraphQL resolves too.
  return t.connection(field as never, getConnection(type) as never);
}

/** Validates the arguments together, after each was validated by its own schema. */
const ONE_DIRECTION = [
  ({ first, last }: PageArgs) => first == null || last == null,
  { message: 'must not be combined with first.', path: ['last'] },
];

/** The links of each list in a parsed document. An entry lives as long as the document is cached. */
const linksByNode = new WeakMap<FieldNode, readonly LinkTo[]>();

/**
 * Returns the links that the query selects on every item of the list. The result only saves statements, so it may be
 * incomplete.
 */
function getLinks(info: GraphQLResolveInfo): readonly LinkTo[] {
  const [node] = info.fieldNodes as [FieldNode];
  let links = linksByNode.get(node);
  if (!links) {
    links = listLinks(info);
    linksByNode.set(node, links);
  }
  return links;
}

function listLinks({ fieldNodes, returnType, fragments }: GraphQLResolveInfo): LinkTo[] {
  const connectionType = getNamedType(returnType);
  const itemType = findType(findField(connectionType, 'nodes'));
  const page = groupFieldsByName(fieldNodes, fragments);
  const edges = groupFieldsByName(page.get('edges') ?? [], fragments);
  const items = [...(page.get('nodes') ?? []), ...(edges.get('node') ?? [])];
  // Sorted, because each distinct statement text is prepared separately.
  const names = [...groupFieldsByName(items, fragments).keys()].sort();
  return names.flatMap((name) => {
    const link = findField(itemType, name)?.extensions.link as LinkTo | undefined;
    return link ? [link] : [];
  });
}

/** Groups the fields of the nodes by name. Omits fields that a directive may skip. */
function groupFieldsByName(
  nodes: readonly FieldNode[],
  fragments: GraphQLResolveInfo['fragments'],
) {
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
