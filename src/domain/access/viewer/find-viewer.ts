/** Finds the viewer that credentials identify. */
import { unauthenticated } from '../../../kernel/errors.ts';
import type { RowServices, Services } from '../call.ts';
import { type BearerVerifier, enrollBuilder } from './bearer.ts';
import {
  type ConsoleSession,
  type ConsoleSessionCredential,
  getConsoleSession,
  toConsoleSessionKey,
} from './console-session.ts';
import type { EndUserViewer } from './end-user.ts';
import { findApiKeyByValue } from './key/api-key-value.ts';
import { ALL_SCOPES, listScopes } from './scopes.ts';
import type { ApiKeyViewer, BuilderViewer, Viewer } from './viewer.ts';

export interface Credentials {
  apiKey?: string | null;
  /** The whole Authorization header. */
  authorization?: string | null;
  /** The session of the console. It is used if there is no other credential. */
  session?: ConsoleSessionCredential | null;
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
  if (!authorization) return session ? toConsoleSessionKey(session.secret) : null;
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
  if (!authorization && session) return authenticateConsoleSession(services, session);
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
  if (services.endUsers.isToken(token)) return services.endUsers.get(token);
  const claims = await verifier.verify(token, resource);
  return toBuilderViewer({ ...(await enrollBuilder(services, claims)), expireTime: null });
}

async function authenticateConsoleSession(
  services: RowServices,
  { secret }: ConsoleSessionCredential,
): Promise<BuilderViewer> {
  return toBuilderViewer(await getConsoleSession(services, secret));
}

function toBuilderViewer({
  builder: { id, primaryEmail: email },
  roles,
  expireTime,
}: Pick<ConsoleSession, 'builder' | 'roles'> & Pick<BuilderViewer, 'expireTime'>): BuilderViewer {
  return { kind: 'BUILDER', id, roles, email, scopes: ALL_SCOPES, expireTime };
}
