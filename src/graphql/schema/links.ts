/** Look-ahead: which relations of a list's items a query selects. It only saves statements, and may be incomplete. */
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  getNamedType,
  isObjectType,
  Kind,
} from 'graphql';
import type { LinkTo } from '../../domain/scope.ts';

/** By the list's node in a cached document, so there are only so many. */
const KNOWN = new WeakMap<FieldNode, readonly LinkTo[]>();

/** The links that the query selects on every item of the list that is being resolved. */
export function linksOf(info: GraphQLResolveInfo): readonly LinkTo[] {
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
  const item = typeOf(fieldOf(list, 'nodes'));
  const page = fieldsIn(fieldNodes, fragments);
  const edges = fieldsIn(page.get('edges') ?? [], fragments);
  const items = [...(page.get('nodes') ?? []), ...(edges.get('node') ?? [])];
  // Sorted, because each different text of a statement is prepared apart.
  const names = [...fieldsIn(items, fragments).keys()].sort();
  return names.flatMap((name) => {
    const link = fieldOf(item, name)?.extensions.link as LinkTo | undefined;
    return link ? [link] : [];
  });
}

/** The fields in all of these by their names, without those that a directive may leave out. */
function fieldsIn(nodes: readonly FieldNode[], fragments: GraphQLResolveInfo['fragments']) {
  const fields = new Map<string, FieldNode[]>();
  const seen = new Set<string>();
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  for (const { selections } of sets) {
    for (const selection of selections) {
      if (selection.directives?.length) continue;
      if (selection.kind === Kind.INLINE_FRAGMENT) sets.push(selection.selectionSet);
      else if (selection.kind === Kind.FIELD) {
        const name = selection.name.value;
        fields.set(name, [...(fields.get(name) ?? []), selection]);
      } else if (!seen.has(selection.name.value)) {
        seen.add(selection.name.value);
        const fragment = fragments[selection.name.value];
        if (fragment) sets.push(fragment.selectionSet);
      }
    }
  }
  return fields;
}

function fieldOf(
  type: GraphQLNamedType | undefined,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  return isObjectType(type) ? type.getFields()[name] : undefined;
}

function typeOf(field: GraphQLField<unknown, unknown> | undefined): GraphQLNamedType | undefined {
  return field && getNamedType(field.type);
}
