/** The page that providers send browsers back to after a person's consent. */
import type { Services } from '../domain/call.ts';
import { type CallbackOutcome, finishOAuthConnect } from '../domain/connection/oauth-callback.ts';
import { ServiceUnavailable } from '../errors.ts';
import { page } from './plain-page.ts';

export { CALLBACK_PATH } from '../domain/connection/oauth-connect.ts';

/** The URL holds a code and a state: it is sent to no other page, and no cache keeps it. */
const PRIVATE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
/** A provider's words, as far as they are passed on. */
const WORDS_LENGTH_MAX = 300;

export async function oauthCallback(services: Services, request: Request): Promise<Response> {
  if (request.method !== 'GET') {
    return new Response(null, { status: 405, headers: { allow: 'GET' } });
  }
  const { searchParams } = new URL(request.url);
  const response = await finishOAuthConnect(services, {
    state: searchParams.get('state'),
    code: searchParams.get('code'),
    error: searchParams.get('error'),
    errorDescription: searchParams.get('error_description'),
  }).then(answerTo, (error: unknown) => {
    if (error instanceof ServiceUnavailable) return comeAgain(error);
    services.log.error({ error }, 'connect.failed');
    return page(500, 'Not connected', ['The gateway failed. Connect again in a few seconds.']);
  });
  for (const [name, value] of Object.entries(PRIVATE)) response.headers.set(name, value);
  return response;
}

function comeAgain({ retryAfterSeconds }: ServiceUnavailable): Response {
  const response = page(503, 'Not connected', [
    'The gateway does not answer at the moment. Connect again in a few seconds.',
  ]);
  response.headers.set('retry-after', String(retryAfterSeconds));
  return response;
}

function answerTo(outcome: CallbackOutcome): Response {
  switch (outcome.kind) {
    case 'UNKNOWN':
      return page(400, 'Not connected', [
        'This link was used already, or it has expired.',
        'Go back to the app that sent you here and connect again.',
      ]);
    case 'CONNECTED':
      return outcome.redirectUrl === null
        ? page(200, 'Connected', ['You can close this window.'])
        : redirect(outcome.redirectUrl, { connectionId: outcome.connectionId });
    case 'FAILED': {
      const [error, detail] = [bounded(outcome.error), bounded(outcome.detail)];
      return outcome.redirectUrl === null
        ? page(400, 'Not connected', [detail, `(${error})`])
        : redirect(outcome.redirectUrl, { error, error_description: detail });
    }
  }
}

/** 303: the browser follows with a GET, whatever the method of this request. */
function redirect(to: string, params: Record<string, string>): Response {
  const url = new URL(to);
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  return new Response(null, { status: 303, headers: { location: url.href } });
}

function bounded(words: string): string {
  return words.slice(0, WORDS_LENGTH_MAX);
}
