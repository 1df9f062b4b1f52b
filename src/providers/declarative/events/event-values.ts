/** Reads values of an event from their declared locations. */
import { parseExactJson } from '../../exact-json.ts';
import type { ProviderEventKind, WebhookRequest } from '../../subscribing.ts';
import type { EventsDeclaration, EventValue } from '../declaration/events-declaration.ts';
import { findValue, parseId } from '../json.ts';

export interface ReceivedEvent {
  request: WebhookRequest;
  body: unknown;
  event: unknown;
}

/** Returns a string, or a number as a string. Null if the value is neither. */
export function readEventValue(
  location: EventValue,
  { request, body, event }: ReceivedEvent,
): string | null {
  if (typeof location === 'string') return parseId(findValue(event, location));
  if ('firstOf' in location) {
    const candidates = location.firstOf.map((pointer) => parseId(findValue(event, pointer)));
    return candidates.find((candidate) => candidate !== null) ?? null;
  }
  if ('body' in location) return parseId(findValue(body, location.body));
  return parseId(request.headers[location.header.toLowerCase()]);
}

/** Returns all values. Null if one is missing. */
export function readEventValues(
  locations: readonly EventValue[],
  source: ReceivedEvent,
): string[] | null {
  const values = locations.map((location) => readEventValue(location, source));
  return values.every((value) => value !== null) ? values : null;
}

/** Returns the parsed JSON of the body, or the body as a string if it is not JSON. */
export function parseBody({ body }: WebhookRequest): unknown {
  return parseExactJson(body.toString('utf8'));
}

/** The query parameter of a webhook URL that names the account of its events. */
const ACCOUNT_PARAMETER = 'account';

export function createAccountUrl(url: string, account: string): string {
  const accountUrl = new URL(url);
  accountUrl.searchParams.set(ACCOUNT_PARAMETER, account);
  return accountUrl.href;
}

export function findAccountInUrl({ url }: Pick<WebhookRequest, 'url'>): string | null {
  return URL.parse(url)?.searchParams.get(ACCOUNT_PARAMETER) ?? null;
}

interface NativeType {
  type: string;
  kind: ProviderEventKind;
}

/** Returns the types that name the object. If there are none, returns the types without an object, which apply to it. */
export function listNativeTypes(
  { types, objectsWithoutEvents }: EventsDeclaration,
  objectName: string,
): NativeType[] {
  const declaredTypes = Object.entries(types).map(([type, { object, kind }]) => ({
    type,
    kind,
    object,
  }));
  const objectTypes = declaredTypes.filter(({ object }) => object === objectName);
  if (objectTypes.length > 0 || objectsWithoutEvents.includes(objectName)) return objectTypes;
  return declaredTypes.filter(({ object }) => object === undefined);
}
