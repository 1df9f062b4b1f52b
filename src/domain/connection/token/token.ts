/** Reads the stored access token of a connection, and decides when it must be replaced. */
import type { Credentials, StoredToken } from '../credentials.ts';

/** Credentials that get access tokens. */
export type TokenCredentials = Extract<
  Credentials,
  { scheme: `OAUTH2_${string}` | 'SERVICE_ACCOUNT' }
>;

/** The tokens in a response of a token endpoint. */
export interface GrantedTokens {
  accessToken: StoredToken;
  /** Absent if the used refresh token stays valid. */
  refreshToken?: string;
  /** Absent if the granted scopes are the requested ones. */
  scopes?: string[];
}

/**
 * A token is replaced this long before it expires. A token with a short lifetime is replaced after nine tenths of it.
 */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.1;

export function isTokenCredentials(credentials: Credentials): credentials is TokenCredentials {
  const { scheme } = credentials;
  return scheme === 'SERVICE_ACCOUNT' || scheme.startsWith('OAUTH2_');
}

/** Returns the stored access token. Undefined before the first one is fetched. */
export function findStoredToken(credentials: TokenCredentials): StoredToken | undefined {
  switch (credentials.scheme) {
    case 'SERVICE_ACCOUNT':
    case 'OAUTH2_CLIENT_CREDENTIALS':
    case 'OAUTH2_PASSWORD':
      return credentials.token;
    default:
      return credentials.accessToken;
  }
}

/** The error for a call without a token. */
export const AWAITS_CONSENT =
  "The connection is waiting for a person's consent. Send them to the link that startOAuthUpdate returns.";

/** True if a user has yet to consent: the credentials have scopes but no tokens. */
export function awaitsConsent(
  credentials: Credentials,
): credentials is Extract<Credentials, { accessToken?: StoredToken }> {
  if (!('scopes' in credentials) || 'clientId' in credentials) return false;
  return credentials.accessToken === undefined && credentials.refreshToken === undefined;
}

/** Credentials that can get any number of tokens without a user. */
export type Grant = Extract<TokenCredentials, { clientId: string } | { scheme: 'SERVICE_ACCOUNT' }>;

export function hasGrant(credentials: TokenCredentials): credentials is Grant {
  return 'clientId' in credentials || credentials.scheme === 'SERVICE_ACCOUNT';
}

/** True if a new token can be obtained without a user. */
export function canRefresh(credentials: TokenCredentials): boolean {
  return hasGrant(credentials) || credentials.refreshToken !== undefined;
}

/** True if there is no token, or if it may expire before a request with it arrives. */
export function isDue(token: StoredToken | undefined, now: Date): boolean {
  if (!token) return true;
  if (token.expiresAt === undefined) return false;
  const expiresAtMs = Date.parse(token.expiresAt);
  const lifetimeMs = token.issuedAt === undefined ? null : expiresAtMs - Date.parse(token.issuedAt);
  const shareMs = lifetimeMs === null ? MARGIN_MS : lifetimeMs * MARGIN_SHARE;
  return expiresWithin(token, Math.min(MARGIN_MS, Math.max(0, shareMs)), now);
}

/** False if the expiry is not known. */
export function expiresWithin(token: StoredToken, ms: number, now: Date): boolean {
  return token.expiresAt !== undefined && Date.parse(token.expiresAt) - ms <= now.getTime();
}

export function withTokens(
  credentials: TokenCredentials,
  { accessToken, refreshToken, scopes }: GrantedTokens,
): TokenCredentials {
  // A grant requests its scopes each time. A user's credentials have the scopes that the user granted.
  if (hasGrant(credentials)) return { ...credentials, token: accessToken };
  return {
    ...credentials,
    accessToken,
    refreshToken: refreshToken === undefined ? credentials.refreshToken : { token: refreshToken },
    scopes: scopes ?? credentials.scopes,
  };
}
