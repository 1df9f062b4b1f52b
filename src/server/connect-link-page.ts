/**
 * The page of a connect link. It binds the connect to the browser that opens the link. Before the browser continues to
 * the provider, the page shows the app and the customer, because a stranger may have sent the link.
 */
import type { FastifyRequest } from 'fastify';
import type { Services } from '../domain/call.ts';
import { createRandomString } from '../domain/connection/consent/connect-ticket.ts';
import {
  type OpenedLink,
  openLink,
  type PartyName,
} from '../domain/connection/consent/oauth-link.ts';
import { type Html, html } from '../html.ts';
import {
  createBrand,
  findBrowserSecret,
  formatBrowserCookie,
  listOpenerOrigins,
  readQuery,
  respondPrivately,
} from './oauth-page.ts';
import { createPage, createTextPage } from './plain-page.ts';

export async function respondToConnectLink(
  services: Services,
  request: FastifyRequest,
): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } });
  }
  return respondPrivately(services, async () => {
    const browser = findBrowserSecret(services, request) ?? createRandomString();
    const ticket = readQuery(request).get('ticket');
    const link = await openLink(services, { ticket, browser });
    if (!link) return createExpiredPage();
    const response = isFromOwnPage(request)
      ? new Response(null, { status: 302, headers: { location: link.consentUrl } })
      : createConfirmationPage(link, isFromOpener(services, request, link));
    response.headers.set('set-cookie', formatBrowserCookie(services, browser));
    return response;
  });
}

function createExpiredPage(): Response {
  return createTextPage(400, 'Not connected', [
    'This link has already been used, or it has expired.',
    'Go back to the app that sent you here and connect again.',
  ]);
}

/**
 * True for requests from the connect page and the console, which show the customer themselves. Browsers send
 * `cross-site` if any redirect on the way was cross-site.
 */
function isFromOwnPage({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-site'] === 'same-origin';
}

/** True if a page that may open connects led the browser here, through a window or a link that its users may write. */
function isFromOpener(
  { config }: Services,
  { headers }: FastifyRequest,
  { page }: OpenedLink,
): boolean {
  const origin = URL.parse(headers.referer ?? '')?.origin;
  return origin !== undefined && listOpenerOrigins(config, page.origins).includes(origin);
}

function createConfirmationPage(link: OpenedLink, mayContinue: boolean): Response {
  const { providerName, consentUrl } = link;
  return createPage(200, `Connect ${providerName}`, {
    content: createContent(link),
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

function createContent({ providerName, consentUrl, group, consumer, page }: OpenedLink): Html {
  const { appName, isBranded } = page;
  return html`<p>You are about to give ${appName} access to your ${providerName} account, on behalf of:</p>
<dl>
<div><dt>App</dt><dd>${appName}</dd></div>
<div><dt>Organization</dt><dd>${formatParty(group)}</dd></div>
<div><dt>User</dt><dd>${formatParty(consumer)}</dd></div>
</dl>
<p>Continue only if this is your organization and you expected this request. Otherwise close this page: that organization
would get access to the data of your account.</p>
<p><a class="button" href="${consentUrl}" rel="noreferrer">Continue to ${providerName}</a></p>
${createBrand(isBranded)}`;
}

/** Includes the ref in addition to the name, because a caller may choose any name. */
function formatParty({ name, ref }: PartyName): string {
  return name === null || name === ref ? ref : `${name} (${ref})`;
}
