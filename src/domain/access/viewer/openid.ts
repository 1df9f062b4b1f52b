/**
 * Signs builders in at OpenID providers by the authorization code flow with PKCE (OpenID Connect Core 1.0, section 3.1;
 * RFC 7636). The library validates the response and the ID token: issuer, audience, nonce, expiry and signature.
 */
import { LRUCache } from 'lru-cache';
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  clockTolerance,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { z } from 'zod';
import type { SignInIssuer } from '../../../settings/sign-in-settings.ts';
import { HOUR_MS } from '../../../work/durations.ts';
import { createMask } from '../../../work/secret-mask.ts';
import { type BearerClaims, CLOCK_TOLERANCE_SECONDS, readBearerClaims } from './bearer.ts';

const SCOPE = 'openid email profile';
/** The time limit of one request to a provider. It is short, because a person waits. */
const REQUEST_TIMEOUT_SECONDS = 10;
/** How long a provider's configuration is cached. */
const CONFIGURATION_MS = HOUR_MS;
const ISSUERS_MAX = 100;
/** Codes of the library's errors for a provider that does not respond, or not with OpenID. */
const UNREACHABLE_CODES = ['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_CONFORM'];

/** The secrets of one sign-in. The browser keeps them until it returns from the provider. */
export const signInChecks = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
});
type SignInChecks = z.output<typeof signInChecks>;

/**
 * DENIED: the provider or the person refused the sign-in. UNREACHABLE: the provider did not respond. INVALID: the
 * provider's response failed a check.
 */
type SignInFailure = 'DENIED' | 'UNREACHABLE' | 'INVALID';

export class SignInError extends Error {
  override name = 'SignInError';
  readonly kind: SignInFailure;
  readonly issuer: SignInIssuer;

  /** The message is human-readable. It follows the issuer's name and contains no secret. */
  constructor(kind: SignInFailure, issuer: SignInIssuer, message: string, cause: unknown) {
    super(`${issuer.name} ${message}`, { cause });
    this.kind = kind;
    this.issuer = issuer;
  }
}

/** The gateway's clients at all OpenID providers. */
export interface OpenIdClients {
  /** Returns the provider's URL, to which the browser is redirected. Throws SignInError. */
  begin(issuer: SignInIssuer, redirectUrl: string): Promise<{ url: URL; checks: SignInChecks }>;
  /** Exchanges the code in the callback's URL for the claims of the person. Throws SignInError. */
  finish(issuer: SignInIssuer, callbackUrl: URL, checks: SignInChecks): Promise<BearerClaims>;
  /**
   * Returns the provider's URL at which the person signs out, and which then redirects the browser to `returnUrl` (OpenID
   * Connect RP-Initiated Logout 1.0). The client ID identifies the gateway, because it stores no ID token. Throws
   * SignInError, also if the provider has no such URL.
   */
  buildSignOutUrl(issuer: SignInIssuer, returnUrl: string): Promise<URL>;
}

export function createOpenIdClients(): OpenIdClients {
  const configurations = new LRUCache<string, Configuration, SignInIssuer>({
    max: ISSUERS_MAX,
    ttl: CONFIGURATION_MS,
    fetchMethod: (_key, _stale, { context }) => discover(context),
  });
  const getConfiguration = async (issuer: SignInIssuer) => {
    const configuration = await configurations.fetch(issuer.issuer, { context: issuer });
    if (!configuration) throw new Error('Bug: an issuer without a configuration');
    return configuration;
  };
  return {
    begin: (issuer, redirectUrl) =>
      withSignInErrors(issuer, async () => {
        const configuration = await getConfiguration(issuer);
        const state = randomState();
        const nonce = randomNonce();
        const codeVerifier = randomPKCECodeVerifier();
        const url = buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUrl,
          scope: SCOPE,
          state,
          nonce,
          code_challenge: await calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
        });
        return { url, checks: { state, nonce, codeVerifier } };
      }),
    finish: (issuer, callbackUrl, checks) =>
      withSignInErrors(issuer, async () => {
        const claims = await exchangeCode(await getConfiguration(issuer), callbackUrl, checks);
        return readBearerClaims(claims, issuer.emailsVerified);
      }),
    buildSignOutUrl: (issuer, returnUrl) =>
      withSignInErrors(issuer, async () =>
        buildEndSessionUrl(await getConfiguration(issuer), { post_logout_redirect_uri: returnUrl }),
      ),
  };
}

/**
 * Returns the claims of the ID token. If it has no email address, adds the claims of the UserInfo endpoint. The address
 * and `email_verified` always have the same source, because one source does not vouch for the address of the other.
 */
async function exchangeCode(
  configuration: Configuration,
  callbackUrl: URL,
  { state, nonce, codeVerifier }: SignInChecks,
): Promise<object> {
  const tokens = await authorizationCodeGrant(configuration, callbackUrl, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: codeVerifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (!claims) throw new Error('Bug: tokens without the ID token that was expected');
  // A provider that issues an access token may omit the claims of scopes from the ID token (section 5.4).
  const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
  if (claims.email !== undefined || !hasUserInfo) return claims;
  const userInfo = await fetchUserInfo(configuration, tokens.access_token, claims.sub);
  const { email, email_verified } = userInfo;
  return { ...userInfo, ...claims, email, email_verified };
}

function discover({ issuer, clientId, clientSecret }: SignInIssuer): Promise<Configuration> {
  const isInsecure = issuer.startsWith('http:');
  return discovery(
    new URL(issuer),
    clientId,
    { [clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    clientSecret ? createAuthentication(clientSecret.reveal()) : None(),
    {
      timeout: REQUEST_TIMEOUT_SECONDS,
      // The settings permit http on this machine only.
      execute: [enableNonRepudiationChecks, ...(isInsecure ? [allowInsecureRequests] : [])],
    },
  );
}

/** Authenticates with a method that the provider's metadata lists. If it lists none, uses the default of the standard. */
function createAuthentication(secret: string): ClientAuth {
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authenticate = methods.includes('client_secret_basic') ? basic : post;
    authenticate(server, ...request);
  };
}

async function withSignInErrors<T>(issuer: SignInIssuer, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AuthorizationResponseError) {
      const secret = issuer.clientSecret?.reveal();
      const detail = createMask(secret ? [secret] : [])(error.error_description ?? error.error);
      throw new SignInError('DENIED', issuer, `did not sign you in: ${detail}`, error);
    }
    const isUnreachable =
      error instanceof TypeError ||
      (error instanceof ClientError && UNREACHABLE_CODES.includes(error.code ?? ''));
    if (isUnreachable) throw new SignInError('UNREACHABLE', issuer, 'did not respond.', error);
    throw new SignInError('INVALID', issuer, 'sent a response that is not valid.', error);
  }
}
