/** Subscribes to a vendor's webhooks, parses their events, and finds the account of a connection, as declared. */
import { createHmac } from 'node:crypto';
import type { AccountIdentity, ProviderSession } from '../../contract.ts';
import {
  type Arrival,
  MalformedEvents,
  PROVIDER_EVENT_KINDS,
  type ProviderEvent,
  type SubscribeCapability,
  type WebhookRequest,
  type WebhookResponse,
} from '../../subscribing.ts';
import type { Declaration, ObjectDeclaration } from '../declaration/declaration.ts';
import type { Events, Identity } from '../declaration/events-declaration.ts';
import type { Vendor } from '../failure.ts';
import { findId, isObject, valueAt } from '../json.ts';
import { nestedFields } from '../nested-fields.ts';
import { sendRequest } from '../send-request.ts';
import { fillPath } from '../template.ts';
import { readTime } from '../times.ts';
import {
  accountIn,
  bodyOf,
  type EventSource,
  readEventValue,
  readEventValues,
} from './event-values.ts';
import { typesFor } from './native-types.ts';
import { isProven } from './proof.ts';
import { subscriptionCalls } from './subscription-calls.ts';

type Arrived = EventSource & { arrival: Arrival };

/** The maximum number of events in a request. No vendor sends more. */
const EVENTS_MAX = 10_000;

/** Parses the events of a request. Omits types that are not declared. Throws MalformedEvents. */
function eventsOf(
  { displayName, declaration }: Vendor,
  events: Events,
  { request, arrival }: { request: WebhookRequest; arrival: Arrival },
): ProviderEvent[] {
  const body = bodyOf(request);
  const listed = events.list === undefined ? [body] : valueAt(body, events.list);
  if (!isObject(body) || !Array.isArray(listed) || listed.length > EVENTS_MAX) {
    throw new MalformedEvents(`The body is not what ${displayName} sends.`);
  }
  if (isChallenge(events, body)) return [];
  return listed.flatMap((event) => {
    const found = eventOf(declaration, events, { request, arrival, body, event });
    if (found === null) throw new MalformedEvents(`An event is not what ${displayName} sends.`);
    return found;
  });
}

function isChallenge({ challenge }: Events, body: unknown): boolean {
  return challenge !== undefined && valueAt(body, challenge.at) === challenge.value;
}

/** Returns an empty list for an event to ignore. Null if the value is not an event. */
function eventOf(
  { objects, anyObject }: Declaration,
  events: Events,
  sent: Arrived,
): ProviderEvent | [] | null {
  const type = readEventValues(events.type, sent)?.join('.');
  if (type === undefined) return null;
  const meaning = Object.hasOwn(events.types, type) ? events.types[type] : undefined;
  if (!meaning || isSkipped(events, sent)) return [];
  const { nativeId, recordId } = events;
  const ids = readEventValues(nativeId, sent);
  const record = readEventValues(recordId.parts, sent);
  const at = timeOf(events, sent);
  const account = accountOf(events, sent);
  const objectName = meaning.object ?? sent.arrival.subscription?.objectName ?? null;
  if (!ids || !record || !at || account === null || objectName === null) return null;
  const template = recordId.templates[objectName] ?? '{id}';
  const id = template.replace('{id}', () => record.join(recordId.separator));
  return {
    nativeId: [type, ...ids].join('.'),
    account,
    objectName,
    recordId: id,
    kind: meaning.kind,
    nativeType: type,
    time: at,
    changedFields: meaning.kind === 'UPDATE' ? changedIn(events, sent.event) : [],
    record:
      meaning.kind === 'DELETE'
        ? null
        : recordIn(events, sent.event, { id, object: objects[objectName] ?? anyObject }),
    association: null,
    raw: isObject(sent.event) ? sent.event : { event: sent.event },
  };
}

function isSkipped({ skip }: Events, { event }: EventSource): boolean {
  return skip !== undefined && valueAt(event, skip) != null;
}

function timeOf({ time }: Events, sent: Arrived): Date | null {
  return time ? readTime(readEventValue(time.at, sent), time.format) : sent.arrival.now;
}

