/** Finds the access token in the credentials of a connection, and decides when it must be refreshed. */
import { MINUTE_MS } from '../../../../work/durations.ts';
import { type Credentials, parseDate, type StoredToken } from '../credentials.ts';

/** Schemes of stored credentials that are no schemes of connections. */
const OWN_SCHEMES = ['SERVICE_ACCOUNT', 'ADMIN_CONSENT'] as const;
type OwnScheme = (typeof OWN_SCHEMES)[number];

/** Credentials with which access tokens are obtained. */
export type TokenCredentials = Extract<Credentials, { scheme: `OAUTH2_${string}` | OwnScheme }>;

/** The tokens in a response of a token endpoint. */
export interface GrantedTokens {
  accessToken: StoredToken;
  /** Absent if the refresh token stays the same. */
  refreshToken?: string;
  /** Absent if the granted scopes are the requested ones. */
  scopes?: string[];
}

/** A token is refreshed this long before it expires, or in the last tenth of its lifetime if that is shorter. */
const MARGIN_MS = MINUTE_MS;
const MARGIN_SHARE = 0.1;

export function isTokenCredentials(credentials: Credentials): credentials is TokenCredentials {
  return hasOwnScheme(credentials) || credentials.scheme.startsWith('OAUTH2_');
}

function hasOwnScheme(
  credentials: Credentials,
): credentials is Extract<Credentials, { scheme: OwnScheme }> {
  return OWN_SCHEMES.some((scheme) => scheme === credentials.scheme);
}

/** Returns the stored access token. Undefined before the first token is fetched, and for schemes without tokens. */
export function findStoredToken(credentials: Credentials): StoredToken | undefined {
  if ('accessToken' in credentials) return credentials.accessToken;
  return 'token' in credentials ? credentials.token : undefined;
}

/** Returns the expiry of the access token. Null if it is unknown. */
export function findTokenExpireTime(credentials: Credentials): Date | null {
  return parseDate(findStoredToken(credentials)?.expiresAt);
}

/** The message of the error for a request that needs a token. */
export const AWAITS_CONSENT =
  "The connection is waiting for a person's consent. Send them to the link that startOAuthUpdate returns.";

/**
 * How long before its expiry a worker refreshes a token. It is longer than MARGIN_MS, so that requests seldom wait for a
 * refresh.
 */
const AHEAD_MS = 2 * MINUTE_MS;

/**
 * Returns when a worker refreshes the token, so that an unused refresh token does not expire. Null if its expiry is
 * unknown, or if another token can be fetched whenever a request needs it.
 */
export function findRefreshDueTime(
  credentials: Credentials,
  notBefore: Date = new Date(0),
): Date | null {
  const expireTime = findTokenExpireTime(credentials);
  if (!expireTime || hasGrant(credentials)) return null;
  return new Date(Math.max(expireTime.getTime() - AHEAD_MS, notBefore.getTime()));
}

/** True if a person has not consented yet: the credentials have scopes but no tokens. */
export function awaitsConsent(
  credentials: Credentials,
): credentials is Extract<Credentials, { accessToken?: StoredToken }> {
  if (!('scopes' in credentials) || 'clientId' in credentials) return false;
  return credentials.accessToken === undefined && credentials.refreshToken === undefined;
}

/** Credentials that can obtain any number of tokens without a person. */
export type Grant = Extract<TokenCredentials, { clientId: string } | { scheme: OwnScheme }>;

export function hasGrant(credentials: Credentials): credentials is Grant {
  return 'clientId' in credentials || hasOwnScheme(credentials);
}

/** Credentials that can obtain a new token without a person. */
export type RefreshableCredentials =
  | Grant
  | (Exclude<TokenCredentials, Grant> & { refreshToken: StoredToken });

export function canRefresh(credentials: Credentials): credentials is RefreshableCredentials {
  if (hasGrant(credentials)) return true;
  return 'refreshToken' in credentials && credentials.refreshToken !== undefined;
}

/** True if there is no token, or if it may expire before a request with it arrives. */
export function isRefreshDue(token: StoredToken | undefined, now: Date): boolean {
  if (!token) return true;
  if (token.expiresAt === undefined) return false;
  const expiresAtMs = Date.parse(token.expiresAt);
  const lifetimeMs = token.issuedAt === undefined ? null : expiresAtMs - Date.parse(token.issuedAt);
  const shareMs = lifetimeMs === null ? MARGIN_MS : lifetimeMs * MARGIN_SHARE;
  return expiresWithin(token, Math.min(MARGIN_MS, Math.max(0, shareMs)), now);
}

/** True if the token expires within this time. False if its expiry is unknown. */
export function expiresWithin(token: StoredToken, periodMs: number, now: Date): boolean {
  return token.expiresAt !== undefined && Date.parse(token.expiresAt) - periodMs <= now.getTime();
}

/** Returns the credentials with the granted tokens instead of the old ones. */
export function replaceTokens(
  credentials: TokenCredentials,
  { accessToken, refreshToken, scopes }: GrantedTokens,
): TokenCredentials {
  // The scopes of a grant are requested each time. Other credentials have the scopes that the person granted.
  if (hasGrant(credentials)) return { ...credentials, token: accessToken };
  return {
    ...credentials,
    accessToken,
    refreshToken: refreshToken === undefined ? credentials.refreshToken : { token: refreshToken },
    scopes: scopes ?? credentials.scopes,
  };
}
