/** The page that a provider redirects the browser to after consent. */
import type { Config } from '../config.ts';
import type { ConnectPage } from '../domain/connection/consent/connect-page.ts';
import {
  type CallbackOutcome,
  finishOAuthConnect,
} from '../domain/connection/consent/oauth-callback.ts';
import type { Waiter } from '../domain/provider/provider-wait.ts';
import { type Html, html } from '../html.ts';
import { findBrowserSecret, openerOrigins, privatePage } from './oauth-page.ts';
import { createPage, type PageScript, toParagraphs } from './plain-page.ts';

/** The maximum length of a provider's text on the page. */
const TEXT_LENGTH_MAX = 300;

export async function oauthCallback(services: Waiter, request: Request): Promise<Response> {
  if (request.method !== 'GET') {
    return new Response(null, { status: 405, headers: { allow: 'GET' } });
  }
  const { searchParams } = new URL(request.url);
  return privatePage(services, async () => {
    const outcome = await finishOAuthConnect(services, {
      browser: findBrowserSecret(services, request),
      state: searchParams.get('state'),
      code: searchParams.get('code'),
      error: searchParams.get('error'),
      errorDescription: searchParams.get('error_description'),
    });
    return respondTo(outcome, services.config);
  });
}

type OpenerConfig = Pick<Config, 'CORS_ORIGINS' | 'REDIRECT_ORIGINS'>;

function respondTo(outcome: CallbackOutcome, origins: OpenerConfig): Response {
  const projectOrigins = 'page' in outcome ? outcome.page?.origins : [];
  const notifyScript = (message: unknown) =>
    notifyOpener(message, openerOrigins(origins, projectOrigins));
  switch (outcome.kind) {
    case 'UNKNOWN':
    case 'OTHER_BROWSER': {
      const detail = REFUSALS[outcome.kind];
      const content = toParagraphs([
        detail,
        'Go back to the app that sent you here and connect again.',
      ]);
      const script = notifyScript(failure('invalid_request', detail));
      return createPage(400, 'Not connected', { content, script });
    }
    case 'CONNECTED': {
      const { redirectUrl, connectionId } = outcome;
      if (redirectUrl !== null) return redirect(redirectUrl, { connectionId });
      const content = createContent(outcome.page, ['You can close this window.']);
      const script = notifyScript({
        eventType: 'AUTHORIZATION_SUCCEEDED',
        data: { connection: connectionId },
      });
      return createPage(200, 'Connected', { content, script });
    }
    case 'FAILED': {
      const [error, detail] = [truncate(outcome.error), truncate(outcome.detail)];
      const { redirectUrl } = outcome;
      if (redirectUrl !== null) return redirect(redirectUrl, { error, error_description: detail });
      const content = createContent(outcome.page, [detail, `(${error})`]);
      return createPage(400, 'Not connected', {
        content,
        script: notifyScript(failure(error, detail)),
      });
    }
  }
}

const REFUSALS = {
  UNKNOWN: 'This link has already been used, or it has expired.',
  OTHER_BROWSER:
    'Nothing was connected, because the connect was started in another browser, or this browser does not accept cookies.',
};

/**
 * Builds the content: the texts, a link to the app's package if there is one, and the gateway's name unless the plan
 * removes it.
 */
function createContent(connectPage: ConnectPage | null, paragraphs: string[]): Html {
  const { packageInstallUrl = null, isBranded = true, appName = null } = connectPage ?? {};
  const installLink =
    packageInstallUrl === null
      ? html``
      : html`<p><a href="${packageInstallUrl}" rel="noreferrer">Install the package of ${appName ?? 'the app'}</a>, if your account does not have it yet.</p>\n`;
  const sentBy = appName === null ? html`` : html`<p>You came from ${appName}.</p>\n`;
  const brand = isBranded ? html`<p><small>Connected by Integration gateway</small></p>\n` : html``;
  return html`${toParagraphs(paragraphs)}${installLink}${sentBy}${brand}`;
}

function failure(error: string, detail: string) {
  return { eventType: 'AUTHORIZATION_FAILED', data: { error, error_description: detail } };
}

/**
 * Sends the message to the window that opened this one. Browsers deliver it only if that window shows a page of one of
 * the origins. A window without an opener stays open.
 */
function notifyOpener(message: unknown, origins: string[]): PageScript {
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
