/**
 * The session of the console in a browser. The route `/session` shows, extends and ends it, for the gateway's own pages.
 * Also has the URLs of a sign-in: its link, the callback from the provider, and the page of the console that follows.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../../domain/access/call.ts';
import type { Admission } from '../../domain/access/viewer/admission.ts';
import { type BearerClaims, enrollBuilder } from '../../domain/access/viewer/bearer.ts';
import {
  type ConsoleSession,
  createConsoleSession,
  endConsoleSession,
  getConsoleSession,
  renewConsoleSession,
} from '../../domain/access/viewer/console-session.ts';
import { hasLocalSignIn } from '../../domain/access/viewer/local-sign-in.ts';
import { type OpenIdClients, SignInError } from '../../domain/access/viewer/openid.ts';
import { DomainError, forbidden, missingCredentials } from '../../kernel/errors.ts';
import { SIGN_IN_CALLBACK_PATH, type SignInIssuer } from '../../settings/sign-in-settings.ts';
import { getGatewayUrl } from '../http/gateway-url.ts';
import type { ClientReaders } from '../http/request-client.ts';

const SESSION_PATH = '/session';

export interface SignInParts extends Pick<ClientReaders, 'cors' | 'sessionCookie'> {
  services: Services;
  admission: Admission;
}

export function registerConsoleSession(
  scope: FastifyInstance,
  parts: SignInParts,
  clients: OpenIdClients,
): void {
  const { services, admission, sessionCookie } = parts;
  /** Admits the builder within the rate of every caller. Returns the secret of the session. */
  const admit = async ({ metadata }: FastifyRequest): Promise<string> => {
    const { session } = metadata;
    await admission.admit({ session }, metadata);
    if (!session) throw missingCredentials();
    return session.secret;
  };
  const findSession = async (request: FastifyRequest): Promise<ConsoleSession | null> => {
    if (!request.metadata.session?.isFromOwnPage) return null;
    try {
      return await getConsoleSession(services, await admit(request));
    } catch (error) {
      if (error instanceof DomainError && error.code === 'UNAUTHENTICATED') return null;
      throw error;
    }
  };

  scope.get(SESSION_PATH, async (request) => {
    const session = await findSession(request);
    return {
      issuers: services.config.SIGN_IN_ISSUERS.map((issuer) => ({
        name: issuer.name,
        url: buildSignInUrl(issuer, { services, request }),
      })),
      hasLocalSignIn: hasLocalSignIn(services),
      session: session && showSession(services, session),
    };
  });
  scope.post(SESSION_PATH, async (request) => {
    const session = await renewConsoleSession(services, await admit(request));
    return { session: showSession(services, session) };
  });
  scope.delete(SESSION_PATH, async (request, reply) => {
    const { session } = request.metadata;
    if (session) requireOwnPage(session.isFromOwnPage);
    const idpProvider = session && (await endConsoleSession(services, session.secret));
    reply.header('set-cookie', sessionCookie.remove());
    const providerUrl =
      idpProvider && (await findProviderSignOut(idpProvider, { services, clients, request }));
    return providerUrl ? { providerUrl } : reply.code(204).send();
  });
}

/**
 * Returns the URL at which the person signs out at the OpenID provider too. Null if the settings of the provider don't
 * request this, or if the provider does not permit it: the console's session has ended anyway.
 */
async function findProviderSignOut(
  idpProvider: string,
  { services, clients, request }: ProviderSignOutContext,
): Promise<string | null> {
  const { config, log } = services;
  // An issuer without a path may end in a slash or not.
  const issuerUrl = URL.parse(idpProvider)?.href;
  const issuer = config.SIGN_IN_ISSUERS.find((item) => URL.parse(item.issuer)?.href === issuerUrl);
  if (!issuer?.signOutAtProvider) return null;
  try {
    const consoleUrl = buildConsoleUrl(issuer, { services, request });
    return (await clients.buildSignOutUrl(issuer, consoleUrl)).href;
  } catch (error) {
    if (!(error instanceof SignInError)) throw error;
    log.warn({ issuer: issuer.issuer, kind: error.kind }, 'sign_out.incomplete');
    return null;
  }
}

