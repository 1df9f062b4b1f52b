/** End users: the people of a builder's own product, each in one group, identified by their tokens. */
import { enumeration } from '../../base/resource.ts';
import type { AgentGrant } from './agent-grant.ts';
import type { Scope } from './scopes.ts';

/**
 * Permissions of a token, in addition to reading. The value is the scope that a caller needs to grant the permission.
 */
export const SCOPE_BY_PERMISSION = {
  CONNECT: 'connections:write',
  INSTALL: 'installations:write',
  READ: 'reads:control',
  WRITE_RECORDS: 'records:write',
  APPROVE: 'records:write',
} as const satisfies Record<string, Scope>;

export type SessionPermission = keyof typeof SCOPE_BY_PERMISSION;

export const sessionPermission = enumeration(
  'SessionPermission',
  'A permission of an end user, in addition to reading.',
  {
    CONNECT: 'Connect accounts for itself, and consent again.',
    INSTALL: 'Create and change installations of its own group.',
    READ: 'Trigger, pause and resume reads of its own group.',
    WRITE_RECORDS: "Write records to its own group's accounts.",
    APPROVE:
      "Approve and reject proposals of agents for its own group, and revoke the agents' sessions.",
  } satisfies Record<SessionPermission, string>,
);

/** The permissions of a token whose input lists none. */
export const DEFAULT_PERMISSIONS: readonly SessionPermission[] = ['CONNECT', 'INSTALL', 'READ'];

/** Lists the scopes that a caller needs to grant these permissions. */
export function listScopesToGrant(permissions: readonly SessionPermission[]): Scope[] {
  return ['read', ...permissions.map((permission) => SCOPE_BY_PERMISSION[permission])];
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
  /** The rights of an agent that works for the end user. Null for the end user itself. */
  agent: AgentGrant | null;
}

/** An end user: a consumer of a project, in one group. An agent is an end user with an `agent` grant. */
export interface EndUserViewer extends EndUserClaims {
  kind: 'END_USER';
  /** Identifies the caller for rate limits. All tokens of an end user share an id. Each agent session has its own id. */
  id: string;
  orgId: string;
  /** Always empty: permissions authorize an end user, and the grant authorizes an agent. */
  scopes: readonly Scope[];
  /** Origins whose pages may send the token. */
  allowedOrigins: readonly string[];
}

/** Finds the end users of tokens. */
export interface EndUsers {
  /** True if the bearer token is an end user's. */
  isToken(token: string): boolean;
  /** Returns the end user of a token. Throws UNAUTHENTICATED if the token is invalid or expired. */
  get(token: string): Promise<EndUserViewer>;
}
