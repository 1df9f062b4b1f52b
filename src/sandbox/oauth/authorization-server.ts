import { hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { growUpTo } from '../../work/growing-cache.ts';
import type { Settings } from '../settings.ts';

/** Enough time for a manual redirect. RFC 6749 recommends at most ten minutes. */
const CODE_LIFETIME_MS = 5 * 60 * 1_000;
/** The maximum number of codes, and of tokens of each kind. Beyond it, the least recently used one is dropped. */
const ENTRIES_MAX = 100_000;

/** All tokens of one consent, which are revoked together. */
interface TokenFamily {
  clientId: string;
  userId: string;
  scope: string;
  isRevoked: boolean;
}

interface Code {
  family: TokenFamily;
  redirectUri: string;
  codeChallenge: string | null;
  expiresAtMs: number;
  isUsed: boolean;
}

interface AccessToken {
  family: TokenFamily;
  expiresAtMs: number;
}

interface RefreshToken {
  family: TokenFamily;
  isUsed: boolean;
}

interface Consent {
  clientId: string;
  redirectUri: string;
  scope: string;
  /** The challenge of method S256. Null without PKCE. */
  codeChallenge: string | null;
}

/** The response of the token endpoint (RFC 6749 section 5.1), plus the user and workspace. */
export interface TokenResponse {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token?: string;
  scope: string;
  user: { id: string };
  workspace: { id: string };
}

/** An error of RFC 6749 section 5.2, such as `invalid_grant`. */
export class TokenRefusal extends Error {
  override name = 'TokenRefusal';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The default scope. Scopes are stored and returned, but permit everything. */
const DEFAULT_SCOPE = 'records.read records.write';
const CONSENTING_USER = 'sandbox-user';

/** Issues, rotates and revokes tokens, all in memory. */
export class AuthorizationServer {
  /** Event counts since the start, for tests. */
  readonly counts = { issued: 0, refreshed: 0, reuseRefused: 0, revoked: 0 };
  readonly #settings: Settings;
  readonly #now: () => Date;
  readonly #codes = new LRUCache<string, Code>(growUpTo(ENTRIES_MAX));
  readonly #accessTokens = new LRUCache<string, AccessToken>(growUpTo(ENTRIES_MAX));
  readonly #refreshTokens = new LRUCache<string, RefreshToken>(growUpTo(ENTRIES_MAX));

  constructor(settings: Settings, now: () => Date) {
    this.#settings = settings;
    this.#now = now;
  }

  /** Creates an authorization code for a user who consented. */
  issueCode({ clientId, redirectUri, scope, codeChallenge }: Consent): string {
    const code = `sbx_code_${createSecret()}`;
    const family = createFamily(clientId, CONSENTING_USER, scope);
    const expiresAtMs = this.#now().getTime() + CODE_LIFETIME_MS;
    this.#codes.set(code, { family, redirectUri, codeChallenge, expiresAtMs, isUsed: false });
    return code;
  }

  exchangeCode(
    clientId: string,
    request: { code: string; redirectUri: string; codeVerifier: string | null },
  ): TokenResponse {
    const code = this.#codes.get(request.code);
    if (code?.isUsed) code.family.isRevoked = true;
    if (code === undefined || code.isUsed || code.expiresAtMs <= this.#now().getTime()) {
      throw new TokenRefusal('invalid_grant', 'The code is unknown, used or expired');
    }
    if (code.family.clientId !== clientId || code.redirectUri !== request.redirectUri) {
      throw new TokenRefusal('invalid_grant', 'The code is for another client or redirect_uri');
    }
    if (!isVerifiedBy(code.codeChallenge, request.codeVerifier)) {
      throw new TokenRefusal('invalid_grant', 'code_verifier does not fit the code_challenge');
    }
    code.isUsed = true;
    return this.#issue(code.family, { isRefreshable: true });
  }

  /**
   * Issues a token for the grant `client_credentials`. It has no refresh token, because the client can request a new
   * one.
   */
  issueToClient(clientId: string, scope: string): TokenResponse {
    return this.#issue(createFamily(clientId, clientId, scope), { isRefreshable: false });
  }

  /** Issues a token for the grant `password`. The caller must have checked the password. */
  issueToUser(clientId: string, userId: string, scope: string): TokenResponse {
    return this.#issue(createFamily(clientId, userId, scope), { isRefreshable: true });
  }

  /** Issues a new pair of tokens. A refresh token that is used twice was stolen or lost, so its family is revoked. */
  refresh(clientId: string, refreshToken: string): TokenResponse {
    const storedToken = this.#refreshTokens.get(refreshToken);
    if (storedToken?.isUsed) {
      storedToken.family.isRevoked = true;
      this.counts.reuseRefused += 1;
    }
    if (
      storedToken === undefined ||
      storedToken.family.isRevoked ||
      storedToken.family.clientId !== clientId
    ) {
      throw new TokenRefusal('invalid_grant', 'The refresh token is unknown, used or revoked');
    }
    storedToken.isUsed = true;
    this.counts.refreshed += 1;
    return this.#issue(storedToken.family, { isRefreshable: true });
  }

  /** Revokes all tokens of the same consent. Ignores unknown tokens (RFC 7009 section 2.2). */
  revoke(clientId: string, token: string): void {
    const storedToken = this.#refreshTokens.get(token) ?? this.#accessTokens.get(token);
    if (storedToken?.family.clientId !== clientId) return;
    storedToken.family.isRevoked = true;
    this.counts.revoked += 1;
  }

  findAccessToken(token: string): TokenFamily | null {
    const storedToken = this.#accessTokens.get(token);
    if (storedToken === undefined || storedToken.family.isRevoked) return null;
    return storedToken.expiresAtMs > this.#now().getTime() ? storedToken.family : null;
  }

  #issue(family: TokenFamily, { isRefreshable }: { isRefreshable: boolean }): TokenResponse {
    const { tokenLifetimeSeconds } = this.#settings;
    const accessToken = `sbx_at_${createSecret()}`;
    const expiresAtMs = this.#now().getTime() + tokenLifetimeSeconds * 1_000;
    this.#accessTokens.set(accessToken, { family, expiresAtMs });
    this.counts.issued += 1;
    const response: TokenResponse = {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: tokenLifetimeSeconds,
      scope: family.scope,
      user: { id: family.userId },
      workspace: { id: 'sandbox' },
    };
    if (!isRefreshable) return response;
    const refreshToken = `sbx_rt_${createSecret()}`;
    this.#refreshTokens.set(refreshToken, { family, isUsed: false });
    return { ...response, refresh_token: refreshToken };
  }
}

function createFamily(clientId: string, userId: string, scope: string): TokenFamily {
  return { clientId, userId, scope: scope || DEFAULT_SCOPE, isRevoked: false };
}

function createSecret(): string {
  return randomBytes(24).toString('base64url');
}

/**
 * True if the verifier matches the challenge. A verifier for a code without a challenge is rejected (RFC 9700 section
 * 2.1.1).
 */
function isVerifiedBy(challenge: string | null, verifier: string | null): boolean {
  if (challenge === null || verifier === null) return challenge === verifier;
  return hash('sha256', verifier, 'base64url') === challenge;
}
