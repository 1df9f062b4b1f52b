/** Reads the places at which an event says something. */
import { parseExactly } from '../../exact-json.ts';
import type { WebhookRequest } from '../../subscribing.ts';
import type { SaidAt } from '../declaration/events-declaration.ts';
import { findId, valueAt } from '../json.ts';

export interface Sent {
  request: WebhookRequest;
  body: unknown;
  event: unknown;
}

/** A text, or a number as text; null if there is neither. */
export function saidAt(place: SaidAt, { request, body, event }: Sent): string | null {
  if (typeof place === 'string') return findId(valueAt(event, place));
  if ('firstOf' in place) {
    const found = place.firstOf.map((pointer) => findId(valueAt(event, pointer)));
    return found.find((one) => one !== null) ?? null;
  }
  if ('body' in place) return findId(valueAt(body, place.body));
  return findId(request.headers[place.header.toLowerCase()]);
}

/** Null unless all are there. */
export function allSaidAt(places: readonly SaidAt[], sent: Sent): string[] | null {
  const found = places.map((place) => saidAt(place, sent));
  return found.every((one) => one !== null) ? found : null;
}

/** The text itself if it is not JSON. */
export function bodyOf({ body }: WebhookRequest): unknown {
  return parseExactly(body.toString('utf8'));
}

/** The parameter of the address that a vendor sends to: whose events it sends. */
const ACCOUNT = 'account';

export function addressOf(url: string, account: string): string {
  const address = new URL(url);
  address.searchParams.set(ACCOUNT, account);
  return address.href;
}

export function accountIn({ url }: Pick<WebhookRequest, 'url'>): string | null {
  return URL.parse(url)?.searchParams.get(ACCOUNT) ?? null;
}
