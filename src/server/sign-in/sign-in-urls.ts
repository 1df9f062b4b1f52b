/** URLs of a sign-in: its link, the callback from the provider, and the page of the console that follows. */
import type { FastifyRequest } from 'fastify';
import type { Services } from '../../domain/call.ts';
import { SIGN_IN_CALLBACK_PATH, type SignInIssuer } from '../../sign-in-settings.ts';
import { getGatewayUrl } from '../http/gateway-url.ts';

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
export function buildSignInUrl(issuer: SignInIssuer, linkRequest: LinkRequest): string {
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
