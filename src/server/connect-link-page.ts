/**
 * The page of a connect link. It binds the connect to the browser that opens the link. Before the browser continues to
 * the provider, the page shows the app and the customer, because a stranger may have sent the link.
 */
import type { FastifyRequest } from 'fastify';
import type { Services } from '../domain/call.ts';
import { createRandomString } from '../domain/connection/consent/connect-ticket.ts';
import {
  findExpiredLinkPage,
  type OpenedLink,
  openLink,
  type PartyName,
} from '../domain/connection/consent/oauth-link.ts';
import { type Html, html } from '../html.ts';
import { CustomerPages } from './customer-pages.ts';
import {
  findBrowserSecret,
  formatBrowserCookie,
  listOpenerOrigins,
  readQuery,
  respondPrivately,
} from './oauth-page.ts';

export async function respondToConnectLink(
  services: Services,
  request: FastifyRequest,
): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } });
  }
  return respondPrivately(services, request, async () => {
    const browser = findBrowserSecret(services, request) ?? createRandomString();
    const ticket = readQuery(request).get('ticket');
    const link = await openLink(services, { ticket, browser });
    if (!link) {
      const page = await findExpiredLinkPage(services, ticket);
      return createExpiredPage(new CustomerPages(request, page));
    }
    const response = isFromOwnPage(request)
      ? new Response(null, { status: 302, headers: { location: link.consentUrl } })
      : createConfirmationPage(new CustomerPages(request, link.page), {
          link,
          mayContinue: isFromOpener(services, request, link),
        });
    response.headers.set('set-cookie', formatBrowserCookie(services, browser));
    return response;
  });
}

function createExpiredPage(pages: CustomerPages): Response {
  return pages.createFailure(400, [pages.messages.linkUsedOrExpired, pages.messages.connectAgain]);
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

function createConfirmationPage(
  pages: CustomerPages,
  { link, mayContinue }: { link: OpenedLink; mayContinue: boolean },
): Response {
  const { providerName, consentUrl } = link;
  return pages.create(200, pages.messages.connectProvider(providerName), {
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
