/** The schema for webhooks: how their requests are authenticated, and where events hold their data. */
import { z } from 'zod';
import { DAY_MS } from '../../../work/durations.ts';
import { PROVIDER_EVENT_KINDS } from '../../subscribing.ts';
import { headerName, jsonObject, pathTemplate, pointer, timeFormat } from './request-location.ts';

export const eventValue = z
  .union([
    pointer,
    z.strictObject({ firstOf: z.array(pointer).min(1) }),
    z.strictObject({ body: pointer }),
    z.strictObject({ header: z.string() }),
  ])
  .describe(
    'The location of a value: a pointer into the event, the first of several pointers that has a value, a pointer into the body, or a header.',
  );
export type EventValue = z.output<typeof eventValue>;

const timestamp = z
  .strictObject({
    at: eventValue,
    prefix: z
      .string()
      .default('')
      .describe('The string before the time, if the time is one of several parts.'),
    unit: z.enum(['seconds', 'milliseconds', 'iso']),
    toleranceMs: z.int().positive().max(DAY_MS),
  })
  .describe('The signed time of the request. Older requests are refused as replays.');

export const webhookAuthentication = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('hmac'),
      header: z.string(),
      prefix: z
        .string()
        .default('')
        .describe(
          'The string before a signature. Parts of the header without this prefix are ignored.',
        ),
      separator: z.string().optional().describe('Separates the parts of the header.'),
      algorithm: z.enum(['sha1', 'sha256']),
      encoding: z.enum(['hex', 'base64']),
      keyEncoding: z
        .enum(['utf8', 'hex', 'base64'])
        .default('utf8')
        .describe('How the secret encodes the key.'),
      signedPayload: z
        .string()
        .includes('{body}')
        .default('{body}')
        .describe('The signed string. It may also contain `{timestamp}`.'),
      timestamp: timestamp.optional(),
    }),
    /** HTTP Basic with the secret as the password. */
    z.strictObject({ kind: z.literal('basic'), username: z.string() }),
  ])
  .describe('How a request proves that it comes from the vendor.');
export type WebhookAuthentication = z.output<typeof webhookAuthentication>;

const eventType = z
  .strictObject({
    object: z.string().optional(),
    kind: z.enum(PROVIDER_EVENT_KINDS),
  })
  .describe(
    'The change that an event type reports. `object` defaults to the object of the subscription.',
  );

const account = z
  .discriminatedUnion('source', [
    z.strictObject({
      source: z.literal('event'),
      at: eventValue,
      metadataName: z.string().default('workspace'),
      template: z.string().includes('{account}').default('{account}'),
      ignoresCase: z
        .literal(true)
        .optional()
        .describe('True if names of accounts that differ only in case are the same account.'),
    }),
    z.strictObject({ source: z.literal('url') }),
    z.strictObject({ source: z.literal('subscription') }),
  ])
  .describe(
    "Identifies the account of an event.\n- event: a value in the event, which equals the connection's workspace or a member of its metadata.\n- url: the webhook's URL. Each connection has its own, with a secret that the gateway creates.\n- subscription: the webhook's URL. Each subscription has its own, with a secret that the vendor creates.",
  );

const subscription = z
  .strictObject({
    method: z.enum(['POST', 'PUT']).default('POST'),
    path: pathTemplate,
    body: jsonObject,
    id: pointer.describe("Where the response holds the vendor's id of the subscription."),
    refusalReasons: pointer
      .optional()
      .describe('Where a response with a success status holds the reasons of a refusal.'),
    covers: z
      .enum(['type', 'object', 'parent'])
      .describe(
        'One subscription covers an event type, an object, or the records below one parent record.',
      ),
    types: z
      .strictObject({
        at: pointer,
        item: z.union([z.string(), jsonObject]),
        itemByObject: z.record(z.string(), jsonObject).default({}),
      })
      .optional()
      .describe(
        'The list of event types in the body. An item is a string or an object with `{type}`, or with the parts before and after the last dot of the type, `{subject}` and `{action}`. `itemByObject` replaces `item` for some objects.',
      ),
    objectId: z
      .strictObject({ path: pathTemplate, at: pointer })
      .optional()
      .describe(
        "The request that finds the vendor's id of an object, which replaces `{objectId}`.",
      ),
    secret: z
      .strictObject({ path: pathTemplate.optional(), at: pointer })
      .optional()
      .describe(
        'Where the vendor returns a secret that it created: in the response, or at another path.',
      ),
    checkPath: pathTemplate
      .optional()
      .describe(
        'The path of the subscription with the id `{subscriptionId}`. Without it, a deletion at the vendor goes unnoticed.',
      ),
    objectNames: z
      .record(z.string(), z.string())
      .default({})
      .describe(
        "The vendor's object names in subscriptions, if they differ from those in event types.",
      ),
    remove: z.strictObject({
      method: z.enum(['DELETE', 'POST']).default('DELETE'),
      path: pathTemplate,
      body: jsonObject
        .optional()
        .describe("`{subscriptionId}` is the vendor's id, in the body and in the path."),
    }),
  })
  .describe(
    'The request that subscribes to events. `{url}`, `{secret}`, `{object}`, `{type}`, `{objectId}` and the id of a parent are replaced in the body.',
  );
export type SubscriptionDeclaration = z.output<typeof subscription>;

const handshake = z
  .strictObject({ header: headerName })
  .describe(
    'A request that verifies the URL before a secret exists. The response must repeat this header.',
  );

