import type { DeclaredProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';

/** Returns the declaration of the provider with this name. */
export function getDeclaration(name: string): DeclaredProvider {
  const declaration = DECLARATIONS.find((candidate) => candidate.name === name);
  if (!declaration) throw new Error(`${name} is not declared.`);
  return declaration;
}
