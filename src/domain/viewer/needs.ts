/** Needs of domain functions: each function declares its need, `authorize` enforces it, and every surface describes it. */
import { forbidden } from '../../errors.ts';
import type { EndUserViewer, SessionPermission } from './end-user.ts';
import { allows, allowsForPages, isMissingInFull, type Scope } from './scopes.ts';
import { requireBuilder, type Viewer } from './viewer.ts';

/**
 * A scope, a builder's bearer token, or `nothing` besides valid credentials. End users may call only functions with an
 * EndUserNeed.
 */
export type Need = Scope | 'bearer' | 'nothing' | EndUserNeed | PageNeed;

/** The need of a function that end users may call too: with this permission, or without one if it is null. */
interface EndUserNeed {
  scope: Scope;
  permission: SessionPermission | null;
  /** True if agents may call the function too. Their grants limit what they get. */
  forAgents?: true;
}

/** The need of a function that keys for pages may call, although end users may not. */
interface PageNeed {
  scope: Scope;
  forPages: true;
}

/** For functions of callers with this scope and of keys for pages. */
export function orPage(scope: Scope): Need {
  return { scope, forPages: true };
}

/** For functions of callers with this scope and of end users with this permission. Keys for pages may call them too. */
export function orEndUser(scope: Scope, permission: SessionPermission | null = null): Need {
  return { scope, permission };
}

/** For functions of callers with this scope, of end users with this permission, and of agents. */
export function orAgent(scope: Scope, permission: SessionPermission | null = null): Need {
  return { scope, permission, forAgents: true };
}

/** The scope that an API key needs. Null if no scope is sufficient, or none is needed. */
export function findScope(need: Need): Scope | null {
  if (need === 'nothing' || need === 'bearer') return null;
  return typeof need === 'object' ? need.scope : need;
}

/** True if a key with these scopes meets the need. */
export function permits(held: readonly Scope[], need: Need): boolean {
  if (need === 'nothing') return true;
  const scope = findScope(need);
  if (scope === null) return false;
  return allows(held, scope) || (typeof need === 'object' && allowsForPages(held, scope));
}

/** True if the viewer meets the need. */
export function meets(viewer: Viewer, need: Need): boolean {
  if (viewer.kind !== 'END_USER') return viewer.kind === 'BUILDER' || permits(viewer.scopes, need);
  if (need === 'nothing') return true;
  return isForEndUsers(need) && hasPermission(viewer, need);
}

function hasPermission(
  { permissions, agent }: EndUserViewer,
  { permission, forAgents }: EndUserNeed,
): boolean {
  if (agent) return forAgents === true;
  return permission === null || permissions.includes(permission);
}

/** Throws FORBIDDEN if the viewer does not meet the need. */
export function authorize(viewer: Viewer, need: Need): void {
  if (need === 'nothing') return;
  const scope = findScope(need);
  if (viewer.kind === 'END_USER') {
    authorizeEndUser(viewer, need);
  } else if (scope === null) {
    requireBuilder(viewer);
  } else if (!permits(viewer.scopes, need)) {
    const heldNames = viewer.scopes.join(', ') || 'none';
    const remark = isMissingInFull(viewer.scopes, scope)
      ? ' The scope full does not include it.'
      : '';
    throw forbidden(`This needs the scope ${scope}; the API key has ${heldNames}.${remark}`);
  }
}

function isForEndUsers(need: Need): need is EndUserNeed {
  return typeof need === 'object' && 'permission' in need;
}

function authorizeEndUser(viewer: EndUserViewer, need: Need): void {
  if (!isForEndUsers(need)) throw forbidden("This is not for end users' tokens.");
  if (hasPermission(viewer, need)) return;
  if (viewer.agent) {
    throw forbidden(
      "This is not for agents. Use the agent's tools at /mcp/projects/{projectIdOrName}.",
    );
  }
  const heldNames = viewer.permissions.join(', ') || 'none';
  throw forbidden(
    `This needs the permission ${need.permission}; the end user's token has ${heldNames}.`,
  );
}

/** Throws FORBIDDEN if a key would grant more than it has. */
export function authorizeGrant(viewer: Viewer, granted: readonly Scope[]): void {
  const missing = granted.filter((scope) => !allows(viewer.scopes, scope));
  if (missing.length > 0) {
    const names = missing.join(', ');
    const outside = missing.filter((scope) => isMissingInFull(viewer.scopes, scope)).join(', ');
    const remark = outside === '' ? '' : ` The scope full does not include ${outside}.`;
    throw forbidden(`An API key can't grant scopes that it does not have: ${names}.${remark}`);
  }
}

/** A sentence about the need, for descriptions. */
export function needText(need: Need): string {
  if (need === 'nothing') return 'Needs no scope.';
  if (need === 'bearer') return "Needs a builder's bearer token.";
  const builder = `Needs the scope \`${findScope(need)}\`, or a builder's bearer token`;
  if (!isForEndUsers(need)) return `${builder}.`;
  return need.permission === null
    ? `${builder}, or an end user's.`
    : `${builder}, or an end user's with the permission ${need.permission}.`;
}