const challenge = z
  .strictObject({
    at: pointer,
    value: z.string(),
    token: pointer.describe('The string to sign with the secret.'),
    response: z.strictObject({ token: z.string(), signed: z.string() }),
  })
  .describe(
    'A request without events that verifies the URL, and the response that the vendor requires.',
  );

export const eventsDeclaration = z.strictObject({
  authentication: webhookAuthentication,
  account,
  bodyEvents: pointer
    .optional()
    .describe('Where the body holds its events. Absent if the body is one event.'),
  typeParts: z
    .array(eventValue)
    .min(1)
    .max(3)
    .describe("The parts of the vendor's event type. Joined by dots, they are a key of `types`."),
  types: z.record(z.string().max(100), eventType),
  objectsWithoutEvents: z
    .array(z.string())
    .default([])
    .describe(
      'Objects without events. An event type without `object` applies to all other objects.',
    ),
  eventIdParts: z
    .array(eventValue)
    .min(1)
    .max(10)
    .describe("The parts of the event's id. A repeated event must have the same id."),
  recordId: z.strictObject({
    parts: z.array(eventValue).min(1).max(10),
    separator: z.string().default(''),
    templates: z
      .record(z.string(), z.string().includes('{id}'))
      .default({})
      .describe(
        'By object: the form of the id in lists, if it contains more than the id in events.',
      ),
  }),
  time: z
    .strictObject({ at: eventValue, format: timeFormat })
    .optional()
    .describe('Default: the time at which the event arrived.'),
  changedFields: pointer
    .optional()
    .describe(
      'The changed fields of an update: the keys of a map, the items of a list, or one string.',
    ),
  record: pointer
    .optional()
    .describe(
      'Where the event holds the record as lists return it. If absent, the gateway fetches the record.',
    ),
  ignoreIfAbsent: pointer
    .optional()
    .describe('Events without a value here are ignored, although their type is declared.'),
  acceptedStatus: z
    .literal([200, 204])
    .default(204)
    .describe('The status of the response to an accepted request.'),
  requiresEmptyResponses: z
    .literal(true)
    .optional()
    .describe('True if the vendor accepts only responses without a body.'),
  challenge: challenge.optional(),
  handshake: handshake.optional(),
  subscription: subscription
    .optional()
    .describe('Absent if a person creates the subscriptions at the vendor.'),
  instructions: z
    .array(z.string())
    .optional()
    .describe(
      'Instructions for a person who sets up the webhook. `{url}` is the URL that receives the events.',
    ),
});
export type EventsDeclaration = z.output<typeof eventsDeclaration>;

export const identityRequest = z
  .strictObject({
    method: z.enum(['GET', 'POST']).default('GET'),
    path: pathTemplate,
    body: jsonObject.optional(),
    workspaceRef: pointer,
    consumerRef: pointer.optional(),
  })
  .describe('The request that finds the account of a connection.');
export type IdentityRequest = z.output<typeof identityRequest>;

const webhookRequest = z
  .strictObject({ path: pathTemplate, body: jsonObject.optional() })
  .describe('A request for one webhook, whose id is `{webhookId}`.');

const webhook = z
  .strictObject({
    path: pathTemplate.describe(
      'A POST to this path creates the webhook. `{url}` in the body is replaced.',
    ),
    body: jsonObject,
    id: pointer.describe(
      "Where the response holds the vendor's id of the webhook and the secret that signs its requests.",
    ),
    secret: pointer,
    list: z
      .strictObject({
        records: pointer,
        id: pointer,
        url: pointer,
        isActive: pointer.describe('True while the webhook records changes.'),
        isNotifying: pointer.describe(
          'True while the webhook sends notifications. It may stop after failures.',
        ),
      })
      .describe('The list of webhooks, at the same path.'),
    renew: webhookRequest.describe('Extends the webhook.'),
    resume: webhookRequest.describe('Restarts notifications.'),
    remove: z.strictObject({ path: pathTemplate }).describe('Deletes the webhook, by DELETE.'),
  })
  .describe(
    'The webhook that notifies of changes. Each connection has one, because vendors allow few.',
  );

const entries = z
  .strictObject({
    path: pathTemplate.describe('`{webhookId}` is the id of the webhook.'),
    records: pointer,
    startParameter: z.string().describe('The parameter with the number of the first entry.'),
    size: z.strictObject({ name: z.string(), max: z.int().positive() }),
    next: pointer.describe(
      'Where the response holds the number of the next entry, and whether more entries may follow.',
    ),
    hasMore: pointer,
    time: z
      .strictObject({ at: pointer, format: timeFormat })
      .describe('Where an entry holds its time.'),
    gapMarker: pointer.describe(
      'Entries with a value here lack some changes, which the vendor cannot list.',
    ),
    objects: z.string().describe('The member of an entry that maps objects by name.'),
    changes: z
      .record(z.string(), z.enum(PROVIDER_EVENT_KINDS))
      .describe(
        'The members of an object with changed records: each is a map by record id, or a list of ids.',
      ),
  })
  .describe('The list of changes. Its entries are numbered.');

export const eventList = z
  .strictObject({
    authentication: webhookAuthentication,
    webhook,
    entries,
  })
  .describe(
    'The schema for vendors whose webhook only notifies of changes. The gateway reads the changes from a list.',
  );
export type EventListDeclaration = z.output<typeof eventList>;
