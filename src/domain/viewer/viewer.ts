/** The viewer: who sends a request, found by its credentials, and what it may see. */
import { forbidden, unauthenticated } from '../../errors.ts';
import type { Call, Services } from '../call.ts';
import { type BearerClaims, type BearerVerifier, enrolBuilder } from './bearer.ts';
import type { EndUserViewer } from './end-user.ts';
import { findApiKeyByValue } from './key/key-value.ts';
import { ALL_SCOPES, type Scope, scopesOf } from './scopes.ts';

export interface ApiKeyViewer {
  kind: 'API_KEY';
  id: string;
  projectId: string;
  orgId: string;
  scopes: readonly Scope[];
  /** The origins whose pages may send the key if it is a key for pages. */
  allowedOrigins: readonly string[];
}

/** A builder may do everything in the projects of their orgs. */
export interface BuilderViewer {
  kind: 'BUILDER';
  id: string;
  orgIds: readonly string[];
  /** In lower case; null if the issuer gives none or calls it unverified. */
  email: string | null;
  scopes: readonly Scope[];
}

export type Viewer = ApiKeyViewer | BuilderViewer | EndUserViewer;

export interface Credentials {
  apiKey?: string | null;
  /** The whole Authorization header. */
  authorization?: string | null;
}

/** The key of a viewer in the cache, the same however a token is written; null without credentials. */
export function credentialOf({ apiKey, authorization }: Credentials): string | null {
  if (apiKey) return `key ${apiKey}`;
  if (!authorization) return null;
  const token = bearerTokenOf(authorization);
  return token === null ? `unknown ${authorization}` : `bearer ${token}`;
}

/** RFC 6750; null if it is another scheme, or more than a token follows. */
function bearerTokenOf(authorization: string): string | null {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? null;
}

/** Null without credentials; throws UNAUTHENTICATED if they are wrong. */
export async function authenticate(
  services: Services,
  verifier: BearerVerifier,
  credentials: Credentials,
): Promise<Viewer | null> {
  const { apiKey, authorization = null } = credentials;
  const credential = credentialOf(credentials);
  if (!credential) return null;
  return (
    knownViewer(services, credential) ??
    services.viewers.lookUp(credential, () =>
      apiKey
        ? viewerOfKey(services, apiKey)
        : viewerOfBearer(services, verifier, authorization ?? ''),
    )
  );
}

/** Null for one that has to be looked up. */
export function knownViewer({ viewers, now }: Services, credential: string): Viewer | null {
  const known = viewers.get(credential);
  const isOver = known?.kind === 'END_USER' && known.expireTime <= now();
  return isOver ? null : (known ?? null);
}

async function viewerOfKey(services: Services, value: string): Promise<ApiKeyViewer> {
  const found = await findApiKeyByValue(services, value);
  if (!found?.active) {
    throw unauthenticated('The API key is not known, or it is inactive or deleted.');
  }
  const { id, projectId, orgId, allowedOrigins } = found;
  return { kind: 'API_KEY', id, projectId, orgId, scopes: scopesOf(found), allowedOrigins };
}

async function viewerOfBearer(
  services: Services,
  verifier: BearerVerifier,
  authorization: string,
): Promise<BuilderViewer | EndUserViewer> {
  const token = bearerTokenOf(authorization);
  if (token === null) {
    throw unauthenticated('Authorization must be "Bearer", a space and a token, and nothing else.');
  }
  if (services.endUsers.isToken(token)) return services.endUsers.find(services, token);
  const claims: BearerClaims = await verifier.verify(token);
  const { builder, orgIds } = await enrolBuilder(services, claims);
  return {
    kind: 'BUILDER',
    id: builder.id,
    orgIds,
    email: builder.primaryEmail,
    scopes: ALL_SCOPES,
  };
}

/** Throws FORBIDDEN if the caller is an API key: some things are for people. */
export function requireBuilder(viewer: Viewer): BuilderViewer {
  if (viewer.kind !== 'BUILDER') {
    const other = viewer.kind === 'API_KEY' ? 'an API key' : 'an end user';
    throw forbidden(`This needs a builder's bearer token; ${other} can't do it.`);
  }
  return viewer;
}

/** A builder is a member of one more org: the rest of this call knows it, and so do the next ones. */
export function renewMembership(call: Call, viewer: BuilderViewer, orgId: string): void {
  call.viewer = { ...viewer, orgIds: [...new Set([...viewer.orgIds, orgId])] };
  call.viewers.clear();
}

/** A builder, or everybody, is no longer a member of an org: the rest of this call knows it, and so do the next ones. */
export function endMembership(
  call: Call,
  viewer: BuilderViewer,
  { orgId, builderId = viewer.id }: { orgId: string; builderId?: string },
): void {
  if (builderId === viewer.id) {
    call.viewer = { ...viewer, orgIds: viewer.orgIds.filter((id) => id !== orgId) };
  }
  call.viewers.clear();
}

/** The project of a caller who has only one; null for a builder. */
export function projectIdOf(viewer: Viewer): string | null {
  return viewer.kind === 'BUILDER' ? null : viewer.projectId;
}

/** `api:<key id>`, `builder:<id>` or `consumer:<id>`: the createdBy of installations. */
export function actorOf(viewer: Viewer): string {
  if (viewer.kind === 'END_USER') return `consumer:${viewer.consumerId}`;
  return `${viewer.kind === 'API_KEY' ? 'api' : 'builder'}:${viewer.id}`;
}