interface ProviderSignOutContext {
  services: Services;
  clients: OpenIdClients;
  request: FastifyRequest;
}

function showSession({ now }: Services, { builder, expireTime, endTime }: ConsoleSession) {
  return {
    name: builder.fullName,
    email: builder.primaryEmail,
    // A duration and not a time, because the clock of a browser may be wrong.
    secondsLeft: Math.floor((expireTime.getTime() - now().getTime()) / 1_000),
    isExtensible: expireTime < endTime,
  };
}

/**
 * Signs the person in, with a new secret in the browser's cookie. The browser's earlier session ends. This prevents
 * session fixation: a secret that an attacker has planted in the browser never belongs to the person's session.
 */
export async function openConsoleSession(
  { services, sessionCookie }: SignInParts,
  claims: BearerClaims,
  reply: FastifyReply,
): Promise<void> {
  const { builder } = await enrollBuilder(services, claims);
  const secret = await createConsoleSession(services, builder.id);
  const { session } = reply.request.metadata;
  if (session) await endConsoleSession(services, session.secret);
  reply.header('set-cookie', sessionCookie.set(secret));
}

/** Throws FORBIDDEN for requests from pages of other origins and from clients other than browsers. */
export function requireOwnPage(isFromOwnPage: boolean): void {
  if (isFromOwnPage) return;
  throw forbidden("Only the gateway's own pages may sign a browser in or out.");
}

export const SIGN_IN_PATH = '/sign-in';
const CONSOLE_PATH = '/console';
/** Bounds the cookie that contains the path. Paths of the console are far shorter. */
const RETURN_PATH_MAX = 512;

/** The request for which a URL is built. */
interface LinkRequest {
  services: Pick<Services, 'publicUrl'>;
  request: Pick<FastifyRequest, 'metadata'>;
}

/** Returns the URL to which the provider redirects the browser. It must be registered at the provider. */
export function buildRedirectUrl(
  { redirectUrl }: SignInIssuer,
  { services, request }: LinkRequest,
): string {
  return redirectUrl ?? `${getGatewayUrl(services, request)}${SIGN_IN_CALLBACK_PATH}`;
}

/**
 * Returns the gateway's URL in links of a sign-in. It has the host of the redirect URL, because both cookies, those of
 * the sign-in and of the session, must belong to one host.
 */
function buildBaseUrl(issuer: SignInIssuer, linkRequest: LinkRequest): string {
  return buildRedirectUrl(issuer, linkRequest).slice(0, -SIGN_IN_CALLBACK_PATH.length);
}

/** Returns the URL of a link that begins a sign-in at the provider. */
function buildSignInUrl(issuer: SignInIssuer, linkRequest: LinkRequest): string {
  const query = new URLSearchParams({ issuer: issuer.issuer });
  return `${buildBaseUrl(issuer, linkRequest)}${SIGN_IN_PATH}?${query}`;
}

/** Returns the URL of a page of the console, by default of its first page. */
export function buildConsoleUrl(
  issuer: SignInIssuer | null,
  linkRequest: LinkRequest,
  path = CONSOLE_PATH,
): string {
  const { services, request } = linkRequest;
  const baseUrl = issuer ? buildBaseUrl(issuer, linkRequest) : getGatewayUrl(services, request);
  return `${baseUrl}${path}`;
}

/**
 * Returns the path of the console's page that follows a sign-in. Any other path or URL becomes the console's first
 * page, so that a link to the sign-in can't lead to another site.
 */
export function parseReturnPath(path: unknown): string {
  if (typeof path !== 'string' || path.length > RETURN_PATH_MAX) return CONSOLE_PATH;
  const base = 'http://console.invalid';
  const url = URL.parse(path, base);
  const isConsole =
    url?.origin === base &&
    (url.pathname === CONSOLE_PATH || url.pathname.startsWith(`${CONSOLE_PATH}/`));
  return isConsole ? `${url.pathname}${url.search}` : CONSOLE_PATH;
}
