/** Registers the routes of the sign-in to the console. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Services } from '../../domain/access/call.ts';
import {
  createLocalSignIn,
  hasLocalSignIn,
  localSignInInput,
} from '../../domain/access/viewer/local-sign-in.ts';
import {
  createOpenIdClients,
  type OpenIdClients,
  SignInError,
  signInChecks,
} from '../../domain/access/viewer/openid.ts';
import { parseInput } from '../../domain/base/parse-input.ts';
import { DomainError } from '../../kernel/errors.ts';
import { html } from '../../kernel/html.ts';
import type { SealedLocation, Vault } from '../../kernel/secrets.ts';
import { createProblemHeaders, toProblem } from '../../rest/endpoint/rest-errors.ts';
import { findBodyRefusal } from '../../rest/endpoint/utf8.ts';
import { SIGN_IN_CALLBACK_PATH, type SignInIssuer } from '../../settings/sign-in-settings.ts';
import { MINUTE_MS } from '../../work/durations.ts';
import { sendPage, toParagraphs } from '../html-page.ts';
import { createCookie } from '../http/cookies.ts';
import {
  buildConsoleUrl,
  buildRedirectUrl,
  openConsoleSession,
  parseReturnPath,
  registerConsoleSession,
  requireOwnPage,
  SIGN_IN_PATH,
  type SignInParts,
} from './console-session-routes.ts';

export function registerSignIn(scope: FastifyInstance, parts: SignInParts): void {
  scope.addHook('onRequest', (_request, reply, done) => {
    // URLs of callbacks contain codes.
    reply.header('referrer-policy', 'no-referrer');
    done();
  });
  const clients = createOpenIdClients();
  registerConsoleSession(scope, parts, clients);
  registerOpenIdSignIn(scope, parts, clients);
  registerLocalSignIn(scope, parts);
}

/** Far more than the longest email address, name and password. */
const BODY_BYTES_MAX = 8_192;

/** Signs a person in with the password of the local issuer, for the gateway's own pages. */
function registerLocalSignIn(scope: FastifyInstance, parts: SignInParts): void {
  const { services, cors } = parts;
  const signIn = createLocalSignIn(services);
  const parseJson = scope.getDefaultJsonParser('error', 'error');
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX },
    (request, body, done) => {
      const refusal = findBodyRefusal(request.headers, body as Buffer);
      if (refusal) done(refusal);
      else parseJson(request, body.toString(), done);
    },
  );
  scope.post(`${SIGN_IN_PATH}/local`, async (request, reply) => {
    if (!hasLocalSignIn(services)) {
      const detail = 'This gateway has no sign-in at the local issuer: see LOCAL_ISSUER_PASSWORD.';
      throw new DomainError('NOT_FOUND', detail);
    }
    requireOwnPage(cors.isFromOwnPage(request.headers));
    const input = parseInput(localSignInInput, request.body);
    await openConsoleSession(parts, signIn(input, request.metadata), reply);
    return reply.code(204).send();
  });
}

/** Time for the person to sign in at the provider. */
const SIGN_IN_MS = 10 * MINUTE_MS;
const COOKIE_LOCATION: SealedLocation = {
  table: 'ConsoleSession',
  column: 'pendingSignIn',
  row: '',
  projectId: '',
};

function registerOpenIdSignIn(
  scope: FastifyInstance,
  parts: SignInParts,
  clients: OpenIdClients,
): void {
  const signIns = new OpenIdSignIns(parts, clients);
  scope.register(async (pages) => {
    pages.setErrorHandler((error, _request, reply) => signIns.fail(error, reply));
    pages.get<SignInRoute>(SIGN_IN_PATH, (request, reply) => signIns.begin(request, reply));
    pages.get(SIGN_IN_CALLBACK_PATH, (request, reply) => signIns.finish(request, reply));
  });
}

/** The route of a sign-in's link, with its query. */
interface SignInRoute {
  Querystring: { issuer?: unknown; return?: unknown };
}

class OpenIdSignIns {
  readonly #parts: SignInParts;
  readonly #clients: OpenIdClients;
  readonly #pendingCookie: PendingSignInCookie;

  constructor(parts: SignInParts, clients: OpenIdClients) {
    this.#parts = parts;
    this.#clients = clients;
    this.#pendingCookie = createPendingSignInCookie(parts.services);
  }

