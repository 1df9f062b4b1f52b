/**
 * The page of a connect link. It binds the connect to the browser that opens the link. Before the browser continues to
 * the provider, the page shows the app and the customer, because a stranger may have sent the link.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../domain/call.ts';
import { createRandomString } from '../domain/connection/consent/connect-ticket.ts';
import {
  findExpiredLinkPage,
  type OpenedLink,
  openLink,
  type PartyName,
} from '../domain/connection/consent/oauth-link.ts';
import { LINK_PATH } from '../domain/connection/oauth-connect.ts';
import { type Html, html } from '../html.ts';
import { type CustomerPages, createCustomerPages } from './customer-pages.ts';
import { refuseOtherMethods } from './http/refuse-methods.ts';
import {
  createBrowserCookie,
  findBrowserSecret,
  listOpenerOrigins,
  readQuery,
} from './oauth-page.ts';

export function registerConnectLink(scope: FastifyInstance, services: Services): void {
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

/** True if a page that may open connects led the browser here, through a window or a link that its users may write. */
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
