/** Receives a vendor's webhooks as declared: verifies their requests and parses their events. */
import { createHmac } from 'node:crypto';
import { isObject } from '../../../work/is-object.ts';
import {
  MalformedEventsError,
  PROVIDER_EVENT_KINDS,
  type ProviderEvent,
  type SubscribeCapability,
  type WebhookContext,
  type WebhookRequest,
  type WebhookResponse,
} from '../../subscribing.ts';
import type { Declaration, ObjectDeclaration } from '../declaration/declaration.ts';
import type { EventsDeclaration } from '../declaration/events-declaration.ts';
import { findValue, parseId, readOwn } from '../json.ts';
import { flattenFields } from '../nested-fields.ts';
import { parseTime } from '../times.ts';
import type { Vendor } from '../vendor.ts';
import {
  findAccountInUrl,
  listNativeTypes,
  parseBody,
  type ReceivedEvent,
  readEventValue,
  readEventValues,
} from './event-values.ts';
import { createSubscriptionCalls } from './subscription-calls.ts';
import { deriveSecrets, isAuthentic } from './webhook-authentication.ts';

type EventContext = ReceivedEvent & { context: WebhookContext };

/** The maximum number of events in a request. No vendor sends more. */
const EVENTS_MAX = 10_000;

export function createSubscribe(vendor: Vendor, events: EventsDeclaration): SubscribeCapability {
  const { account, subscription, instructions } = events;
  const declaredKinds = Object.values(events.types).map(({ kind }) => kind);
  return {
    kinds: PROVIDER_EVENT_KINDS.filter((kind) => declaredKinds.includes(kind)),
    listKinds: (objectName) => listNativeTypes(events, objectName).map(({ kind }) => kind),
    findAccount: ({ id, providerWorkspaceRef }, findMetadata) => {
      if (account.source !== 'event') return id;
      const value =
        account.metadataName === 'workspace'
          ? providerWorkspaceRef
          : findMetadata(account.metadataName);
      if (value === null) return null;
      return normalizeAccount(
        account,
        account.template.replace('{account}', () => value),
      );
    },
    requests: {
      ...(account.source === 'subscription' && { hasOwnSecrets: true as const }),
      ...(events.handshake && { respondToHandshake: createHandshakeResponder(events.handshake) }),
      isSigned: (request, secrets, now) =>
        isAuthentic(events.authentication, request, {
          secrets: account.source === 'url' ? deriveSecrets(request, secrets) : secrets,
          now,
        }),
      parseEvents: (request, context) => parseEvents(vendor, events, { request, context }),
      respond: (request, secrets, now) => createResponse(events, request, { secrets, now }),
      ...(events.requiresEmptyResponses && { requiresEmptyResponses: true as const }),
    },
    ...(subscription && { calls: createSubscriptionCalls(vendor, events, subscription) }),
    ...(instructions && {
      instructions: (url: string) =>
        instructions
          .map((line, index) => `${index + 1}. ${line.replace('{url}', () => url)}`)
          .join('\n'),
    }),
  };
}

/** Parses the events of a request. Omits events of undeclared types. Throws MalformedEvents. */
function parseEvents(
  { displayName, declaration }: Vendor,
  events: EventsDeclaration,
  { request, context }: { request: WebhookRequest; context: WebhookContext },
): ProviderEvent[] {
  const body = parseBody(request);
  const items = events.bodyEvents === undefined ? [body] : findValue(body, events.bodyEvents);
  if (!isObject(body) || !Array.isArray(items) || items.length > EVENTS_MAX) {
    throw new MalformedEventsError(
      `The body does not have the documented format of ${displayName} events.`,
    );
  }
  if (isChallenge(events, body)) return [];
  return items.flatMap((event) => {
    const parsedEvent = parseEvent(declaration, events, { request, context, body, event });
    if (parsedEvent === null)
      throw new MalformedEventsError(
        `An event does not have the documented format of ${displayName} events.`,
      );
    return parsedEvent;
  });
}

function isChallenge({ challenge }: EventsDeclaration, body: unknown): boolean {
  return challenge !== undefined && findValue(body, challenge.at) === challenge.value;
}

