/** URLs of a sign-in: where it begins, where the provider returns the browser, and where the browser is led afterwards. */
import type { FastifyRequest } from 'fastify';
import type { Services } from '../../domain/call.ts';
import { SIGN_IN_CALLBACK_PATH, type SignInIssuer } from '../../sign-in-settings.ts';

export const SIGN_IN_PATH = '/sign-in';
const CONSOLE_PATH = '/console';
/** The path is in a cookie. Paths of the console are far shorter. */
const RETURN_PATH_MAX = 512;

/** A request, whose URL of the gateway is used in links. */
interface GatewayRequest {
  services: Pick<Services, 'publicUrl'>;
  request: Pick<FastifyRequest, 'metadata'>;
}

function findGatewayUrl({ services, request }: GatewayRequest): string {
  return request.metadata.gatewayUrl ?? services.publicUrl();
}

/** The URL at which the provider returns the browser. It must be registered at the provider. */
export function buildRedirectUrl(
  { redirectUrl }: SignInIssuer,
  gatewayRequest: GatewayRequest,
): string {
  return redirectUrl ?? `${findGatewayUrl(gatewayRequest)}${SIGN_IN_CALLBACK_PATH}`;
}

/**
 * The gateway's URL for sign-ins at a provider: that of its redirect URL, because cookies of the sign-in and of the session
 * must be of the same host.
 */
function buildBaseUrl(issuer: SignInIssuer, reached: GatewayRequest): string {
  return buildRedirectUrl(issuer, reached).slice(0, -SIGN_IN_CALLBACK_PATH.length);
}

/** The URL of a link that begins a sign-in at the provider. */
export function buildSignInUrl(issuer: SignInIssuer, reached: GatewayRequest): string {
  const query = new URLSearchParams({ issuer: issuer.issuer });
  return `${buildBaseUrl(issuer, reached)}${SIGN_IN_PATH}?${query}`;
}

/** The URL of a page of the console, by default of its first page. */
export function buildConsoleUrl(
  issuer: SignInIssuer | null,
  reached: GatewayRequest,
  path = CONSOLE_PATH,
): string {
  return `${issuer ? buildBaseUrl(issuer, reached) : findGatewayUrl(reached)}${path}`;
}

/**
 * Returns the path of the console that a sign-in leads to. Other paths and URLs become the console's first page, so that a
 * link to the sign-in can't lead to another site.
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
