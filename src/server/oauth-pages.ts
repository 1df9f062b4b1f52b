/**
 * The pages of an OAuth flow. The page of a link binds the flow to the browser that opens the link. Before the
 * browser continues to the provider, the page shows the app and the customer, because a stranger may have sent the
 * link. After consent, the provider redirects the browser to the callback page.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { describeConsentFailure, getMessages } from '../../console/common/customer-messages.ts';
import type { Services } from '../domain/access/call.ts';
import type { OAuthFlowPage } from '../domain/connections/connection/consent/flow-page.ts';
import {
  createRandomString,
  isBrowserSecret,
} from '../domain/connections/connection/consent/flow-ticket.ts';
import {
  type CallbackOutcome,
  finishOAuthFlow,
} from '../domain/connections/connection/consent/oauth-callback.ts';
import {
  findExpiredLinkPage,
  type OpenedLink,
  openLink,
  type PartyName,
} from '../domain/connections/connection/consent/oauth-link.ts';
import { LIFETIME_MS, LINK_PATH } from '../domain/connections/connection/oauth-connect.ts';
import { CALLBACK_PATH } from '../domain/connections/provider/provider-app.ts';
import { DomainError, ServiceUnavailable } from '../kernel/errors.ts';
import { type Html, html } from '../kernel/html.ts';
import { findHttpRefusal } from '../rest/endpoint/rest-errors.ts';
import type { Config } from '../settings/config.ts';
import { type CustomerPages, createCustomerPages } from './customer-pages.ts';
import { type PageScript, toParagraphs } from './html-page.ts';
import { type Cookie, createCookie } from './http/cookies.ts';
import { refuseOtherMethods } from './http/refuse-methods.ts';

/** Registers the pages in a context that hides its URLs, which contain secrets, from other sites. */
export function registerOAuthPages(scope: FastifyInstance, services: Services): void {
  scope.addHook('onRequest', (_request, reply, done) => {
    reply.header('referrer-policy', 'no-referrer');
    done();
  });
  scope.setErrorHandler((error, _request, reply) => {
    const pages = createCustomerPages(reply, null);
    const isLimited = error instanceof DomainError && 'limit' in error.extra;
    if (isLimited || error instanceof ServiceUnavailable) {
      const { status, retryAfterSeconds } = error.problem;
      reply.header('retry-after', String(retryAfterSeconds));
      return pages.sendFailure(status, [pages.messages.serviceUnavailable]);
    }
    const refusal = findHttpRefusal(error);
    if (refusal) return pages.sendFailure(refusal.status, [pages.messages.openPageAgain]);
    services.log.error({ err: error }, 'connect.failed');
    return pages.sendFailure(500, [pages.messages.ourFault]);
  });
  registerFlowLink(scope, services);
  registerCallback(scope, services);
}

function readQuery({ url }: FastifyRequest): URLSearchParams {
  return new URL(url, 'http://localhost').searchParams;
}

/** Lists the origins of pages that may open an OAuth flow in a window: the operator's and the project's. */
function listOpenerOrigins(
  { CORS_ORIGINS, REDIRECT_ORIGINS }: Pick<Config, 'CORS_ORIGINS' | 'REDIRECT_ORIGINS'>,
  projectOrigins: readonly string[] = [],
): string[] {
  return [...new Set([...CORS_ORIGINS, ...REDIRECT_ORIGINS, ...projectOrigins])];
}

/**
 * Creates the cookie with a browser's secret. All flows of a browser share it, so that several can run concurrently.
 * It is `Lax`, because the provider's site redirects the browser to the callback.
 */
function createBrowserCookie(config: Config): Cookie {
  return createCookie(config, { name: 'oauth-browser', sameSite: 'Lax', lifetimeMs: LIFETIME_MS });
}

/** Returns the secret of the browser that sent the request. Null if it has none. */
function findBrowserSecret(cookie: Cookie, { headers }: FastifyRequest): string | null {
  const secret = cookie.read(headers.cookie);
  return isBrowserSecret(secret) ? secret : null;
}

