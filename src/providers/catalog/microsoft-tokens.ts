import type { OAuth2Settings } from '../contract.ts';

/** The rules of the Microsoft identity platform for refresh tokens. Each of its APIs is a provider of its own. */
export const MICROSOFT_TOKENS = {
  // Microsoft identity platform: only this scope gives a refresh token.
  refreshTokenScopes: ['offline_access'],
  // Microsoft identity platform: the person must sign in or consent again.
  tokenErrors: [
    { code: 'interaction_required', kind: 'AUTH_INVALIDATED' },
    { code: 'consent_required', kind: 'AUTH_INVALIDATED' },
    { code: 'login_required', kind: 'AUTH_INVALIDATED' },
  ],
} as const satisfies Partial<OAuth2Settings>;
