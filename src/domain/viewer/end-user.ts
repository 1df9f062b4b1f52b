/** End users: the people of a builder's own product, each of one group, as their tokens name them. */
import type { Scope } from './scopes.ts';

/** What a token may permit beside seeing, and the scope that who makes the token needs for it. */
export const SESSION_PERMISSIONS = {
  CONNECT: 'connections:write',
  INSTALL: 'installations:write',
  READ: 'reads:control',
  WRITE_RECORDS: 'records:write',
} as const satisfies Record<string, Scope>;

export type SessionPermission = keyof typeof SESSION_PERMISSIONS;

/** Of a token that says nothing of permissions. */
export const USUAL_PERMISSIONS: readonly SessionPermission[] = ['CONNECT', 'INSTALL', 'READ'];

/** All scopes that a caller needs to let an end user do this. */
export function scopesToGrant(permissions: readonly SessionPermission[]): Scope[] {
  return ['read', ...permissions.map((permission) => SESSION_PERMISSIONS[permission])];
}

/** What a token says, once its signature is checked. */
export interface EndUserClaims {
  projectId: string;
  groupId: string;
  consumerId: string;
  /** Null: all that the project has. */
  integrationIds: readonly string[] | null;
  permissions: readonly SessionPermission[];
  expireTime: Date;
  /** The JWT key that has signed it; null if the gateway has. */
  jwtKeyId: string | null;
}

/** One group and one consumer of a project. */
export interface EndUserViewer extends EndUserClaims {
  kind: 'END_USER';
  /** Rates count by it: all tokens of one person together. */
  id: string;
  orgId: string;
  /** None: what it may do is said by its permissions. */
  scopes: readonly Scope[];
  /** Origins whose pages may send the token. */
  allowedOrigins: readonly string[];
}