  /** Redirects the browser to the provider that the link names. */
  async begin(request: FastifyRequest<SignInRoute>, reply: FastifyReply): Promise<FastifyReply> {
    const { services } = this.#parts;
    const issuer = this.#findIssuer(request.query.issuer);
    if (!issuer) return this.#refuse(null, reply, UNKNOWN_ISSUER);
    const redirectUrl = buildRedirectUrl(issuer, { services, request });
    const { url, checks } = await this.#clients.begin(issuer, redirectUrl);
    const pending = {
      issuer: issuer.issuer,
      checks,
      returnPath: parseReturnPath(request.query.return),
    };
    return reply.header('set-cookie', this.#pendingCookie.set(pending)).redirect(url.href, 303);
  }

  /** Signs in the browser that returns from the provider. */
  async finish(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { services } = this.#parts;
    const pending = this.#pendingCookie.find(request.headers.cookie);
    const issuer = this.#findIssuer(pending?.issuer);
    reply.header('set-cookie', this.#pendingCookie.remove());
    if (!pending || !issuer) return this.#refuse(issuer, reply, NO_PENDING_SIGN_IN);
    const callbackUrl = new URL(buildRedirectUrl(issuer, { services, request }));
    callbackUrl.search = request.url.split('?')[1] ?? '';
    const claims = await this.#clients.finish(issuer, callbackUrl, pending.checks);
    await openConsoleSession(this.#parts, claims, reply);
    return reply.redirect(buildConsoleUrl(issuer, { services, request }, pending.returnPath), 303);
  }

  /** Sends the page of an error. */
  fail(error: unknown, reply: FastifyReply): FastifyReply {
    const { log } = this.#parts.services;
    if (error instanceof SignInError) {
      const { kind, message, issuer, cause } = error;
      log.warn({ issuer: issuer.issuer, kind, codes: listCodes(cause) }, 'sign_in.refused');
      const { status, remedy } = REFUSALS[kind];
      return this.#refuse(issuer, reply, { status, paragraphs: [message, remedy] });
    }
    const problem = toProblem(error, { log, route: reply.request.routeOptions.url });
    const paragraphs = [problem.detail, 'Sign in again in a few seconds.'];
    reply.headers(createProblemHeaders(problem));
    return this.#refuse(null, reply, { status: problem.status, paragraphs });
  }

  #findIssuer(url: unknown): SignInIssuer | null {
    const { SIGN_IN_ISSUERS } = this.#parts.services.config;
    return SIGN_IN_ISSUERS.find(({ issuer }) => issuer === url) ?? null;
  }

  /** Sends a page with the reason why the person is not signed in, and a link back to the console. */
  #refuse(
    issuer: SignInIssuer | null,
    reply: FastifyReply,
    { status, paragraphs }: { status: number; paragraphs: string[] },
  ): FastifyReply {
    const { services } = this.#parts;
    const consoleUrl = buildConsoleUrl(issuer, { services, request: reply.request });
    const link = html`<p><a class="button" href="${consoleUrl}">Back to the console</a></p>\n`;
    const content = html`${toParagraphs(paragraphs)}${link}`;
    return sendPage(reply, status, { title: 'Not signed in', content });
  }
}

const UNKNOWN_ISSUER = {
  status: 400,
  paragraphs: ['This link names no OpenID provider of this gateway.'],
};
const NO_PENDING_SIGN_IN = {
  status: 400,
  paragraphs: [
    'This sign-in has expired, has ended already, or was begun in another browser.',
    'Sign in again. If this happens each time, allow cookies for this site.',
  ],
};
const REFUSALS = {
  DENIED: {
    status: 403,
    remedy: 'Sign in again, or ask the administrator of the OpenID provider for access.',
  },
  UNREACHABLE: { status: 502, remedy: 'Sign in again in a few minutes.' },
  INVALID: {
    status: 400,
    remedy: 'Sign in again. If this happens each time, the operator finds the reason in the log.',
  },
} as const;

/** Lists the codes of an error and its causes. Their messages are not logged, because they may contain tokens. */
function listCodes(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const { code, error: providerCode, cause } = error as Error & { code?: unknown; error?: unknown };
  return [code, providerCode].filter((item) => typeof item === 'string').concat(listCodes(cause));
}

const pendingSignIn = z.object({
  issuer: z.string(),
  checks: signInChecks,
  /** The path below the gateway's URL to which the browser returns. */
  returnPath: z.string(),
  expireMs: z.number(),
});
type PendingSignIn = z.output<typeof pendingSignIn>;

interface PendingSignInCookie {
  set(pending: Omit<PendingSignIn, 'expireMs'>): string;
  /** Null if the browser has none, or it has expired or was changed. */
  find(cookies: string | undefined): PendingSignIn | null;
  remove(): string;
}

/**
 * Creates the cookie with the state of a sign-in while the browser is at the OpenID provider. The callback succeeds only
 * in the browser that began the sign-in (RFC 9700, section 4.7), and unfinished sign-ins need no row in the database.
 */
function createPendingSignInCookie({ config, vault, now }: Services): PendingSignInCookie {
  // The provider's site redirects the browser to the callback, so browsers would omit a `Strict` cookie.
  const cookie = createCookie(config, {
    name: 'console-sign-in',
    sameSite: 'Lax',
    lifetimeMs: SIGN_IN_MS,
  });
  return {
    set(pending) {
      const expireMs = now().getTime() + SIGN_IN_MS;
      return cookie.set(vault.seal(JSON.stringify({ ...pending, expireMs }), COOKIE_LOCATION));
    },
    find(cookies) {
      const sealed = cookie.read(cookies);
      const pending = sealed === undefined ? null : openSealed(vault, sealed);
      return pending && pending.expireMs > now().getTime() ? pending : null;
    },
    remove: cookie.remove,
  };
}

/** Null for a value that this gateway did not seal. */
function openSealed(vault: Vault, sealed: string): PendingSignIn | null {
  try {
    return pendingSignIn.parse(JSON.parse(vault.open(sealed, COOKIE_LOCATION)));
  } catch {
    return null;
  }
}
