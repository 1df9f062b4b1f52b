/** Reads the facts of an event from their declared locations. */
import { parseExactly } from '../../exact-json.ts';
import type { WebhookRequest } from '../../subscribing.ts';
import type { EventValue } from '../declaration/events-declaration.ts';
import { findId, valueAt } from '../json.ts';

export interface EventSource {
  request: WebhookRequest;
  body: unknown;
  event: unknown;
}

/** Returns a text, or a number as text. Null if the value is neither. */
export function readEventValue(
  location: EventValue,
  { request, body, event }: EventSource,
): string | null {
  if (typeof location === 'string') return findId(valueAt(event, location));
  if ('firstOf' in location) {
    const candidates = location.firstOf.map((pointer) => findId(valueAt(event, pointer)));
    return candidates.find((candidate) => candidate !== null) ?? null;
  }
  if ('body' in location) return findId(valueAt(body, location.body));
  return findId(request.headers[location.header.toLowerCase()]);
}

/** Returns all values. Null if one is missing. */
export function readEventValues(
  locations: readonly EventValue[],
  source: EventSource,
): string[] | null {
  const values = locations.map((location) => readEventValue(location, source));
  return values.every((value) => value !== null) ? values : null;
}

/** Returns the parsed JSON of the body, or its text if it is not JSON. */
export function parseBody({ body }: WebhookRequest): unknown {
  return parseExactly(body.toString('utf8'));
}

/** The query parameter of a webhook URL that names the account of its events. */
const ACCOUNT = 'account';

export function accountUrl(url: string, account: string): string {
  const address = new URL(url);
  address.searchParams.set(ACCOUNT, account);
  return address.href;
}

export function findAccount({ url }: Pick<WebhookRequest, 'url'>): string | null {
  return URL.parse(url)?.searchParams.get(ACCOUNT) ?? null;
}
