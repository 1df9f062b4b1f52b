/**
 * An OpenID provider that implements discovery, the authorization code flow with PKCE, ID tokens and UserInfo
 * from the standard. It signs a person in without a form. Tests forge its next ID token to check that the
 * gateway rejects it.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { serve } from './serve.ts';

const ALGORITHM = 'ES256';
const CLIENT_ID = 'console';
const CLIENT_SECRET = 'secret of the console';

interface Person {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
}

/** Replaces claims of the next ID token, or signs it with another key. */
interface Forgery {
  claims?: Record<string, unknown>;
  hasOtherKey?: boolean;
}

export interface OpenIdProvider extends AsyncDisposable {
  url: string;
  /** The issuer for SIGN_IN_ISSUERS. */
  settings: { issuer: string; clientId: string; clientSecret: string; name: string };
  /** The person that the next sign-in identifies. */
  person: Person;
  /** If true, the ID token contains only `sub`, and the UserInfo endpoint returns the other claims. */
  hidesClaims: boolean;
  /** The error that the provider returns in place of a code. */
  denial: string | null;
  forgery: Forgery;
  /** Queries of authorization requests. */
  requests: URLSearchParams[];
  /** Queries of sign-outs. */
  signOuts: URLSearchParams[];
}

interface Code {
  nonce: string;
  challenge: string;
  redirectUri: string;
  person: Person;
}

export async function startOpenIdProvider({ hasSignOut = true } = {}): Promise<OpenIdProvider> {
  const [pair, otherPair] = [await generateKeyPair(ALGORITHM), await generateKeyPair(ALGORITHM)];
  const jwk = { ...(await exportJWK(pair.publicKey)), alg: ALGORITHM, kid: 'first' };
  const codes = new Map<string, Code>();
  const tokens = new Map<string, Person>();

  const routes: Record<string, (req: IncomingMessage, res: ServerResponse) => unknown> = {
    '/.well-known/openid-configuration': (_req, res) => sendJson(res, metadata()),
    '/keys': (_req, res) => sendJson(res, { keys: [jwk] }),
    '/authorize': (req, res) => {
      const query = new URL(req.url ?? '', provider.url).searchParams;
      provider.requests.push(query);
      const location = new URL(query.get('redirect_uri') ?? '');
      location.searchParams.set('state', query.get('state') ?? '');
      location.searchParams.set('iss', provider.url);
      if (provider.denial) location.searchParams.set('error', provider.denial);
      else location.searchParams.set('code', createCode(query));
      res.writeHead(302, { location: location.href }).end();
    },
    '/token': async (req, res) => {
      const form = new URLSearchParams(await text(req));
      const expectedCredentials = Buffer.from(
        `${CLIENT_ID}:${encodeURIComponent(CLIENT_SECRET).replaceAll('%20', '+')}`,
      ).toString('base64');
      if (req.headers.authorization !== `Basic ${expectedCredentials}`)
        return refuse(res, 'invalid_client');
      const code = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const verifier = form.get('code_verifier') ?? '';
      const isProven =
        code?.challenge === createHash('sha256').update(verifier).digest('base64url');
      if (!code || !isProven || code.redirectUri !== form.get('redirect_uri')) {
        return refuse(res, 'invalid_grant');
      }
      const accessToken = randomUUID();
      tokens.set(accessToken, code.person);
      sendJson(res, {
        access_token: accessToken,
        token_type: 'Bearer',
        id_token: await signIdToken(code),
      });
    },
    '/userinfo': (req, res) => {
      const person = tokens.get((req.headers.authorization ?? '').replace('Bearer ', ''));
      if (person) sendJson(res, person);
      else refuse(res, 'invalid_token');
    },
    '/sign-out': (req, res) => {
      const query = new URL(req.url ?? '', provider.url).searchParams;
      provider.signOuts.push(query);
      res.writeHead(302, { location: query.get('post_logout_redirect_uri') ?? '' }).end();
    },
  };

  const metadata = () => ({
    issuer: provider.url,
    authorization_endpoint: `${provider.url}/authorize`,
    token_endpoint: `${provider.url}/token`,
    userinfo_endpoint: `${provider.url}/userinfo`,
    jwks_uri: `${provider.url}/keys`,
    ...(hasSignOut && { end_session_endpoint: `${provider.url}/sign-out` }),
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [ALGORITHM],
    authorization_response_iss_parameter_supported: true,
  });
  const createCode = (query: URLSearchParams): string => {
    const code = randomUUID();
    codes.set(code, {
      nonce: query.get('nonce') ?? '',
      challenge: query.get('code_challenge') ?? '',
      redirectUri: query.get('redirect_uri') ?? '',
      person: provider.person,
    });
    return code;
  };
  const signIdToken = ({ nonce, person }: Code) => {
    const { claims, hasOtherKey } = provider.forgery;
    const now = Math.floor(Date.now() / 1_000);
    const releasedClaims = provider.hidesClaims ? { sub: person.sub } : person;
    const times = { iat: now, exp: now + 60 };
    return new SignJWT({
      iss: provider.url,
      aud: CLIENT_ID,
      nonce,
      ...times,
      ...releasedClaims,
      ...claims,
    })
      .setProtectedHeader({ alg: ALGORITHM, kid: 'first' })
      .sign(hasOtherKey ? otherPair.privateKey : pair.privateKey);
  };

  const server = await serve((req, res) => {
    const route = routes[(req.url ?? '').split('?')[0] ?? ''];
    if (route) void route(req, res);
    else res.writeHead(404).end();
  });
  const provider: OpenIdProvider = {
    url: server.url,
    settings: {
      issuer: server.url,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      name: 'Example ID',
    },
    person: { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' },
    hidesClaims: false,
    denial: null,
    forgery: {},
    requests: [],
    signOuts: [],
    [Symbol.asyncDispose]: () => server.stop(),
  };
  return provider;
}

function sendJson(res: ServerResponse, body: object): void {
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function refuse(res: ServerResponse, error: string): void {
  res.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
}
