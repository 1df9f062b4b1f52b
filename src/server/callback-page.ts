/** The page to which a provider redirects the browser after consent. */
import type { FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import type { ConnectPage } from '../domain/connection/consent/connect-page.ts';
import {
  type CallbackOutcome,
  finishOAuthConnect,
} from '../domain/connection/consent/oauth-callback.ts';
import type { Waiter } from '../domain/provider/provider-wait.ts';
import { type Html, html } from '../html.ts';
import {
  createBrand,
  findBrowserSecret,
  listOpenerOrigins,
  readQuery,
  respondPrivately,
} from './oauth-page.ts';
import { createPage, type PageScript, toParagraphs } from './plain-page.ts';

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
  return respondPrivately(services, async () => {
    const outcome = await finishOAuthConnect(services, {
      browser: findBrowserSecret(services, request),
      state: searchParams.get('state'),
      code: searchParams.get('code'),
      error: searchParams.get('error'),
      errorDescription: searchParams.get('error_description'),
    });
    return createOutcomeResponse(outcome, services.config);
  });
}

type OpenerConfig = Pick<Config, 'CORS_ORIGINS' | 'REDIRECT_ORIGINS'>;

function createOutcomeResponse(outcome: CallbackOutcome, origins: OpenerConfig): Response {
  const projectOrigins = 'page' in outcome ? outcome.page?.origins : [];
  const openerOrigins = listOpenerOrigins(origins, projectOrigins);
  switch (outcome.kind) {
    case 'UNKNOWN':
    case 'OTHER_BROWSER': {
      const detail = REFUSALS[outcome.kind];
      const content = toParagraphs([
        detail,
        'Go back to the app that sent you here and connect again.',
      ]);
      const message = createFailureMessage('invalid_request', detail);
      const script = createNotifyScript(message, openerOrigins);
      return createPage(400, 'Not connected', { content, script });
    }
    case 'CONNECTED': {
      const { redirectUrl, connectionId } = outcome;
      if (redirectUrl !== null) return redirect(redirectUrl, { connectionId });
      const content = createContent(outcome.page, ['You can close this window.']);
      const message = {
        eventType: 'AUTHORIZATION_SUCCEEDED',
        data: { connection: connectionId },
      };
      const script = createNotifyScript(message, openerOrigins);
      return createPage(200, 'Connected', { content, script });
    }
    case 'FAILED': {
      const error = truncate(outcome.error);
      const detail = truncate(outcome.detail);
      const { redirectUrl, isSetupMistake } = outcome;
      if (redirectUrl !== null) {
        const cause = {
          error,
          error_description: detail,
          ...(isSetupMistake && { fault: 'setup' }),
        };
        return redirect(redirectUrl, cause);
      }
      const paragraphs = isSetupMistake ? [SETUP_FAULT] : [detail, `(${error})`];
      const content = createContent(outcome.page, paragraphs);
      const script = createNotifyScript(createFailureMessage(error, detail), openerOrigins);
      return createPage(400, 'Not connected', { content, script });
    }
  }
}

/** Replaces the details of a mistake in the builder's setup, which the customer can't correct. The opener gets them. */
const SETUP_FAULT =
  'Something is wrong on our side. Try again later, or contact the app that sent you here.';

const REFUSALS = {
  UNKNOWN: 'This link has already been used, or it has expired.',
  OTHER_BROWSER:
    'Nothing was connected, because the connect was started in another browser, or this browser does not accept cookies.',
};

/** Returns the paragraphs, the link to the app's package, and the gateway's name unless the project removes it. */
function createContent(connectPage: ConnectPage | null, paragraphs: string[]): Html {
  const { packageInstallUrl = null, isBranded = true, appName = null } = connectPage ?? {};
  const installLink =
    packageInstallUrl === null
      ? html``
      : html`<p><a href="${packageInstallUrl}" rel="noreferrer">Install the package of ${appName ?? 'the app'}</a>, if your account does not have it yet.</p>\n`;
  const appNotice = appName === null ? html`` : html`<p>You came from ${appName}.</p>\n`;
  return html`${toParagraphs(paragraphs)}${installLink}${appNotice}${createBrand(isBranded)}`;
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
