/** Keys under which subscribers share messages: equal selections of an event by callers with equal rights. */
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
 * The key of the operation and of the variables below its root field, on which a message depends beside its event and
 * caller. Arguments of the root field are left out: they choose the events of a stream, not their content.
 */
export function createOperationKey(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): OperationKey {
  operations += 1;
  const number = operations;
  let names: string[] | undefined;
  return (variables) => {
    names ??= variablesBelowRoot(document, operation);
    // An absent variable has its default, a null one does not.
    const values = names.map((name) =>
      variables && Object.hasOwn(variables, name) ? [variables[name]] : [],
    );
    return `${number} ${JSON.stringify(values)}`;
  };
}

/** A key of everything that the rights of a caller depend on. */
export function viewerKey(viewer: Viewer): string {
  if (viewer.kind === 'END_USER') {
    const { id, projectId, integrationIds, permissions } = viewer;
    return `${projectId} ${id} ${integrationIds?.join() ?? '*'} ${permissions.join()}`;
  }
  const orgs = viewer.kind === 'BUILDER' ? viewer.orgIds : [viewer.orgId];
  return `${viewer.id} ${orgs.join()} ${viewer.scopes.join()}`;
}

function variablesBelowRoot(document: DocumentNode, operation: OperationDefinitionNode): string[] {
  // All variables of a fragment count, even if it contains the root field: less is shared then.
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
