/** Which GraphQL type an id names. */
import { ID_PREFIXES, prefixOf } from '../../ids.ts';

export function typeNameOfId(id: string): string | undefined {
  const prefix = prefixOf(id);
  if (!prefix) return undefined;
  // Relay reserves names that end in "Connection", so the platform's connection has another one here.
  return prefix === 'con' ? 'ConnectedAccount' : ID_PREFIXES[prefix];
}
