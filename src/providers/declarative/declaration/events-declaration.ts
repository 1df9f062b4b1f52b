/** How a vendor sends events: what proves its requests, and what they say. */
import { z } from 'zod';
import { PROVIDER_EVENT_KINDS } from '../../subscribing.ts';
import { json, path, pointer, timeFormat } from './place.ts';

/** Where an event says something: a place in the event, the first of several, a place in the whole body, or a header. */
const said = z.union([
  pointer,
  z.strictObject({ firstOf: z.array(pointer).min(1) }),
  z.strictObject({ body: pointer }),
  z.strictObject({ header: z.string() }),
]);
export type SaidAt = z.output<typeof said>;

/** When it was signed, which the signature covers; a request that is older is somebody else's. */
const signedAt = z.strictObject({
  at: said,
  /** Before the time, if it is one of several parts. */
  part: z.string().default(''),
  unit: z.enum(['seconds', 'milliseconds', 'iso']),
  toleranceMs: z.int().positive(),
});

/** What proves that a request is the vendor's. */
export const proof = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('hmac'),
    header: z.string(),
    /** Before the signature; other parts of the header are not signatures. */
    prefix: z.string().default(''),
    /** Between the parts of the header. */
    separator: z.string().optional(),
    algorithm: z.enum(['sha1', 'sha256']),
    encoding: z.enum(['hex', 'base64']),
    /** What the secret's text stands for: itself, or the bytes that it encodes. */
    key: z.enum(['text', 'hex', 'base64']).default('text'),
    /** What is signed. */
    text: z.string().includes('{body}').default('{body}'),
    signedAt: signedAt.optional(),
  }),
  /** The secret is the password of HTTP Basic. */
  z.strictObject({ kind: z.literal('basic'), username: z.string() }),
]);
export type Proof = z.output<typeof proof>;

/** What an event of a native type is about; without an object it is that of the subscription. */
const meaning = z.strictObject({
  object: z.string().optional(),
  kind: z.enum(PROVIDER_EVENT_KINDS),
});

/**
 * Whose an event is: said by the event, as the connection's workspace or a fact of it with something around; or by
 * the address that it was sent to, which is the connection's own, with a secret that we make for it; or by an address
 * of the subscription's own, for which the vendor makes the secret.
 */
const account = z.discriminatedUnion('of', [
  z.strictObject({
    of: z.literal('event'),
    at: said,
    fact: z.string().default('workspace'),
    template: z.string().includes('{account}').default('{account}'),
  }),
  z.strictObject({ of: z.literal('address') }),
  z.strictObject({ of: z.literal('subscription') }),
]);

/**
 * What asks the vendor to send events. In the body `{url}`, `{secret}`, `{object}`, `{type}`, `{objectId}` and the id of
 * a parent are filled in.
 */
const subscription = z.strictObject({
  method: z.enum(['POST', 'PUT']).default('POST'),
  path,
  body: json,
  /** Where the answer has the vendor's id of it. */
  ref: pointer,
  /** Where a successful answer says why it did nothing. */
  refusals: pointer.optional(),
  /** One for each type of events, one for all of an object, or one for each record that the object lies below. */
  each: z.enum(['type', 'object', 'parent']),
  /**
   * The types of events that one is for: a list in the body, of texts or objects with `{type}` in them, or with what
   * is before and after its last dot, `{subject}` and `{action}`. Of some objects they have another form.
   */
  types: z
    .strictObject({
      at: pointer,
      item: z.union([z.string(), json]),
      itemOf: z.record(z.string(), json).default({}),
    })
    .optional(),
  /** What the vendor calls the object if what is sent says `{objectId}`: it has to be asked for. */
  objectId: z.strictObject({ path, at: pointer }).optional(),
  /** Where the vendor tells the secret that it has made: in its answer, or at an address of its own. */
  secret: z.strictObject({ path: path.optional(), at: pointer }).optional(),
  /** Where it can be looked up by its `{ref}`. Without it, a subscription that is gone at the vendor is not noticed. */
  check: path.optional(),
  /** What the vendor calls an object here, if not what the types say of it. */
  names: z.record(z.string(), z.string()).default({}),
  remove: z.strictObject({
    method: z.enum(['DELETE', 'POST']).default('DELETE'),
    path,
    /** `{ref}` is the vendor's id, here and in the path. */
    body: json.optional(),
  }),
});
export type Subscription = z.output<typeof subscription>;

/** A header of a request that asks whether somebody is there: the answer has it too. It comes before any secret. */
const greeting = z.strictObject({ header: z.string() });

/** An answer that the vendor waits for, to a request that is no event. */
const challenge = z.strictObject({
  at: pointer,
  value: z.string(),
  /** What is to be signed by the secret. */
  token: pointer,
  answer: z.strictObject({ token: z.string(), signed: z.string() }),
});
export type Challenge = z.output<typeof challenge>;

export const events = z.strictObject({
  proof,
  account,
  /** Where a body has its events; left out if it is one. */
  list: pointer.optional(),
  /** The native type: its parts with a dot between them. */
  type: z.array(said).min(1),
  types: z.record(z.string(), meaning),
  /** Objects that are not among those that types without an object are about. */
  tellNothingOf: z.array(z.string()).default([]),
  nativeId: z.array(said).min(1),
  recordId: z.strictObject({
    parts: z.array(said).min(1),
    separator: z.string().default(''),
    /** What is around the id in lists, by object. */
    templates: z.record(z.string(), z.string().includes('{id}')).default({}),
  }),
  /** Left out: the time at which the event came. */
  time: z.strictObject({ at: said, format: timeFormat }).optional(),
  /** Names of what an update has changed: the members of a map or of a list, or one text. */
  changed: pointer.optional(),
  /** The whole record after the change, in the form that lists have. Left out: it is fetched. */
  record: pointer.optional(),
  /** Events that are about something else, though of such a type, have this. */
  skip: pointer.optional(),
  /** The status that an accepted request is answered with. */
  acceptedStatus: z.literal([200, 204]).default(204),
  challenge: challenge.optional(),
  greeting: greeting.optional(),
  /** Left out if a person sets the subscriptions up. */
  subscription: subscription.optional(),
  /** For people: what to set up at the vendor; `{url}` is the address that gets the events. */
  instructions: z.array(z.string()).optional(),
});
export type Events = z.output<typeof events>;

/** Asks whose account a connection is to. */
export const identity = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET'),
  path,
  body: json.optional(),
  workspaceRef: pointer,
  consumerRef: pointer.optional(),
});
export type Identity = z.output<typeof identity>;
