/**
 * Authenticates callers of the sandbox. It accepts any credentials with the right prefix, so that each customer of a demo
 * can have different ones. All callers share one workspace.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { AuthorizationServer } from './oauth/authorization-server.ts';
import { SandboxRefusal } from './sandbox-refusal.ts';

const KEY_HEADERS = ['x-api-key', 'x-account-key'];
/** The prefix of accepted API keys, for example `sandbox-key` or `sandbox-key-of-acme`. */
const API_KEY_PREFIX = 'sandbox-key';
/** The prefix of accepted passwords, with any user name. */
export const PASSWORD_PREFIX = 'sandbox-password';
/** The prefix of access tokens that never expire. Tokens of the sandbox's OAuth server are accepted too. */
const ACCESS_TOKEN_PREFIX = 'sandbox-access-token';

/**
 * Returns the name of the caller, which a token refresh does not change. A request without credentials is `public`.
 * Throws a SandboxRefusal (401) if one of the credentials is invalid.
 */
export function authenticate(headers: IncomingHttpHeaders, oauth: AuthorizationServer): string {
  const { authorization } = headers;
  const names = [
    ...KEY_HEADERS.flatMap((header) => {
      const key = headers[header];
      return key === undefined ? [] : authenticateKey(header, String(key));
    }),
    ...(authorization === undefined ? [] : [authenticateHeader(authorization, oauth)]),
  ];
  return names.join(' ') || 'public';
}

/** Parses a Basic header. Null for any other header. */
export function parseBasicCredentials(header: string): { user: string; password: string } | null {
  const credentials = /^basic +([a-z0-9+/_=-]+)$/i.exec(header)?.[1];
  if (credentials === undefined) return null;
  const [user = '', ...passwordParts] = Buffer.from(credentials, 'base64')
    .toString('utf8')
    .split(':');
  return { user, password: passwordParts.join(':') };
}

function authenticateKey(header: string, key: string): string {
  if (key.startsWith(API_KEY_PREFIX)) return `${header}:${key}`;
  const detail = `${header} is not a key of this sandbox, whose keys begin with ${API_KEY_PREFIX}`;
  throw createUnauthorized('invalid_api_key', detail);
}

function authenticateHeader(authorization: string, oauth: AuthorizationServer): string {
  const bearer = /^bearer +(\S+)$/i.exec(authorization)?.[1];
  if (bearer !== undefined) {
    if (bearer.startsWith(ACCESS_TOKEN_PREFIX)) return `bearer:${bearer}`;
    const token = oauth.findAccessToken(bearer);
    if (token !== null) return `oauth:${token.clientId}:${token.userId}`;
    throw createUnauthorized('invalid_token', 'The access token is unknown, expired or revoked');
  }
  const basic = parseBasicCredentials(authorization);
  if (basic?.password.startsWith(PASSWORD_PREFIX)) return `basic:${basic.user}`;
  throw createUnauthorized(
    'invalid_credentials',
    `The password is wrong. Passwords of this sandbox begin with ${PASSWORD_PREFIX}`,
  );
}

function createUnauthorized(code: string, message: string): SandboxRefusal {
  return new SandboxRefusal(
    401,
    { code, message },
    { 'www-authenticate': 'Bearer realm="sandbox"' },
  );
}
