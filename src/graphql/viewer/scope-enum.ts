import { ALL_SCOPES, nameOfScope, SCOPES, type ScopeName } from '../../domain/viewer/scopes.ts';
import { enumType } from '../schema/inputs.ts';

const DESCRIPTIONS = ALL_SCOPES.map((scope) => [nameOfScope(scope), SCOPES[scope]]);

/** REST, tokens and messages write a scope in its own form, like `connections:write` for `CONNECTIONS_WRITE`. */
export const Scope = enumType(
  'Scope',
  'What an API key may do. Error messages name the scopes in the form of REST: `connections:write` for `CONNECTIONS_WRITE`.',
  Object.fromEntries(DESCRIPTIONS) as Record<ScopeName, string>,
);
