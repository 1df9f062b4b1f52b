/** The viewer: the caller of a request, identified by its credentials, and its rights. */
import { z } from 'zod';
import { forbidden, unauthenticated } from '../../../kernel/errors.ts';
import { computed, enumeration, resource } from '../../base/resource.ts';
import type { Call, Services } from '../call.ts';
import { type BearerVerifier, enrollBuilder } from './bearer.ts';
import {
  type ConsoleSession,
  getSession,
  type SessionCredential,
  toSessionKey,
} from './console-session.ts';
import { type EndUserViewer, sessionPermission } from './end-user.ts';
import { findApiKeyByValue } from './key/api-key-value.ts';
import type { OrgRole, OrgRoles } from './org-role.ts';
import { ALL_SCOPES, listScopes, type Scope, scopeName, toScopeName } from './scopes.ts';

interface ApiKeyViewer {
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

export interface Credentials {
  apiKey?: string | null;
  /** The whole Authorization header. */
  authorization?: string | null;
  /** The session of the console. It is used if there is no other credential. */
  session?: SessionCredential | null;
  /** The URL of the protected resource that receives the credentials. A bearer token may be for this resource only. */
  resource?: string | undefined;
}

/**
 * Returns the cache key of credentials, which ignores the spelling of the Authorization header. Null without credentials.
 * The key of a token contains the resource, because other resources may not accept the token.
 */
export function toCredentialKey({
  apiKey,
  authorization,
  session,
  resource,
}: Credentials): string | null {
  if (apiKey) return `key ${apiKey}`;
  if (!authorization) return session ? toSessionKey(session.secret) : null;
  const token = parseBearerToken(authorization);
  if (token === null) return `unknown ${authorization}`;
  return resource === undefined ? `bearer ${token}` : `bearer ${token} for ${resource}`;
}

/** Returns the bearer token of a header (RFC 6750). Null if the header has another scheme, or text after the token. */
function parseBearerToken(authorization: string): string | null {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? null;
}

/** Returns the viewer with these credentials. Null without credentials. Throws UNAUTHENTICATED if they are wrong. */
export async function authenticate(
  services: Services,
  verifier: BearerVerifier,
  credentials: Credentials,
): Promise<Viewer | null> {
  const credential = toCredentialKey(credentials);
  if (!credential) return null;
  return (
    findCachedViewer(services, credential) ??
    services.viewers.lookUp(credential, () => lookUpViewer(services, verifier, credentials))
  );
}

function lookUpViewer(
  services: Services,
  verifier: BearerVerifier,
  { apiKey, authorization, session, resource }: Credentials,
): Promise<Viewer> {
  if (apiKey) return authenticateKey(services, apiKey);
  if (!authorization && session) return authenticateSession(services, session);
  return authenticateBearer(services, verifier, { authorization: authorization ?? '', resource });
}

/** Returns the cached viewer of a credential. Null if the viewer must be looked up or has expired. */
export function findCachedViewer({ viewers, now }: Services, credential: string): Viewer | null {
  const cachedViewer = viewers.get(credential);
  if (!cachedViewer) return null;
  if (cachedViewer.kind === 'API_KEY' || cachedViewer.expireTime === null) return cachedViewer;
  return cachedViewer.expireTime <= now() ? null : cachedViewer;
}

async function authenticateKey(services: Services, value: string): Promise<ApiKeyViewer> {
  const key = await findApiKeyByValue(services, value);
  if (!key?.active) {
    throw unauthenticated('The API key is unknown, inactive or deleted.');
  }
  const { id, projectId, orgId, allowedOrigins } = key;
  return { kind: 'API_KEY', id, projectId, orgId, scopes: listScopes(key), allowedOrigins };
}

async function authenticateBearer(
  services: Services,
  verifier: BearerVerifier,
  { authorization, resource }: { authorization: string; resource: string | undefined },
): Promise<BuilderViewer | EndUserViewer> {
  const token = parseBearerToken(authorization);
  if (token === null) {
    throw unauthenticated('Authorization must be "Bearer", a space and a token.');
  }
  if (services.endUsers.isToken(token)) return services.endUsers.get(services, token);
  const claims = await verifier.verify(token, resource);
  return toBuilderViewer({ ...(await enrollBuilder(services, claims)), expireTime: null });
}

async function authenticateSession(
  services: Services,
  { secret }: SessionCredential,
): Promise<BuilderViewer> {
  return toBuilderViewer(await getSession(services, secret));
}

function toBuilderViewer({
  builder: { id, primaryEmail: email },
  roles,
  expireTime,
}: Pick<ConsoleSession, 'builder' | 'roles'> & Pick<BuilderViewer, 'expireTime'>): BuilderViewer {
  return { kind: 'BUILDER', id, roles, email, scopes: ALL_SCOPES, expireTime };
}

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

/**
 * Updates this call and the caches after a builder's role in an org has changed. `role` is null if the builder left the
 * org, or the org was deleted. Caches of other processes expire within a second.
 */
export function applyRole(
  call: Call,
  { orgId, builderId, role }: { orgId: string; builderId: string; role: OrgRole | null },
): void {
  const { viewer } = call;
  if (viewer.kind === 'BUILDER' && viewer.id === builderId) {
    const roles = new Map(viewer.roles);
    if (role === null) roles.delete(orgId);
    else roles.set(orgId, role);
    call.viewer = { ...viewer, roles };
  }
  call.viewers.clear();
}

/** Returns the id of the viewer's project. Null for a builder, who may have several. */
export function findProjectId(viewer: Viewer): string | null {
  return viewer.kind === 'BUILDER' ? null : viewer.projectId;
}

/** Formats the principal of a change: `api:<key id>`, `builder:<id>`, `consumer:<id>` or `agent:<session id>`. */
export function formatActor(viewer: Viewer): string {
  if (viewer.kind === 'END_USER' && viewer.agent) return `agent:${viewer.agent.sessionId}`;
  if (viewer.kind === 'END_USER') return `consumer:${viewer.consumerId}`;
  return `${viewer.kind === 'API_KEY' ? 'api' : 'builder'}:${viewer.id}`;
}
