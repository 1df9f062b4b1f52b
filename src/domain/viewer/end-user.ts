/** End users: the people of a builder's own product, each in one group, identified by their tokens. */
import { enumeration } from '../resource.ts';
import type { Scope } from './scopes.ts';

/** Permissions of a token in addition to reading, with the scope that the creator of the token needs for each. */
export const SESSION_PERMISSIONS = {
  CONNECT: 'connections:write',
  INSTALL: 'installations:write',
  READ: 'reads:control',
  WRITE_RECORDS: 'records:write',
} as const satisfies Record<string, Scope>;

export type SessionPermission = keyof typeof SESSION_PERMISSIONS;

export const sessionPermission = enumeration(
  'SessionPermission',
  'A permission of an end user, in addition to reading.',
  {
    CONNECT: 'Connect accounts for itself, and consent again.',
    INSTALL: 'Create and change installations of its own group.',
    READ: 'Trigger, pause and resume reads of its own group.',
    WRITE_RECORDS: "Write records to its own group's accounts.",
  } satisfies Record<SessionPermission, string>,
);

/** The permissions of a token that specifies none. */
export const USUAL_PERMISSIONS: readonly SessionPermission[] = ['CONNECT', 'INSTALL', 'READ'];

/** The scopes that a caller needs to grant these permissions. */
export function scopesToGrant(permissions: readonly SessionPermission[]): Scope[] {
  return ['read', ...permissions.map((permission) => SESSION_PERMISSIONS[permission])];
}

/** The claims of a verified token. */
export interface EndUserClaims {
  projectId: string;
  groupId: string;
  consumerId: string;
  /** Null means all integrations of the project. */
  integrationIds: readonly string[] | null;
  permissions: readonly SessionPermission[];
  expireTime: Date;
  /** The JWT key that signed the token. Null if the gateway signed it. */
  jwtKeyId: string | null;
}

/** An end user: a consumer of a project, in one group. */
export interface EndUserViewer extends EndUserClaims {
  kind: 'END_USER';
  /** The caller's id for rates. All tokens of one person have the same. */
  id: string;
  orgId: string;
  /** Always empty: an end user's rights are its permissions. */
  scopes: readonly Scope[];
  /** Origins whose pages may send the token. */
  allowedOrigins: readonly string[];
}
