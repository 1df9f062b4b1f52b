/** The page to which a provider redirects the browser after consent. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { getMessages } from '../../console/common/customer-messages.ts';
import type { Services } from '../domain/call.ts';
import type { ConnectPage } from '../domain/connection/consent/connect-page.ts';
import {
  ACCESS_DENIED,
  type CallbackOutcome,
  finishOAuthConnect,
} from '../domain/connection/consent/oauth-callback.ts';
import { CALLBACK_PATH } from '../domain/provider/provider-app.ts';
import { type Html, html } from '../html.ts';
import { type CustomerPages, createCustomerPages } from './customer-pages.ts';
import { refuseOtherMethods } from './http/refuse-methods.ts';
import {
  createBrowserCookie,
  findBrowserSecret,
  listOpenerOrigins,
  readQuery,
} from './oauth-page.ts';
import { type PageScript, toParagraphs } from './plain-page.ts';

/** The maximum length of a provider's text on the page. */
const TEXT_LENGTH_MAX = 300;

export function registerCallback(scope: FastifyInstance, services: Services): void {
  const cookie = createBrowserCookie(services.config);
  scope.get(CALLBACK_PATH, { exposeHeadRoute: false }, async (request, reply) => {
    const { slot } = request.metadata;
    const searchParams = readQuery(request);
    const outcome = await finishOAuthConnect(
      { ...services, ...(slot && { slot }) },
      {
        browser: findBrowserSecret(cookie, request),
        state: searchParams.get('state'),
        code: searchParams.get('code'),
        error: searchParams.get('error'),
        errorDescription: searchParams.get('error_description'),
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
    case 'FAILED': {
      const error = truncate(outcome.error);
      const detail = truncate(outcome.detail);
      const { redirectUrl, isSetupMistake, page } = outcome;
      if (redirectUrl !== null) {
        const cause = {
          error,
          error_description: detail,
          ...(isSetupMistake && { fault: 'setup' }),
        };
        return redirect(reply, redirectUrl, cause);
      }
      const pages = createCustomerPages(reply, page);
      // The customer can't correct mistakes in the builder's setup. The opener gets the reason.
      const reason = detail === ACCESS_DENIED ? pages.messages.accessDenied : detail;
      const paragraphs = isSetupMistake ? [pages.messages.ourFault] : [reason, `(${error})`];
      const message = createFailureMessage(error, detail);
      return pages.send(400, {
        title: pages.messages.notConnected,
        content: html`${toParagraphs(paragraphs)}${createInstallLink(pages, page)}`,
        script: createNotifyScript(message, listOpenerOrigins(config, page?.origins)),
      });
    }
  }
}

const REFUSALS = { UNKNOWN: 'linkUsedOrExpired', OTHER_BROWSER: 'startedInOtherBrowser' } as const;

/** Returns a link to the package of the app. Empty if the provider requires none. */
function createInstallLink({ messages }: CustomerPages, page: ConnectPage | null): Html {
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
