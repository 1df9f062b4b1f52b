/**
 * The rights that domain functions need. Each function declares its need, `authorize` enforces it, and the API
 * describes it.
 */
import { forbidden } from '../../../kernel/errors.ts';
import { enumValue, joinTexts, text } from '../../../kernel/text.ts';
import type { EndUserViewer, SessionPermission } from './end-user.ts';
import { includesPageScope, includesScope, isOutsideFull, type Scope } from './scopes.ts';
import { findRole, requireBuilder, type Viewer } from './viewer.ts';

/**
 * A scope, a builder's bearer token (`bearer`), or only valid credentials (`nothing`). End users may call functions with
 * an EndUserNeed only.
 */
export type Need = Scope | 'bearer' | 'nothing' | EndUserNeed | PageNeed | AdminNeed;

/** The need of a function that end users may call too, with one of these permissions. An empty list permits all of them. */
interface EndUserNeed {
  scope: Scope;
  permissions: readonly SessionPermission[];
  /** True if agents may call the function too, within their grants. */
  forAgents?: true;
}

/** The need of a function that page keys may call, although end users may not. */
interface PageNeed {
  scope: Scope;
  forPages: true;
}

/** The need of a function that manages an org, for admins of the org and for API keys with the scope. */
interface AdminNeed {
  role: 'ADMIN';
  /** Null if no API key may call the function. */
  scope: Scope | null;
}

/** The need of a function for admins of an org. */
export const ADMIN: Need = { role: 'ADMIN', scope: null };

/** Declares the need of a function for admins of an org and for API keys with this scope. */
export function orAdmin(scope: Scope): Need {
  return { role: 'ADMIN', scope };
}

/** Declares the need of a function for callers with this scope and for page keys. */
export function orPage(scope: Scope): Need {
  return { scope, forPages: true };
}

/**
 * Declares the need of a function for callers with this scope, for end users with one of these permissions, and for page
 * keys with the scope.
 */
export function orEndUser(scope: Scope, ...permissions: SessionPermission[]): Need {
  return { scope, permissions };
}

/** Declares the need of a function for agents, and for the callers that `orEndUser` permits. */
export function orAgent(scope: Scope, ...permissions: SessionPermission[]): Need {
  return { scope, permissions, forAgents: true };
}

/** Returns the scope that an API key needs. Null if no scope is sufficient, or if none is needed. */
export function findScope(need: Need): Scope | null {
  if (need === 'nothing' || need === 'bearer') return null;
  return typeof need === 'object' ? need.scope : need;
}

/** True if an API key can't meet the need. */
export function isForBuilders(need: Need): boolean {
  return need !== 'nothing' && findScope(need) === null;
}

/** True if the need names a role of the builder in an org. */
export function isForAdmins(need: Need): need is AdminNeed {
  return typeof need === 'object' && 'role' in need;
}

/** True if an API key with these scopes meets the need. */
export function scopesMeet(scopes: readonly Scope[], need: Need): boolean {
  if (need === 'nothing') return true;
  const scope = findScope(need);
  if (scope === null) return false;
  if (includesScope(scopes, scope)) return true;
  return typeof need === 'object' && includesPageScope(scopes, scope);
}

/** True if the viewer meets the need. */
export function meetsNeed(viewer: Viewer, need: Need): boolean {
  if (viewer.kind !== 'END_USER')
    return viewer.kind === 'BUILDER' || scopesMeet(viewer.scopes, need);
  if (need === 'nothing') return true;
  return isForEndUsers(need) && hasPermission(viewer, need);
}

function hasPermission(viewer: EndUserViewer, { permissions, forAgents }: EndUserNeed): boolean {
  if (viewer.agent) return forAgents === true;
  return (
    permissions.length === 0 ||
    permissions.some((permission) => viewer.permissions.includes(permission))
  );
}

