import { createHash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Settings } from '../settings.ts';

/** Long enough for a redirect by hand; RFC 6749 asks for ten minutes at most. */
const CODE_LIFETIME_MS = 5 * 60 * 1_000;
/** Codes, and tokens of each kind. Beyond it, the one that was unused for the longest time is revoked. */
const HELD_MAX = 100_000;
/** A `max` would take its memory at once, some megabytes in each process that never meets OAuth. */
const HELD = { maxSize: HELD_MAX, sizeCalculation: () => 1 };

/** All tokens that come from one consent; revoked together. */
interface Family {
  clientId: string;
  userId: string;
  scope: string;
  revoked: boolean;
}

interface Code {
  family: Family;
  redirectUri: string;
  codeChallenge: string | null;
  expiresAtMs: number;
  used: boolean;
}

interface AccessToken {
  family: Family;
  expiresAtMs: number;
}

interface RefreshToken {
  family: Family;
  used: boolean;
}

export interface Consent {
  clientId: string;
  redirectUri: string;
  scope: string;
  /** Of method S256; null for a flow without PKCE. */
  codeChallenge: string | null;
}

/** The answer of a token endpoint, as RFC 6749 section 5.1 has it, and who it is for. */
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

/** Scopes are noted and given back; the sandbox allows every caller everything. */
const DEFAULT_SCOPE = 'records.read records.write';
const CONSENTING_USER = 'sandbox-user';

/** Issues, rotates and revokes tokens, all in memory. */
export class AuthorizationServer {
  /** For tests: what has happened since the start. */
  readonly counts = { issued: 0, refreshed: 0, reuseRefused: 0, revoked: 0 };
  readonly #settings: Settings;
  readonly #now: () => Date;
  readonly #codes = new LRUCache<string, Code>(HELD);
  readonly #accessTokens = new LRUCache<string, AccessToken>(HELD);
  readonly #refreshTokens = new LRUCache<string, RefreshToken>(HELD);

  constructor(settings: Settings, now: () => Date) {
    this.#settings = settings;
    this.#now = now;
  }

  /** The code that a consenting user is sent back with. */
  issueCode({ clientId, redirectUri, scope, codeChallenge }: Consent): string {
    const code = `sbx_code_${secret()}`;
    const family = newFamily(clientId, CONSENTING_USER, scope);
    const expiresAtMs = this.#now().getTime() + CODE_LIFETIME_MS;
    this.#codes.set(code, { family, redirectUri, codeChallenge, expiresAtMs, used: false });
    return code;
  }

  exchangeCode(
    clientId: string,
    given: { code: string; redirectUri: string; codeVerifier: string | null },
  ): TokenResponse {
    const held = this.#codes.get(given.code);
    if (held?.used) held.family.revoked = true;
    if (held === undefined || held.used || held.expiresAtMs <= this.#now().getTime()) {
      throw new TokenRefusal('invalid_grant', 'The code is unknown, used or expired');
    }
    if (held.family.clientId !== clientId || held.redirectUri !== given.redirectUri) {
      throw new TokenRefusal('invalid_grant', 'The code is for another client or redirect_uri');
    }
    if (!verifies(held.codeChallenge, given.codeVerifier)) {
      throw new TokenRefusal('invalid_grant', 'code_verifier does not fit the code_challenge');
    }
    held.used = true;
    return this.#issue(held.family, { refreshable: true });
  }

  /** `client_credentials`: the client acts for itself, and asks again rather than refresh. */
  grantToClient(clientId: string, scope: string): TokenResponse {
    return this.#issue(newFamily(clientId, clientId, scope), { refreshable: false });
  }

  /** `password`: the caller has checked the password. */
  grantToUser(clientId: string, userId: string, scope: string): TokenResponse {
    return this.#issue(newFamily(clientId, userId, scope), { refreshable: true });
  }

  /** Gives a new pair. A refresh token seen twice was stolen, or lost: all of its family ends. */
  refresh(clientId: string, refreshToken: string): TokenResponse {
    const held = this.#refreshTokens.get(refreshToken);
    if (held?.used) {
      held.family.revoked = true;
      this.counts.reuseRefused += 1;
    }
    if (held === undefined || held.family.revoked || held.family.clientId !== clientId) {
      throw new TokenRefusal('invalid_grant', 'The refresh token is unknown, used or revoked');
    }
    held.used = true;
    this.counts.refreshed += 1;
    return this.#issue(held.family, { refreshable: true });
  }

  /** Ends all tokens of the same consent. An unknown token is none of this server's: RFC 7009 section 2.2. */
  revoke(clientId: string, token: string): void {
    const held = this.#refreshTokens.get(token) ?? this.#accessTokens.get(token);
    if (held?.family.clientId !== clientId) return;
    held.family.revoked = true;
    this.counts.revoked += 1;
  }

  findAccessToken(token: string): Family | null {
    const held = this.#accessTokens.get(token);
    if (held === undefined || held.family.revoked) return null;
    return held.expiresAtMs > this.#now().getTime() ? held.family : null;
  }

  #issue(family: Family, { refreshable }: { refreshable: boolean }): TokenResponse {
    const { tokenLifetimeSeconds } = this.#settings;
    const accessToken = `sbx_at_${secret()}`;
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
    if (!refreshable) return response;
    const refreshToken = `sbx_rt_${secret()}`;
    this.#refreshTokens.set(refreshToken, { family, used: false });
    return { ...response, refresh_token: refreshToken };
  }
}

function newFamily(clientId: string, userId: string, scope: string): Family {
  return { clientId, userId, scope: scope || DEFAULT_SCOPE, revoked: false };
}

function secret(): string {
  return randomBytes(24).toString('base64url');
}

/** A verifier for a code that has no challenge is refused too: RFC 9700 section 2.1.1. */
function verifies(challenge: string | null, verifier: string | null): boolean {
  if (challenge === null || verifier === null) return challenge === verifier;
  return createHash('sha256').update(verifier).digest('base64url') === challenge;
}
