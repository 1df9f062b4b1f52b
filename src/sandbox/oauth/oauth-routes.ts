import querystring from 'node:querystring';
import { z } from 'zod';
import { createHtmlPage, html } from '../../kernel/html.ts';
import { PASSWORD_PREFIX, parseBasicCredentials } from '../authentication.ts';
import { parseInput, type SandboxRequest, type SandboxResponse } from '../request.ts';
import type { SandboxRoute } from '../router.ts';
import {
  type AuthorizationServer,
  TokenRefusal,
  type TokenResponse,
} from './authorization-server.ts';

/** The prefix of accepted client secrets, with any client id. For example `sandbox-client` with `sandbox-secret`. */
const CLIENT_SECRET_PREFIX = 'sandbox-secret';

export function createOauthRoutes(oauth: AuthorizationServer): SandboxRoute[] {
  return [
    {
      method: 'GET',
      pattern: '/oauth/authorize',
      handle: ({ query }) => authorize(oauth, query),
    },
    {
      method: 'POST',
      pattern: '/oauth/token',
      handle: (request) =>
        respondToClient(request, (form, clientId) => issueToken(oauth, clientId, form)),
    },
    {
      method: 'POST',
      pattern: '/oauth/revoke',
      handle: (request) =>
        respondToClient(request, (form, clientId) => {
          oauth.revoke(clientId, getParameter(form, 'token'));
          return {};
        }),
    },
  ];
}

/** Parameters that must be valid before a redirect can report errors to the client. */
const clientSchema = z.object({
  client_id: z.string().min(1).max(256),
  redirect_uri: z.url({ protocol: /^https?$/ }),
});

function authorize(oauth: AuthorizationServer, query: URLSearchParams): SandboxResponse {
  const client = parseInput(clientSchema, Object.fromEntries(query));
  const challenge = query.get('code_challenge');
  if (query.get('response_type') !== 'code') {
    return redirect(query, { error: 'unsupported_response_type' });
  }
  if (challenge !== null && query.get('code_challenge_method') !== 'S256') {
    return redirect(query, { error: 'invalid_request' });
  }
  if (!query.has('approve')) return renderConsentPage(query);
  if (query.get('approve') !== '1') return redirect(query, { error: 'access_denied' });
  const code = oauth.issueCode({
    clientId: client.client_id,
    redirectUri: client.redirect_uri,
    scope: query.get('scope') ?? '',
    codeChallenge: challenge,
  });
  return redirect(query, { code });
}

/** Redirects to the client with its state. */
function redirect(query: URLSearchParams, params: Record<string, string>): SandboxResponse {
  const location = new URL(query.get('redirect_uri')!);
  const state = query.get('state');
  const parameters = { ...params, ...(state !== null && { state }) };
  for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value);
  return { status: 302, headers: { location: location.href } };
}

function renderConsentPage(query: URLSearchParams): SandboxResponse {
  const hiddenInputs = [...query].map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const content = html`
    <p><strong>${query.get('client_id') ?? ''}</strong> requests access to this sandbox's records
    and will return you to ${new URL(query.get('redirect_uri')!).host}.</p>
    <form action="/oauth/authorize">${hiddenInputs}
      <button name="approve" value="1">Approve</button>
      <button name="approve" value="0">Deny</button>
    </form>`;
  return { status: 200, html: createHtmlPage('Connect to the sandbox', content) };
}

function respondToClient(
  request: SandboxRequest,
  createBody: (form: URLSearchParams, clientId: string) => object,
): SandboxResponse {
  const headers = { 'cache-control': 'no-store' };
  try {
    const form = new URLSearchParams(request.body);
    return { status: 200, headers, json: createBody(form, authenticateClient(form, request)) };
  } catch (error) {
    if (!(error instanceof TokenRefusal)) throw error;
    const json = { error: error.code, error_description: error.message };
    return { status: error.code === 'invalid_client' ? 401 : 400, headers, json };
  }
}

/** Returns the authenticated client id. Credentials are in a Basic header or in the body (RFC 6749 section 2.3.1). */
function authenticateClient(form: URLSearchParams, { headers }: SandboxRequest): string {
  const basic = parseBasicCredentials(headers.authorization ?? '');
  const id = basic ? querystring.unescape(basic.user) : form.get('client_id');
  const secret = basic ? querystring.unescape(basic.password) : form.get('client_secret');
  if (id && secret?.startsWith(CLIENT_SECRET_PREFIX)) return id;
  throw new TokenRefusal('invalid_client', 'The client id or the client secret is wrong');
}

function issueToken(
  oauth: AuthorizationServer,
  clientId: string,
  form: URLSearchParams,
): TokenResponse {
  const scope = form.get('scope') ?? '';
  switch (form.get('grant_type')) {
    case 'authorization_code':
      return oauth.exchangeCode(clientId, {
        code: getParameter(form, 'code'),
        redirectUri: getParameter(form, 'redirect_uri'),
        codeVerifier: form.get('code_verifier'),
      });
    case 'client_credentials':
      return oauth.issueToClient(clientId, scope);
    case 'password':
      if (!getParameter(form, 'password').startsWith(PASSWORD_PREFIX)) {
        throw new TokenRefusal('invalid_grant', 'The user name or the password is wrong');
      }
      return oauth.issueToUser(clientId, getParameter(form, 'username'), scope);
    case 'refresh_token':
      return oauth.refresh(clientId, getParameter(form, 'refresh_token'));
    default:
      throw new TokenRefusal('unsupported_grant_type', 'This grant_type is not supported');
  }
}

function getParameter(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (value) return value;
  throw new TokenRefusal('invalid_request', `${name} is missing`);
}