/** Throws FORBIDDEN if the viewer does not meet the need. A role in an org is checked by `authorizeInOrg`. */
export function authorize(viewer: Viewer, need: Need): void {
  if (need === 'nothing') return;
  const scope = findScope(need);
  if (viewer.kind === 'END_USER') {
    authorizeEndUser(viewer, need);
  } else if (scope === null) {
    requireBuilder(viewer);
  } else if (!scopesMeet(viewer.scopes, need)) {
    const names = viewer.scopes.join(', ') || 'none';
    const remark = isOutsideFull(viewer.scopes, scope)
      ? ' The scope full does not include it.'
      : '';
    throw forbidden(`This needs the scope ${scope}; the API key has ${names}.${remark}`);
  }
}

function isForEndUsers(need: Need): need is EndUserNeed {
  return typeof need === 'object' && 'permissions' in need;
}

function authorizeEndUser(viewer: EndUserViewer, need: Need): void {
  if (!isForEndUsers(need)) throw forbidden("This is not for end users' tokens.");
  if (hasPermission(viewer, need)) return;
  if (viewer.agent) {
    throw forbidden(
      "This is not for agents. Use the agent's tools at /mcp/projects/{projectIdOrName}.",
    );
  }
  const namePermission = (permission: string) => enumValue(permission, 'SessionPermission');
  const needed = joinTexts(need.permissions.map(namePermission), ' or ');
  const names = joinTexts(viewer.permissions.map(namePermission), ', ') || 'none';
  throw forbidden(text`This needs the permission ${needed}; the end user's token has ${names}.`);
}

/** Throws FORBIDDEN if the need names a role and the viewer is a builder without this role in the org. */
export function authorizeInOrg(viewer: Viewer, need: Need, orgId: string): void {
  if (viewer.kind === 'BUILDER' && isForAdmins(need)) requireAdmin(viewer, orgId);
}

/** Throws FORBIDDEN if the viewer is not an admin of the org. API keys have no role. */
export function requireAdmin(viewer: Viewer, orgId: string): void {
  const role = findRole(viewer, orgId);
  if (role === 'ADMIN') return;
  const remark =
    role === null
      ? 'This caller has no role in it.'
      : `Your role is ${role.toLowerCase()}: ask an admin to do it, or to change your role.`;
  throw forbidden(`This needs the role admin in the org. ${remark}`);
}

/**
 * Throws FORBIDDEN if the viewer may not grant these scopes to an API key of the org. Only admins grant `org:write`, so
 * that a key never has a right in the org that its creator lacks.
 */
export function authorizeKeyScopes(viewer: Viewer, scopes: readonly Scope[], orgId: string): void {
  authorizeGrant(viewer, scopes);
  if (viewer.kind === 'BUILDER' && scopes.includes('org:write')) requireAdmin(viewer, orgId);
}

/** Throws FORBIDDEN if the viewer lacks one of the scopes that it grants to another key or token. */
export function authorizeGrant(viewer: Viewer, scopes: readonly Scope[]): void {
  const missingScopes = scopes.filter((scope) => !includesScope(viewer.scopes, scope));
  if (missingScopes.length === 0) return;
  const excludedNames = missingScopes
    .filter((scope) => isOutsideFull(viewer.scopes, scope))
    .join(', ');
  const remark = excludedNames === '' ? '' : ` The scope full does not include ${excludedNames}.`;
  const names = missingScopes.join(', ');
  throw forbidden(`An API key can't grant scopes that it does not have: ${names}.${remark}`);
}

/** Returns a sentence about the need, for descriptions in the API. */
export function describeNeed(need: Need): string {
  if (need === 'nothing') return 'Needs no scope.';
  if (need === 'bearer') return "Needs a builder's bearer token.";
  if (isForAdmins(need)) {
    const admin = 'the bearer token of a builder who is an admin of the org';
    return need.scope === null
      ? `Needs ${admin}.`
      : `Needs the scope \`${need.scope}\`, or ${admin}.`;
  }
  const builder = `Needs the scope \`${findScope(need)}\`, or a builder's bearer token`;
  if (!isForEndUsers(need)) return `${builder}.`;
  return need.permissions.length === 0
    ? `${builder}, or an end user's.`
    : `${builder}, or an end user's with the permission ${need.permissions.join(' or ')}.`;
}
