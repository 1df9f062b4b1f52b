/**
 * Who calls. Credentials are accepted by a rule rather than from a list, so that every customer of
 * a demo can bring their own; all callers see the same workspace.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { AuthorizationServer } from './oauth/authorization-server.ts';
import { Refusal } from './refusal.ts';

/** Keys that start so are accepted: `sandbox-key`, `sandbox-key-of-acme`. */
export const API_KEY_START = 'sandbox-key';
/** Passwords that start so are accepted, of any user name. */
export const PASSWORD_START = 'sandbox-password';
/** Access tokens that start so are accepted for good, beside those of the sandbox's own OAuth server. */
export const ACCESS_TOKEN_START = 'sandbox-access-token';

/**
 * A stable name of the caller, the same before and after a token refresh. A request without any
 * credential is `public`; each credential that it has must be right.
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

/** User name and password of a Basic header; null for any other header. */
export function basicCredentials(header: string): { user: string; password: string } | null {
  const encoded = /^basic +([a-z0-9+/_=-]+)$/i.exec(header)?.[1];
  if (encoded === undefined) return null;
  const [user = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  return { user, password: rest.join(':') };
}

function callerOfKey(header: string, key: string): string {
  if (key.startsWith(API_KEY_START)) return `${header}:${key}`;
  throw unauthorized('invalid_api_key', `${header} is not a key of this sandbox`);
}

function callerOfAuthorization(authorization: string, oauth: AuthorizationServer): string {
  const bearer = /^bearer +(\S+)$/i.exec(authorization)?.[1];
  if (bearer !== undefined) {
    if (bearer.startsWith(ACCESS_TOKEN_START)) return `bearer:${bearer}`;
    const token = oauth.findAccessToken(bearer);
    if (token !== null) return `oauth:${token.clientId}:${token.userId}`;
    throw unauthorized('invalid_token', 'The access token is unknown, expired or revoked');
  }
  const basic = basicCredentials(authorization);
  if (basic?.password.startsWith(PASSWORD_START)) return `basic:${basic.user}`;
  throw unauthorized('invalid_credentials', 'The user name or the password is wrong');
}

function unauthorized(code: string, message: string): Refusal {
  return new Refusal(401, { code, message }, { 'www-authenticate': 'Bearer realm="sandbox"' });
}
