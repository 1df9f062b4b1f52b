/** The schema for webhooks: how requests are authenticated, and where events hold their facts. */
import { z } from 'zod';
import { PROVIDER_EVENT_KINDS } from '../../subscribing.ts';
import { json, path, pointer, timeFormat } from './request-location.ts';

/** The location of a fact: a pointer into the event, the first of several, a pointer into the body, or a header. */
const eventValue = z.union([
  pointer,
  z.strictObject({ firstOf: z.array(pointer).min(1) }),
  z.strictObject({ body: pointer }),
  z.strictObject({ header: z.string() }),
]);
export type EventValue = z.output<typeof eventValue>;

/** The signed time. Older requests are refused as replays. */
const signedAt = z.strictObject({
  at: eventValue,
  /** The text before the time, if the time is one of several parts. */
  part: z.string().default(''),
  unit: z.enum(['seconds', 'milliseconds', 'iso']),
  toleranceMs: z.int().positive(),
});

/** How a request proves that it comes from the vendor. */
export const proof = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('hmac'),
    header: z.string(),
    /** The text before the signature. Parts of the header without it are not signatures. */
    prefix: z.string().default(''),
    /** Separates the parts of the header. */
    separator: z.string().optional(),
    algorithm: z.enum(['sha1', 'sha256']),
    encoding: z.enum(['hex', 'base64']),
    /** How the text of the secret encodes the key. */
    key: z.enum(['text', 'hex', 'base64']).default('text'),
    /** The signed text. */
    text: z.string().includes('{body}').default('{body}'),
    signedAt: signedAt.optional(),
  }),
  /** HTTP Basic with the secret as the password. */
  z.strictObject({ kind: z.literal('basic'), username: z.string() }),
]);
export type Proof = z.output<typeof proof>;

/** The meaning of a native event type. Default object: that of the subscription. */
const meaning = z.strictObject({
  object: z.string().optional(),
  kind: z.enum(PROVIDER_EVENT_KINDS),
});

/**
 * How the account of an event is found. `event`: the event names the workspace or another fact of the connection.
 * `address`: each connection has its own URL, with a secret that the gateway creates. `subscription`: each subscription
 * has its own URL, with a secret that the vendor creates.
 */
const account = z.discriminatedUnion('of', [
  z.strictObject({
    of: z.literal('event'),
    at: eventValue,
    fact: z.string().default('workspace'),
    template: z.string().includes('{account}').default('{account}'),
  }),
  z.strictObject({ of: z.literal('address') }),
  z.strictObject({ of: z.literal('subscription') }),
]);

/**
 * The request that subscribes to events. `{url}`, `{secret}`, `{object}`, `{type}`, `{objectId}` and the id of a parent are
 * replaced in the body.
 */
const subscription = z.strictObject({
  method: z.enum(['POST', 'PUT']).default('POST'),
  path,
  body: json,
  /** Where the response holds the vendor's id of the subscription. */
  ref: pointer,
  /** Where a successful response holds the reason of a refusal. */
  refusals: pointer.optional(),
  /** The scope of one subscription: an event type, an object, or the records of one parent record. */
  each: z.enum(['type', 'object', 'parent']),
  /**
   * The list of event types in the body. Its items are texts or objects with `{type}`, or with the parts before and after
   * the last dot of the type, `{subject}` and `{action}`. `itemOf` has other forms by object.
   */
  types: z
    .strictObject({
      at: pointer,
      item: z.union([z.string(), json]),
      itemOf: z.record(z.string(), json).default({}),
    })
    .optional(),
  /** The request that finds the vendor's id of an object, which replaces `{objectId}`. */
  objectId: z.strictObject({ path, at: pointer }).optional(),
  /** Where the vendor returns the secret that it created: in the response, or at another path. */
  secret: z.strictObject({ path: path.optional(), at: pointer }).optional(),
  /** The path that finds a subscription by `{ref}`. Without it, a deletion at the vendor goes unnoticed. */
  check: path.optional(),
  /** The vendor's names of objects in subscriptions, if they differ from those in event types. */
  names: z.record(z.string(), z.string()).default({}),
  remove: z.strictObject({
    method: z.enum(['DELETE', 'POST']).default('DELETE'),
    path,
    /** `{ref}` is the vendor's id, in the body and in the path. */
    body: json.optional(),
  }),
});
export type SubscriptionDeclaration = z.output<typeof subscription>;

/** A header of a request that verifies the URL. The response repeats it. No secret exists yet. */
const greeting = z.strictObject({ header: z.string() });

/** A request that is no event, and the response that the vendor requires. */
const challenge = z.strictObject({
  at: pointer,
  value: z.string(),
  /** The text to sign with the secret. */
  token: pointer,
  response: z.strictObject({ token: z.string(), signed: z.string() }),
});

export const events = z.strictObject({
  proof,
  account,
  /** Where the body holds its events. Absent if the body is one event. */
  list: pointer.optional(),
  /** The parts of the native type, which are joined by dots. */
  type: z.array(eventValue).min(1),
  types: z.record(z.string(), meaning),
  /** Objects without events. Types without an object concern all others. */
  objectsWithoutEvents: z.array(z.string()).default([]),
  nativeId: z.array(eventValue).min(1),
  recordId: z.strictObject({
    parts: z.array(eventValue).min(1),
    separator: z.string().default(''),
    /** The form of an id in lists, by object. */
    templates: z.record(z.string(), z.string().includes('{id}')).default({}),
  }),
  /** Default: the time at which the event arrived. */
  time: z.strictObject({ at: eventValue, format: timeFormat }).optional(),
  /** The changed fields of an update: the keys of a map, the items of a list, or one text. */
  changed: pointer.optional(),
  /** The record after the change, in the form of the lists. Absent: the gateway fetches it. */
  record: pointer.optional(),
  /** Present in events of a listed type that must be ignored. */
  skip: pointer.optional(),
  /** The status of the response to an accepted request. */
  acceptedStatus: z.literal([200, 204]).default(204),
  challenge: challenge.optional(),
  greeting: greeting.optional(),
  /** Absent if a person sets the subscriptions up. */
  subscription: subscription.optional(),
  /** Instructions for a person who sets up the webhook. `{url}` is the URL that receives the events. */
  instructions: z.array(z.string()).optional(),
});
export type EventsDeclaration = z.output<typeof events>;

/** The request that finds the account of a connection. */
export const identity = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET'),
  path,
  body: json.optional(),
  workspaceRef: pointer,
  consumerRef: pointer.optional(),
});
export type Identity = z.output<typeof identity>;
