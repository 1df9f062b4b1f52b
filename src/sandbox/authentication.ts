/**
 * Authenticates callers of the sandbox. Any credentials with the right prefix are accepted, so that each customer of a
 * demo can have their own. All callers share one workspace.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { AuthorizationServer } from './oauth/authorization-server.ts';
import { SandboxRefusal } from './refusal.ts';

/** The prefix of accepted API keys, for example `sandbox-key` or `sandbox-key-of-acme`. */
const API_KEY_PREFIX = 'sandbox-key';
/** The prefix of accepted passwords, with any user name. */
export const PASSWORD_PREFIX = 'sandbox-password';
/** The prefix of access tokens that never expire. Tokens of the sandbox's OAuth server are accepted too. */
const ACCESS_TOKEN_PREFIX = 'sandbox-access-token';

/**
 * Returns a stable name of the caller, which a token refresh does not change. Every credential in the request must be
 * valid; a request without credentials is `public`.
 */
export function authenticate(headers: IncomingHttpHeaders, oauth: AuthorizationServer): string {
  const names: string[] = [];
  for (const header of ['x-api-key', 'x-account-key']) {
    const key = headers[header];
    if (key !== undefined) names.push(callerOfKey(header, String(key)));
  }
  const { authorization } = headers;
  if (authorization !== undefined) names.push(callerOfAuthorization(authorization, oauth));
  return names.join(' ') || 'public';
}

/** Parses a Basic header. Null for any other header. */
export function basicCredentials(header: string): { user: string; password: string } | null {
  const encoded = /^basic +([a-z0-9+/_=-]+)$/i.exec(header)?.[1];
  if (encoded === undefined) return null;
  const [user = '', ...passwordParts] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  return { user, password: passwordParts.join(':') };
}

function callerOfKey(header: string, key: string): string {
  if (key.startsWith(API_KEY_PREFIX)) return `${header}:${key}`;
  throw unauthorized('invalid_api_key', `${header} is not a key of this sandbox`);
}

function callerOfAuthorization(authorization: string, oauth: AuthorizationServer): string {
  const bearer = /^bearer +(\S+)$/i.exec(authorization)?.[1];
  if (bearer !== undefined) {
    if (bearer.startsWith(ACCESS_TOKEN_PREFIX)) return `bearer:${bearer}`;
    const token = oauth.findAccessToken(bearer);
    if (token !== null) return `oauth:${token.clientId}:${token.userId}`;
    throw unauthorized('invalid_token', 'The access token is unknown, expired or revoked');
  }
  const basic = basicCredentials(authorization);
  if (basic?.password.startsWith(PASSWORD_PREFIX)) return `basic:${basic.user}`;
  throw unauthorized('invalid_credentials', 'The user name or the password is wrong');
}

function unauthorized(code: string, message: string): SandboxRefusal {
  return new SandboxRefusal(
    401,
    { code, message },
    { 'www-authenticate': 'Bearer realm="sandbox"' },
  );
}