function accountOf({ account }: Events, sent: Arrived): string | null {
  if (account.of === 'subscription') return sent.arrival.subscription?.account ?? null;
  return account.of === 'address' ? accountIn(sent.request) : readEventValue(account.at, sent);
}

function changedIn({ changed }: Events, event: unknown): string[] {
  const found = changed === undefined ? undefined : valueAt(event, changed);
  if (typeof found === 'string') return [found];
  if (Array.isArray(found)) return found.filter((one) => typeof one === 'string');
  return isObject(found) ? Object.keys(found) : [];
}

function recordIn(
  { record }: Events,
  event: unknown,
  { id, object }: { id: string; object: ObjectDeclaration | undefined },
): ProviderEvent['record'] {
  const raw = record === undefined ? undefined : valueAt(event, record);
  if (!isObject(raw) || !object) return null;
  const nested = object.nested.map((one) => nestedFields(one, raw));
  return { id, fields: Object.assign({}, ...nested.toReversed(), raw, { id }), raw };
}

export function subscribeBy(vendor: Vendor, events: Events): SubscribeCapability {
  const { account, subscription, instructions } = events;
  const declaredKinds = Object.values(events.types).map(({ kind }) => kind);
  return {
    kinds: PROVIDER_EVENT_KINDS.filter((kind) => declaredKinds.includes(kind)),
    kindsOf: (objectName) => typesFor(events, objectName).map(({ kind }) => kind),
    accountOf: ({ id, providerWorkspaceRef }, fact) => {
      if (account.of !== 'event') return id;
      const value = account.fact === 'workspace' ? providerWorkspaceRef : fact(account.fact);
      return value === null ? null : account.template.replace('{account}', () => value);
    },
    requests: {
      ...(account.of === 'subscription' && { hasOwnSecrets: true as const }),
      ...(events.greeting && { greet: greetingTo(events.greeting) }),
      isSigned: (request, secrets, now) => isProven(events, request, { secrets, now }),
      eventsOf: (request, arrival) => eventsOf(vendor, events, { request, arrival }),
      respond: (request, secret) => respondTo(events, request, secret),
    },
    ...(subscription && { calls: subscriptionCalls(vendor, events, subscription) }),
    ...(instructions && {
      instructions: (url: string) =>
        instructions.map((line, n) => `${n + 1}. ${line.replace('{url}', () => url)}`).join('\n'),
    }),
  };
}

/** A greeting that is safe to repeat in a header, and not longer than a secret. */
const GREETING = /^[\x21-\x7e]{1,256}$/;

function greetingTo({ header }: NonNullable<Events['greeting']>) {
  return ({ headers }: WebhookRequest): WebhookResponse | null => {
    const greeting = headers[header.toLowerCase()];
    if (typeof greeting !== 'string' || !GREETING.test(greeting)) return null;
    return { status: 200, headers: { [header]: greeting } };
  };
}

function respondTo(events: Events, request: WebhookRequest, secret: string): WebhookResponse {
  const { challenge, acceptedStatus } = events;
  const body = challenge && bodyOf(request);
  if (!challenge || !isChallenge(events, body)) return { status: acceptedStatus };
  const token = findId(valueAt(body, challenge.token)) ?? '';
  const signed = createHmac('sha256', secret).update(token).digest('hex');
  const { response } = challenge;
  return { status: 200, body: { [response.token]: token, [response.signed]: signed } };
}

/** Requests the account of the connection. Throws ProviderError. */
export async function identifyBy(
  vendor: Vendor,
  { method, path, body, workspaceRef, consumerRef }: Identity,
  session: ProviderSession,
): Promise<AccountIdentity> {
  const request = { method, path: fillPath(path, {}, session), ...(body && { body }) };
  const response = await sendRequest(vendor, session, request);
  return {
    workspaceRef: findId(valueAt(response.body, workspaceRef)),
    consumerRef: consumerRef === undefined ? null : findId(valueAt(response.body, consumerRef)),
  };
}
