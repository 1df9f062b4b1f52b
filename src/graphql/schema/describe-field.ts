import { describeNeed, type Need } from '../../domain/viewer/needs.ts';

/**
 * Returns the options of a field that calls a declared function. `description` replaces the declaration's description. The
 * plugin of authorized-callers.ts checks `extensions.needs`.
 */
export function describeField(
  declaration: { needs: Need; description: string },
  description = declaration.description,
) {
  const { needs } = declaration;
  return { description: `${description} ${describeNeed(needs)}`, extensions: { needs } };
}
