/** What a caller needs: declared with each domain function, enforced there, and told by every surface. */
import { forbidden } from '../../errors.ts';
import { allows, type Scope } from './scopes.ts';
import { requireBuilder, type Viewer } from './viewer.ts';

/** A scope, a builder's bearer token, or `nothing` beside valid credentials. */
export type Need = Scope | 'bearer' | 'nothing';

/** Throws FORBIDDEN if the viewer lacks it. */
export function authorize(viewer: Viewer, need: Need): void {
  if (need === 'nothing') return;
  if (need === 'bearer') {
    requireBuilder(viewer);
  } else if (!allows(viewer.scopes, need)) {
    const held = viewer.scopes.join(', ') || 'none';
    throw forbidden(`This needs the scope ${need}; the API key has ${held}.`);
  }
}

/** The sentence for descriptions. */
export function needText(need: Need): string {
  if (need === 'nothing') return 'Needs no scope.';
  return need === 'bearer'
    ? "Needs a builder's bearer token."
    : `Needs the scope \`${need}\`, or a builder's bearer token.`;
}
