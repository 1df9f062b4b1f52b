/** Access tokens of a connection: what is held, and when it has to be replaced. */
import type { Credentials, StoredToken } from '../credentials.ts';

/** Credentials that get access tokens. */
export type TokenCredentials = Extract<
  Credentials,
  { scheme: `OAUTH2_${string}` | 'SERVICE_ACCOUNT' }
>;

/** Tokens as a token endpoint gave them. */
export interface GrantedTokens {
  accessToken: StoredToken;
  /** Left out if the one that was used stays. */
  refreshToken?: string;
  /** Left out if they are the requested ones. */
  scopes?: string[];
}

/** A token is replaced this long before its end, or after nine tenths of a life that is shorter. */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.1;

export function isTokenCredentials(credentials: Credentials): credentials is TokenCredentials {
  const { scheme } = credentials;
  return scheme === 'SERVICE_ACCOUNT' || scheme.startsWith('OAUTH2_');
}

/** Undefined before the first one is fetched. */
export function heldToken(credentials: TokenCredentials): StoredToken | undefined {
  switch (credentials.scheme) {
    case 'SERVICE_ACCOUNT':
    case 'OAUTH2_CLIENT_CREDENTIALS':
    case 'OAUTH2_PASSWORD':
      return credentials.token;
    default:
      return credentials.accessToken;
  }
}

/** Why a call without a token is refused. */
export const AWAITS_CONSENT =
  'The connection waits for a person to consent: send them to the address that startOAuthUpdate gives.';

/** Whether a person has yet to agree: only the scopes are known. */
export function awaitsConsent(
  credentials: Credentials,
): credentials is Extract<Credentials, { accessToken?: StoredToken }> {
  if (!('scopes' in credentials) || 'clientId' in credentials) return false;
  return credentials.accessToken === undefined && credentials.refreshToken === undefined;
}

/** Credentials that get any number of tokens without a person. */
export type Grant = Extract<TokenCredentials, { clientId: string } | { scheme: 'SERVICE_ACCOUNT' }>;

export function hasGrant(credentials: TokenCredentials): credentials is Grant {
  return 'clientId' in credentials || credentials.scheme === 'SERVICE_ACCOUNT';
}

/** Whether a new token can be had without a person. */
export function canRefresh(credentials: TokenCredentials): boolean {
  return hasGrant(credentials) || credentials.refreshToken !== undefined;
}

/** Whether there is no token, or it is so close to its end that a call with it may come too late. */
export function isDue(token: StoredToken | undefined, now: Date): boolean {
  if (!token) return true;
  if (token.expiresAt === undefined) return false;
  const expiresAtMs = Date.parse(token.expiresAt);
  const lifetimeMs = token.issuedAt === undefined ? null : expiresAtMs - Date.parse(token.issuedAt);
  const shareMs = lifetimeMs === null ? MARGIN_MS : lifetimeMs * MARGIN_SHARE;
  return endsWithin(token, Math.min(MARGIN_MS, Math.max(0, shareMs)), now);
}

/** False if the end is not known. */
export function endsWithin(token: StoredToken, ms: number, now: Date): boolean {
  return token.expiresAt !== undefined && Date.parse(token.expiresAt) - ms <= now.getTime();
}

export function withTokens(
  credentials: TokenCredentials,
  { accessToken, refreshToken, scopes }: GrantedTokens,
): TokenCredentials {
  // A client's scopes are what it asks for each time; a person's are what was granted.
  if (hasGrant(credentials)) return { ...credentials, token: accessToken };
  return {
    ...credentials,
    accessToken,
    refreshToken: refreshToken === undefined ? credentials.refreshToken : { token: refreshToken },
    scopes: scopes ?? credentials.scopes,
  };
}