/** Returns an empty list for an event to ignore. Null if the value is not an event. */
function parseEvent(
  { objects, otherObjects }: Declaration,
  events: EventsDeclaration,
  source: EventContext,
): ProviderEvent | [] | null {
  const eventType = findEventType(events, source);
  if (eventType === undefined) return null;
  if (eventType === null || isIgnored(events, source)) return [];
  const { type, kind } = eventType;
  const { eventIdParts, recordId } = events;
  const eventIdValues = readEventValues(eventIdParts, source);
  const recordIdValues = readEventValues(recordId.parts, source);
  const time = readEventTime(events, source);
  const account = readEventAccount(events, source);
  const objectName = eventType.object ?? source.context.subscription?.objectName ?? null;
  if (!eventIdValues || !recordIdValues || !time) return null;
  if (account === null || objectName === null) return null;
  const template = readOwn(recordId.templates, objectName) ?? '{id}';
  const id = template.replace('{id}', () => recordIdValues.join(recordId.separator));
  return {
    nativeId: [type, ...eventIdValues].join('.'),
    account,
    objectName,
    recordId: id,
    kind,
    nativeType: type,
    time,
    changedFields: kind === 'UPDATE' ? listChangedFields(events, source.event) : [],
    record:
      kind === 'DELETE'
        ? null
        : readEventRecord(events, source.event, {
            id,
            object: readOwn(objects, objectName) ?? otherObjects,
          }),
    association: null,
    raw: isObject(source.event) ? source.event : { event: source.event },
  };
}

type EventType = EventsDeclaration['types'][string] & { type: string };

/**
 * Returns the declared type of the event. Null if its type is not declared. Some events lack parts of a type: the ping of
 * GitHub has no action. Undefined if the missing parts could make the event one of a declared type.
 */
function findEventType(
  { types, typeParts }: EventsDeclaration,
  source: ReceivedEvent,
): EventType | null | undefined {
  const values = typeParts.map((location) => readEventValue(location, source));
  if (!values.includes(null)) {
    const type = values.join('.');
    const eventType = readOwn(types, type);
    return eventType ? { ...eventType, type } : null;
  }
  const patterns = values.map((value) => (value === null ? '.+' : RegExp.escape(value)));
  const pattern = new RegExp(`^${patterns.join('\\.')}$`, 's');
  return Object.keys(types).some((type) => pattern.test(type)) ? undefined : null;
}

function isIgnored({ ignoreIfAbsent }: EventsDeclaration, { event }: ReceivedEvent): boolean {
  return ignoreIfAbsent !== undefined && findValue(event, ignoreIfAbsent) == null;
}

function readEventTime({ time }: EventsDeclaration, source: EventContext): Date | null {
  return time ? parseTime(readEventValue(time.at, source), time.format) : source.context.now;
}

function readEventAccount({ account }: EventsDeclaration, source: EventContext): string | null {
  if (account.source === 'subscription') return source.context.subscription?.account ?? null;
  if (account.source === 'url') return findAccountInUrl(source.request);
  const name = readEventValue(account.at, source);
  return name === null ? null : normalizeAccount(account, name);
}

/** Returns the same name for all spellings of an account's name. */
function normalizeAccount({ ignoresCase }: { ignoresCase?: true | undefined }, name: string) {
  return ignoresCase ? name.toLowerCase() : name;
}

function listChangedFields(
  { changedFields: pointer }: EventsDeclaration,
  event: unknown,
): string[] {
  const names = pointer === undefined ? undefined : findValue(event, pointer);
  if (typeof names === 'string') return [names];
  if (Array.isArray(names)) return names.filter((name) => typeof name === 'string');
  return isObject(names) ? Object.keys(names) : [];
}

function readEventRecord(
  { record }: EventsDeclaration,
  event: unknown,
  { id, object }: { id: string; object: ObjectDeclaration | undefined },
): ProviderEvent['record'] {
  const raw = record === undefined ? undefined : findValue(event, record);
  if (!isObject(raw) || !object) return null;
  const nestedMaps = object.nestedFields.map((declaration) => flattenFields(declaration, raw));
  return { id, fields: Object.assign({}, ...nestedMaps.toReversed(), raw, { id }), raw };
}

/** Header values that are safe to repeat. The value of a handshake is a secret, so it is short. */
const HANDSHAKE_VALUE = /^[\x21-\x7e]{1,256}$/;

function createHandshakeResponder({ header }: NonNullable<EventsDeclaration['handshake']>) {
  return ({ headers }: WebhookRequest): WebhookResponse | null => {
    const value = headers[header.toLowerCase()];
    if (typeof value !== 'string' || !HANDSHAKE_VALUE.test(value)) return null;
    return { status: 200, headers: { [header]: value } };
  };
}

function createResponse(
  events: EventsDeclaration,
  request: WebhookRequest,
  { secrets, now }: { secrets: readonly string[]; now: Date },
): WebhookResponse {
  const { challenge, acceptedStatus } = events;
  const body = challenge && parseBody(request);
  if (!challenge || !isChallenge(events, body)) return { status: acceptedStatus };
  const token = parseId(findValue(body, challenge.token)) ?? '';
  // While a secret is rotated, the vendor may still have the previous one. It expects the secret that it signed with.
  const secret =
    secrets.find((candidate) =>
      isAuthentic(events.authentication, request, { secrets: [candidate], now }),
    ) ?? '';
  const signature = createHmac('sha256', secret).update(token).digest('hex');
  const { response } = challenge;
  return { status: 200, body: { [response.token]: token, [response.signed]: signature } };
}
