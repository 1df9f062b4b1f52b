/** What subscribers share: equal selections of an event by the same caller get the same message. */
import {
  type ASTNode,
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import type { Viewer } from '../../domain/viewer/viewer.ts';

export type OperationKey = (variables: Record<string, unknown> | null | undefined) => string;

let operations = 0;

/**
 * What a message depends on beside its event and its caller: the operation, and the variables below the root
 * field. Where a stream begins and what it leaves out are arguments of the root field, and don't matter.
 */
export function operationKey(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): OperationKey {
  operations += 1;
  const number = operations;
  let names: string[] | undefined;
  return (variables) => {
    names ??= variablesBelowRoot(document, operation);
    // A variable that is left out has its default; one that is null has none.
    const given = variables ?? {};
    const values = names.map((name) => (Object.hasOwn(given, name) ? [given[name]] : []));
    return `${number} ${JSON.stringify(values)}`;
  };
}

/** All that a caller's rights depend on. */
export function viewerKey(viewer: Viewer): string {
  if (viewer.kind === 'END_USER') {
    const { id, projectId, integrationIds, permissions } = viewer;
    return `${projectId} ${id} ${integrationIds?.join() ?? '*'} ${permissions.join()}`;
  }
  const orgs = viewer.kind === 'BUILDER' ? viewer.orgIds : [viewer.orgId];
  return `${viewer.id} ${orgs.join()} ${viewer.scopes.join()}`;
}

function variablesBelowRoot(document: DocumentNode, operation: OperationDefinitionNode): string[] {
  // All variables of a fragment count, although the root field may be in it: then less is shared.
  const below = operation.selectionSet.selections.flatMap((root): ASTNode[] =>
    root.kind === Kind.FIELD
      ? [...(root.directives ?? []), ...(root.selectionSet ? [root.selectionSet] : [])]
      : [root],
  );
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  const names = new Set<string>();
  for (const node of [...below, ...fragments]) {
    visit(node, { Variable: ({ name }) => void names.add(name.value) });
  }
  return [...names].sort();
}
