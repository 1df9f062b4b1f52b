/** The page to which a provider redirects the browser after consent. */
import type { FastifyRequest } from 'fastify';
import { getMessages } from '../../console/common/customer-messages.ts';
import type { Config } from '../config.ts';
import type { ConnectPage } from '../domain/connection/consent/connect-page.ts';
import {
  ACCESS_DENIED,
  type CallbackOutcome,
  finishOAuthConnect,
} from '../domain/connection/consent/oauth-callback.ts';
import type { Waiter } from '../domain/provider/provider-wait.ts';
import { type Html, html } from '../html.ts';
import { CustomerPages } from './customer-pages.ts';
import { findBrowserSecret, listOpenerOrigins, readQuery, respondPrivately } from './oauth-page.ts';
import { type PageScript, toParagraphs } from './plain-page.ts';

/** The maximum length of a provider's text on the page. */
const TEXT_LENGTH_MAX = 300;

export async function respondToCallback(
  services: Waiter,
  request: FastifyRequest,
): Promise<Response> {
  if (request.method !== 'GET') {
    return new Response(null, { status: 405, headers: { allow: 'GET' } });
  }
  const searchParams = readQuery(request);
  return respondPrivately(services, request, async () => {
    const outcome = await finishOAuthConnect(services, {
      browser: findBrowserSecret(services, request),
      state: searchParams.get('state'),
      code: searchParams.get('code'),
      error: searchParams.get('error'),
      errorDescription: searchParams.get('error_description'),
    });
    return createOutcomeResponse(services.config, request, outcome);
  });
}

type OpenerConfig = Pick<Config, 'CORS_ORIGINS' | 'REDIRECT_ORIGINS'>;

function createOutcomeResponse(
  origins: OpenerConfig,
  request: FastifyRequest,
  outcome: CallbackOutcome,
): Response {
  switch (outcome.kind) {
    case 'UNKNOWN':
    case 'OTHER_BROWSER': {
      const pages = new CustomerPages(request, outcome.refusalPage);
      const reason = REFUSALS[outcome.kind];
      // The opener gets the reason in English, as all details of errors.
      const message = createFailureMessage('invalid_request', getMessages('en')[reason]);
      const script = createNotifyScript(message, listOpenerOrigins(origins));
      const paragraphs = [pages.messages[reason], pages.messages.connectAgain];
      return pages.createFailure(400, paragraphs, script);
    }
    case 'CONNECTED': {
      const { redirectUrl, connectionId, page } = outcome;
      if (redirectUrl !== null) return redirect(redirectUrl, { connectionId });
      const pages = new CustomerPages(request, page);
      const message = {
        eventType: 'AUTHORIZATION_SUCCEEDED',
        data: { connection: connectionId },
      };
      return pages.create(200, pages.messages.connected, {
        content: html`${toParagraphs([pages.messages.canCloseWindow])}${createInstallLink(pages, page)}`,
        script: createNotifyScript(message, listOpenerOrigins(origins, page?.origins)),
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
        return redirect(redirectUrl, cause);
      }
      const pages = new CustomerPages(request, page);
      // The customer can't correct mistakes in the builder's setup. The opener gets the reason.
      const reason = detail === ACCESS_DENIED ? pages.messages.accessDenied : detail;
      const paragraphs = isSetupMistake ? [pages.messages.ourFault] : [reason, `(${error})`];
      const message = createFailureMessage(error, detail);
      return pages.create(400, pages.messages.notConnected, {
        content: html`${toParagraphs(paragraphs)}${createInstallLink(pages, page)}`,
        script: createNotifyScript(message, listOpenerOrigins(origins, page?.origins)),
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
function redirect(target: string, params: Record<string, string>): Response {
  const url = new URL(target);
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  return new Response(null, { status: 303, headers: { location: url.href } });
}

function truncate(text: string): string {
  return text.slice(0, TEXT_LENGTH_MAX);
}
