/** Creates keys of shared results. Subscribers with equal keys have equal selections, variables and rights. */
import {
  type ASTVisitor,
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import type { Viewer } from '../../domain/viewer/viewer.ts';
import { cacheByOperation } from './operation-cache.ts';

export interface SharedOperation {
  number: number;
  /** The variables on which a message depends. */
  variables: readonly string[];
}

let lastNumber = 0;

/** Returns the parts of an operation's keys that are equal for all its subscribers. */
export const getSharedOperation = cacheByOperation(({ document, operation }): SharedOperation => {
  lastNumber += 1;
  return { number: lastNumber, variables: listVariablesBelowRoot(document, operation) };
});

/**
 * Lists the variables of an operation, except for those in arguments of the root field, which select the events of a
 * stream and not their content.
 */
function listVariablesBelowRoot(
  { definitions }: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
): string[] {
  const names = new Set<string>();
  const visitor: ASTVisitor = { Variable: ({ name }) => void names.add(name.value) };
  for (const root of selectionSet.selections) {
    visit(root.kind === Kind.FIELD ? { ...root, arguments: [] } : root, visitor);
  }
  // A fragment with the root field adds its arguments' variables, which only reduces sharing.
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) visit(definition, visitor);
  }
  return [...names];
}

export function createShareKey(
  { number, variables }: SharedOperation,
  values: Record<string, unknown>,
  viewer: Viewer,
): string {
  // An absent variable has its default value, and a null variable does not.
  const usedValues = variables.map((name) => (Object.hasOwn(values, name) ? [values[name]] : []));
  return JSON.stringify([number, usedValues, listRights(viewer)]);
}

/** Lists the properties that determine the rights of a caller. */
function listRights(viewer: Viewer): unknown[] {
  if (viewer.kind === 'END_USER') {
    return [viewer.projectId, viewer.id, viewer.integrationIds, viewer.permissions];
  }
  const orgs = viewer.kind === 'BUILDER' ? [...viewer.roles] : [viewer.orgId];
  return [viewer.id, orgs, viewer.scopes];
}
