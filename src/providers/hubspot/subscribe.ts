/**
 * Receives HubSpot's webhooks. A person sets them up in the app at HubSpot, once for all accounts with the app. An
 * event names its account by the portal id.
 */
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isSameSecret } from '../../kernel/secrets.ts';
import { parseBounded, requireParsed } from '../../work/bounded-parse.ts';
import { MINUTE_MS } from '../../work/durations.ts';
import {
  MalformedEventsError,
  type ProviderAssociation,
  type ProviderEvent,
  type ProviderEventKind,
  type SubscribeCapability,
  type WebhookRequest,
} from '../subscribing.ts';
import { idSchema } from './wire.ts';

const TOLERANCE_MS = 5 * MINUTE_MS;

export const subscribe: SubscribeCapability = {
  kinds: ['CREATE', 'UPDATE', 'DELETE', 'ASSOCIATION_UPDATE', 'OTHER'],
  findAccount: ({ providerWorkspaceRef }) => providerWorkspaceRef,
  requests: { isSigned, parseEvents },
  instructions: (url) =>
    [
      `1. At HubSpot, open the app's "Webhooks" and enter ${url} as the target URL.`,
      '2. Create subscriptions for the objects that your integrations subscribe to: "created", "deleted", "property changed" for each property to watch, "association changed".',
      '3. Activate them. Events are signed with the client secret of the app (signature version 3).',
    ].join('\n'),
};

/** Verifies signature version 3: HMAC-SHA256 of method, URL, body and timestamp with the client secret. */
function isSigned(request: WebhookRequest, secrets: readonly string[], now: Date): boolean {
  const { method, url, headers, body } = request;
  const timestamp = String(headers['x-hubspot-request-timestamp']);
  if (!/^\d{1,16}$/.test(timestamp)) return false;
  if (Math.abs(now.getTime() - Number(timestamp)) > TOLERANCE_MS) return false;
  const signature = Buffer.from(String(headers['x-hubspot-signature-v3']), 'base64');
  return secrets.some((secret) => {
    const hmac = createHmac('sha256', secret).update(method + url);
    const expectedSignature = hmac.update(body).update(timestamp).digest();
    return isSameSecret(signature, expectedSignature);
  });
}

/** Members of an event of any type. */
const typedEvent = z.looseObject({ subscriptionType: z.string().min(1).max(128) });
const eventSchema = typedEvent.extend({
  eventId: idSchema,
  subscriptionId: idSchema,
  portalId: idSchema,
  occurredAt: z.int(),
  objectId: idSchema.optional(),
  objectTypeId: z.string().max(64).optional(),
  propertyName: z.string().max(256).optional(),
  fromObjectId: idSchema.optional(),
  fromObjectTypeId: z.string().max(64).optional(),
  toObjectId: idSchema.optional(),
  toObjectTypeId: z.string().max(64).optional(),
  associationType: z.string().max(256).nullish(),
});
type HubspotEvent = z.output<typeof eventSchema>;
const bodySchema = z.array(typedEvent).max(1_000);

const KINDS = new Map<string, ProviderEventKind>([
  ['creation', 'CREATE'],
  ['propertyChange', 'UPDATE'],
  ['deletion', 'DELETE'],
  ['privacyDeletion', 'DELETE'],
  ['associationChange', 'ASSOCIATION_UPDATE'],
]);

const OBJECT_NAMES = new Map([
  ['0-1', 'contacts'],
  ['0-2', 'companies'],
  ['0-3', 'deals'],
  ['0-5', 'tickets'],
  ['0-7', 'products'],
  ['0-8', 'line_items'],
  ['0-115', 'users'],
  // Older event types have the object's name instead of its type id.
  ['contact', 'contacts'],
  ['company', 'companies'],
  ['deal', 'deals'],
  ['ticket', 'tickets'],
  ['product', 'products'],
  ['line_item', 'line_items'],
]);

function parseEvents({ body }: WebhookRequest): ProviderEvent[] {
  return parseBody(body).map(({ event, raw }) => {
    const { prefix, action } = parseType(event);
    const association = findAssociation(event, prefix);
    const typeId = event.objectTypeId ?? event.fromObjectTypeId ?? prefix;
    const recordId = event.objectId ?? association?.from.id ?? null;
    return {
      // Several subscriptions and records may share an event id.
      nativeId: [event.subscriptionId, event.eventId, recordId, event.occurredAt].join('.'),
      account: event.portalId,
      objectName: toObjectName(typeId),
      recordId,
      kind: KINDS.get(action) ?? 'OTHER',
      nativeType: event.subscriptionType,
      time: new Date(event.occurredAt),
      changedFields: event.propertyName === undefined ? [] : [event.propertyName],
      record: null,
      association,
      raw,
    };
  });
}

/** Splits a type such as `contact.creation`. */
function parseType({ subscriptionType }: z.output<typeof typedEvent>) {
  const [prefix = '', action = ''] = subscriptionType.split('.');
  return { prefix, action };
}

/**
 * Returns both parties of an association. Older event types have no type ids, but an association type such as
 * `DEAL_TO_LINE_ITEM`, which may also name an object that the gateway does not know. The first party then is the object
 * of the event type.
 */
function findAssociation(event: HubspotEvent, prefix: string): ProviderAssociation | null {
  const { fromObjectId, fromObjectTypeId, toObjectId, toObjectTypeId, associationType } = event;
  if (fromObjectId === undefined || toObjectId === undefined) return null;
  const [, from = '', to = ''] = /^(.+)_TO_(.+)$/.exec(associationType ?? '') ?? [];
  const findName = (typeId: string | undefined, ...names: string[]) =>
    typeId
      ? toObjectName(typeId)
      : (names.map((name) => OBJECT_NAMES.get(name.toLowerCase())).find(Boolean) ?? '');
  return {
    from: { id: fromObjectId, objectName: findName(fromObjectTypeId, from, prefix) },
    to: { id: toObjectId, objectName: findName(toObjectTypeId, to) },
  };
}

/** Returns the object's name. Custom objects have their type id as name. */
function toObjectName(typeId: string): string {
  return OBJECT_NAMES.get(typeId) ?? typeId;
}

/**
 * Returns each event both parsed and in its original form. Omits events of unknown types that have another form: HubSpot
 * would retry all events of the request.
 */
function parseBody(body: Buffer): { event: HubspotEvent; raw: Record<string, unknown> }[] {
  try {
    const events = JSON.parse(body.toString('utf8'));
    return requireParsed(bodySchema, events).flatMap((anyEvent, index) => {
      const { data: event, error } = parseBounded(eventSchema, anyEvent);
      if (event) return { event, raw: events[index] };
      if (KINDS.has(parseType(anyEvent).action)) throw error;
      return [];
    });
  } catch (cause) {
    const message = 'The body does not have the documented format of HubSpot events.';
    throw new MalformedEventsError(message, { cause });
  }
}
