/** The viewer: the caller of a request, identified by its credentials, and its rights. */
import { z } from 'zod';
import { forbidden } from '../../../kernel/errors.ts';
import { computed, enumeration, resource } from '../../base/resource.ts';
import { type EndUserViewer, sessionPermission } from './end-user.ts';
import type { OrgRole, OrgRoles } from './org-role.ts';
import { type Scope, scopeName, toScopeName } from './scopes.ts';

export interface ApiKeyViewer {
  kind: 'API_KEY';
  id: string;
  projectId: string;
  orgId: string;
  scopes: readonly Scope[];
  /** The origins whose pages may send the key, if it is a page key. */
  allowedOrigins: readonly string[];
}

/** A builder may do everything in the projects of their orgs. Their role determines what they may do with the org itself. */
export interface BuilderViewer {
  kind: 'BUILDER';
  id: string;
  roles: OrgRoles;
  /** The email address in lower case. Null if the issuer provides none or marks it as unverified. */
  email: string | null;
  scopes: readonly Scope[];
  /** When the session of the console expires. Null for a bearer token. */
  expireTime: Date | null;
}

export type Viewer = ApiKeyViewer | BuilderViewer | EndUserViewer;

const viewerKind = enumeration('ViewerKind', 'The credentials of a caller.', {
  API_KEY: 'An API key of a project.',
  BUILDER: 'A builder with a bearer token or a session of the console.',
  END_USER: 'An end user of a project: a group and a consumer.',
  AGENT: 'An agent that works for an end user, with the token of an agent session.',
} satisfies Record<Viewer['kind'] | 'AGENT', string>);

export const viewerResource = resource(
  'Viewer',
  'The caller of this operation: an API key of a project, a builder with a bearer token or a session of the console, an end user with a token of their own, or an agent.',
  {
    kind: computed(
      viewerKind.describe('Whether the caller is an API key, a builder, an end user or an agent.'),
      (viewer: Viewer) => (viewer.kind === 'END_USER' && viewer.agent ? 'AGENT' : viewer.kind),
    ),
    scopes: computed(
      z.array(scopeName).describe('The scopes of an API key or a builder. Empty for an end user.'),
      (viewer: Viewer) => viewer.scopes.map(toScopeName),
    ),
    permissions: computed(
      z
        .array(sessionPermission)
        .describe(
          "The permissions of an end user's token, in addition to reading. Empty for other callers.",
        ),
      (viewer: Viewer) => (viewer.kind === 'END_USER' ? viewer.permissions : []),
    ),
    expireTime: computed(
      z
        .date()
        .nullable()
        .describe(
          "When the end user's token or the session of the console expires: requests are refused and streams end. Null for other callers.",
        ),
      (viewer: Viewer) => (viewer.kind === 'API_KEY' ? null : viewer.expireTime),
    ),
  },
);

/** Returns the viewer if it is a builder, and throws FORBIDDEN otherwise. */
export function requireBuilder(viewer: Viewer): BuilderViewer {
  if (viewer.kind !== 'BUILDER') {
    const credential = viewer.kind === 'API_KEY' ? 'an API key' : "an end user's token";
    throw forbidden(`This needs a builder's bearer token, not ${credential}.`);
  }
  return viewer;
}

/** Returns the viewer's role in an org. Null for viewers that are not members, such as API keys. */
export function findRole(viewer: Viewer, orgId: string): OrgRole | null {
  return viewer.kind === 'BUILDER' ? (viewer.roles.get(orgId) ?? null) : null;
}

/** Returns the id of the viewer's project. Null for a builder, who may have several. */
export function findProjectId(viewer: Viewer): string | null {
  return viewer.kind === 'BUILDER' ? null : viewer.projectId;
}

/** Formats the principal of a change: `api:<key id>`, `builder:<id>`, `consumer:<id>` or `agent:<session id>`. */
export function formatPrincipal(viewer: Viewer): string {
  if (viewer.kind === 'END_USER' && viewer.agent) return `agent:${viewer.agent.sessionId}`;
  if (viewer.kind === 'END_USER') return `consumer:${viewer.consumerId}`;
  return `${viewer.kind === 'API_KEY' ? 'api' : 'builder'}:${viewer.id}`;
}