function registerFlowLink(scope: FastifyInstance, services: Services): void {
  const cookie = createBrowserCookie(services.config);
  scope.get(LINK_PATH, async (request, reply) => {
    const browser = findBrowserSecret(cookie, request) ?? createRandomString();
    const ticket = readQuery(request).get('ticket');
    const link = await openLink(services, { ticket, browser });
    if (!link) {
      const pages = createCustomerPages(reply, await findExpiredLinkPage(services, ticket));
      const { linkUsedOrExpired, connectAgain } = pages.messages;
      return pages.sendFailure(400, [linkUsedOrExpired, connectAgain]);
    }
    reply.header('set-cookie', cookie.set(browser));
    if (isFromOwnPage(request)) return reply.redirect(link.consentUrl);
    return sendConfirmation(reply, link, { mayContinue: isFromOpener(services, request, link) });
  });
  refuseOtherMethods(scope, LINK_PATH, ['GET', 'HEAD']);
}

/**
 * True for requests from the connect page and the console, which show the customer themselves. Browsers send
 * `cross-site` if any redirect on the way was cross-site.
 */
function isFromOwnPage({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-site'] === 'same-origin';
}

/** True if a page that may open flows led the browser here, through a window or a link that its users may write. */
function isFromOpener(
  { config }: Services,
  { headers }: FastifyRequest,
  { page }: OpenedLink,
): boolean {
  const origin = URL.parse(headers.referer ?? '')?.origin;
  return origin !== undefined && listOpenerOrigins(config, page.origins).includes(origin);
}

function sendConfirmation(
  reply: FastifyReply,
  link: OpenedLink,
  { mayContinue }: { mayContinue: boolean },
): FastifyReply {
  const { providerName, consentUrl } = link;
  const pages = createCustomerPages(reply, link.page);
  return pages.send(200, {
    title: pages.messages.connectProvider(providerName),
    content: createContent(pages, link),
    ...(mayContinue && { script: { source: CONTINUE_IN_WINDOW, data: { consentUrl } } }),
  });
}

/**
 * Continues without a click if the page's own script opened this window. A link, which users of the page may have
 * written, opens a window without an opener.
 */
const CONTINUE_IN_WINDOW = `
const { consentUrl } = JSON.parse(document.getElementById('data').textContent);
if (window.opener) location.replace(consentUrl);
`;

function createContent(
  { messages }: CustomerPages,
  { providerName, consentUrl, group, consumer, page: { appName } }: OpenedLink,
): Html {
  return html`<p>${messages.confirmAccess(appName, providerName)}</p>
<dl>
<div><dt>${messages.app}</dt><dd>${appName}</dd></div>
<div><dt>${messages.organization}</dt><dd>${formatParty(group)}</dd></div>
<div><dt>${messages.user}</dt><dd>${formatParty(consumer)}</dd></div>
</dl>
<p>${messages.confirmParties}</p>
<p><a class="button" href="${consentUrl}" rel="noreferrer">${messages.continueToProvider(providerName)}</a></p>
`;
}

/** Includes the ref in addition to the name, because a caller may choose any name. */
function formatParty({ name, ref }: PartyName): string {
  return name === null || name === ref ? ref : `${name} (${ref})`;
}

/** The maximum length of a provider's text on the page. */
const TEXT_LENGTH_MAX = 300;

function registerCallback(scope: FastifyInstance, services: Services): void {
  const cookie = createBrowserCookie(services.config);
  scope.get(CALLBACK_PATH, { exposeHeadRoute: false }, async (request, reply) => {
    const { slot } = request.metadata;
    const searchParams = readQuery(request);
    const outcome = await finishOAuthFlow(
      { ...services, ...(slot && { slot }) },
      {
        browser: findBrowserSecret(cookie, request),
        state: searchParams.get('state'),
        code: searchParams.get('code'),
        error: searchParams.get('error'),
        errorDescription: searchParams.get('error_description'),
        isAdminConsent: searchParams.get('admin_consent')?.toLowerCase() === 'true',
      },
    );
    return sendOutcome(services, reply, outcome);
  });
  refuseOtherMethods(scope, CALLBACK_PATH, ['GET']);
}

function sendOutcome(
  { config }: Services,
  reply: FastifyReply,
  outcome: CallbackOutcome,
): FastifyReply {
  switch (outcome.kind) {
    case 'UNKNOWN':
    case 'OTHER_BROWSER': {
      const pages = createCustomerPages(reply, outcome.refusalPage);
      const reason = REFUSALS[outcome.kind];
      // The opener gets the reason in English, as all details of errors.
      const message = createFailureMessage('invalid_request', getMessages('en')[reason]);
      const script = createNotifyScript(message, listOpenerOrigins(config));
      const paragraphs = [pages.messages[reason], pages.messages.connectAgain];
      return pages.sendFailure(400, paragraphs, script);
    }
    case 'SIGN_IN':
      return reply.redirect(outcome.url);
    case 'CONNECTED': {
      const { redirectUrl, connectionId, page } = outcome;
      if (redirectUrl !== null) return redirect(reply, redirectUrl, { connectionId });
      const pages = createCustomerPages(reply, page);
      const message = {
        eventType: 'AUTHORIZATION_SUCCEEDED',
        data: { connection: connectionId },
      };
      return pages.send(200, {
        title: pages.messages.connected,
        content: html`${toParagraphs([pages.messages.canCloseWindow])}${createInstallLink(pages, page)}`,
        script: createNotifyScript(message, listOpenerOrigins(config, page?.origins)),
      });
    }
    case 'FAILED':
      return sendFailure(config, reply, outcome);
  }
}

function sendFailure(
  config: Config,
  reply: FastifyReply,
  outcome: Extract<CallbackOutcome, { kind: 'FAILED' }>,
): FastifyReply {
  const error = truncate(outcome.error);
  const detail = truncate(outcome.detail);
  const { redirectUrl, isProviderText, isSetupProblem, page } = outcome;
  if (redirectUrl !== null) {
    const cause = {
      error,
      error_description: detail,
      ...(isSetupProblem ? { fault: 'setup' } : isProviderText && { fault: 'provider' }),
    };
    return redirect(reply, redirectUrl, cause);
  }
  const pages = createCustomerPages(reply, page);
  // The customer can't correct mistakes in the builder's setup. The opener gets the reason.
  const reason = describeConsentFailure(pages.messages, {
    error,
    providerText: isProviderText ? detail : null,
  });
  const paragraphs = isSetupProblem ? [pages.messages.ourFault] : [reason, `(${error})`];
  const message = createFailureMessage(error, detail);
  return pages.send(400, {
    title: pages.messages.notConnected,
    content: html`${toParagraphs(paragraphs)}${createInstallLink(pages, page)}`,
    script: createNotifyScript(message, listOpenerOrigins(config, page?.origins)),
  });
}

const REFUSALS = { UNKNOWN: 'linkUsedOrExpired', OTHER_BROWSER: 'startedInOtherBrowser' } as const;

/** Returns a link to the package of the app. Empty if the provider requires none. */
function createInstallLink({ messages }: CustomerPages, page: OAuthFlowPage | null): Html {
  if (!page?.packageInstallUrl) return html``;
  const text = messages.installPackageOf(page.appName);
  return html`<p><a href="${page.packageInstallUrl}" rel="noreferrer">${text}</a></p>\n`;
}

function createFailureMessage(error: string, detail: string) {
  return { eventType: 'AUTHORIZATION_FAILED', data: { error, error_description: detail } };
}

/**
 * Returns a script that sends the message to the window that opened the page. Browsers deliver it only if that window
 * shows a page of one of the origins. A window without an opener stays open.
 */
function createNotifyScript(message: unknown, origins: string[]): PageScript {
  return { source: NOTIFY_AND_CLOSE, data: { message, origins } };
}

const NOTIFY_AND_CLOSE = `
const { message, origins } = JSON.parse(document.getElementById('data').textContent);
if (window.opener && origins.length > 0) {
  for (const origin of origins) window.opener.postMessage(message, origin);
  window.close();
}
`;

/** Redirects with 303, so the browser always follows with a GET. */
function redirect(
  reply: FastifyReply,
  target: string,
  params: Record<string, string>,
): FastifyReply {
  const url = new URL(target);
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  return reply.redirect(url.href, 303);
}

function truncate(text: string): string {
  return text.slice(0, TEXT_LENGTH_MAX);
}
