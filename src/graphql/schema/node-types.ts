/** The GraphQL type of a node. */
import { ID_PREFIXES, prefixOf } from '../../ids.ts';

/** A node without an id is a provider: the catalogue has no rows. */
export function typeNameOfNode({ id }: { id?: string }): string | undefined {
  if (id === undefined) return 'Provider';
  const prefix = prefixOf(id);
  if (!prefix) return undefined;
  // Relay reserves names that end in "Connection", so the reference API's connection has another name.
  return prefix === 'con' ? 'ConnectedAccount' : ID_PREFIXES[prefix];
}
