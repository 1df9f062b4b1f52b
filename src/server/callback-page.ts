/** The page that providers send browsers back to after a person's consent. */
import type { Config } from '../config.ts';
import type { ConnectPage } from '../domain/connection/connect-page.ts';
import { type CallbackOutcome, finishOAuthConnect } from '../domain/connection/oauth-callback.ts';
import type { Waiter } from '../domain/provider/provider-wait.ts';
import { DomainError, type Problem, ServiceUnavailable } from '../errors.ts';
import { type Html, html } from '../html.ts';
import { type PageScript, page, pageOf, paragraphsOf } from './plain-page.ts';

export { CALLBACK_PATH } from '../domain/connection/oauth-connect.ts';

/** The URL holds a code and a state: it is sent to no other page, and no cache keeps it. */
const PRIVATE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
/** A provider's words, as far as they are passed on. */
const WORDS_LENGTH_MAX = 300;

export async function oauthCallback(services: Waiter, request: Request): Promise<Response> {
  if (request.method !== 'GET') {
    return new Response(null, { status: 405, headers: { allow: 'GET' } });
  }
  const { searchParams } = new URL(request.url);
  const response = await finishOAuthConnect(services, {
    state: searchParams.get('state'),
    code: searchParams.get('code'),
    error: searchParams.get('error'),
    errorDescription: searchParams.get('error_description'),
  }).then(answerWith(services.config), (error: unknown) => {
    if (error instanceof ServiceUnavailable) return comeAgain(error.problem);
    const isLimited = error instanceof DomainError && 'limit' in error.extra;
    if (isLimited) return comeAgain(error.problem);
    services.log.error({ error }, 'connect.failed');
    return page(500, 'Not connected', ['The gateway failed. Connect again in a few seconds.']);
  });
  for (const [name, value] of Object.entries(PRIVATE)) response.headers.set(name, value);
  return response;
}

function comeAgain({ status, retryAfterSeconds }: Problem): Response {
  const response = page(status, 'Not connected', [
    'The gateway does not answer at the moment. Connect again in a few seconds.',
  ]);
  response.headers.set('retry-after', String(retryAfterSeconds));
  return response;
}

type Origins = Pick<Config, 'CORS_ORIGINS' | 'REDIRECT_ORIGINS'>;

const answerWith = (origins: Origins) => (outcome: CallbackOutcome) => answerTo(outcome, origins);

function answerTo(outcome: CallbackOutcome, origins: Origins): Response {
  const ofProject = 'page' in outcome ? (outcome.page?.allowedOrigins ?? []) : [];
  const telling = (message: unknown) => tellOpener(message, origins, ofProject);
  switch (outcome.kind) {
    case 'UNKNOWN': {
      const detail = 'This link was used already, or it has expired.';
      const content = paragraphsOf([
        detail,
        'Go back to the app that sent you here and connect again.',
      ]);
      const script = telling(failure('invalid_request', detail));
      return pageOf(400, 'Not connected', { content, script });
    }
    case 'CONNECTED': {
      const { redirectUrl, connectionId } = outcome;
      if (redirectUrl !== null) return redirect(redirectUrl, { connectionId });
      const content = contentOf(outcome.page, ['You can close this window.']);
      const script = telling({
        eventType: 'AUTHORIZATION_SUCCEEDED',
        data: { connection: connectionId },
      });
      return pageOf(200, 'Connected', { content, script });
    }
    case 'FAILED': {
      const [error, detail] = [bounded(outcome.error), bounded(outcome.detail)];
      const { redirectUrl } = outcome;
      if (redirectUrl !== null) return redirect(redirectUrl, { error, error_description: detail });
      const content = contentOf(outcome.page, [detail, `(${error})`]);
      return pageOf(400, 'Not connected', { content, script: telling(failure(error, detail)) });
    }
  }
}

/** With what is left to be done at the provider, and whose page it is unless the plan takes that away. */
function contentOf(about: ConnectPage | null, paragraphs: string[]): Html {
  const { packageInstallUrl = null, isBranded = true, appName = null } = about ?? {};
  const installing =
    packageInstallUrl === null
      ? html``
      : html`<p><a href="${packageInstallUrl}" rel="noreferrer">Install the package of ${appName ?? 'the app'}</a>, if your account does not have it yet.</p>\n`;
  const sentBy = appName === null ? html`` : html`<p>You came from ${appName}.</p>\n`;
  const brand = isBranded ? html`<p><small>Connected by Integration gateway</small></p>\n` : html``;
  return html`${paragraphsOf(paragraphs)}${installing}${sentBy}${brand}`;
}

function failure(error: string, detail: string) {
  return { eventType: 'AUTHORIZATION_FAILED', data: { error, error_description: detail } };
}

/**
 * Tells the window that opened this one, if it shows a page of an origin that the operator or the project allows:
 * browsers give the message to no other. A window that nobody opened stays as it is.
 */
function tellOpener(
  message: unknown,
  { CORS_ORIGINS, REDIRECT_ORIGINS }: Origins,
  ofProject: readonly string[],
): PageScript {
  const origins = [...new Set([...CORS_ORIGINS, ...REDIRECT_ORIGINS, ...ofProject])];
  return { source: TELL_AND_CLOSE, data: { message, origins } };
}

const TELL_AND_CLOSE = `
const { message, origins } = JSON.parse(document.getElementById('data').textContent);
if (window.opener && origins.length > 0) {
  for (const origin of origins) window.opener.postMessage(message, origin);
  window.close();
}
`;

/** 303: the browser follows with a GET, whatever the method of this request. */
function redirect(to: string, params: Record<string, string>): Response {
  const url = new URL(to);
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  return new Response(null, { status: 303, headers: { location: url.href } });
}

function bounded(words: string): string {
  return words.slice(0, WORDS_LENGTH_MAX);
}
