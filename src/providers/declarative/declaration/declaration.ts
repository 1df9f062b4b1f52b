/**
 * How a provider is described as data. A declaration names where a vendor's lists are, how they page, how they
 * filter by time, and where ids, records and errors stand in the answers; the files beside this one turn it
 * into capabilities. Every part is checked when the module is loaded, so a wrong declaration does not start.
 */
import { z } from 'zod';
import { eventList } from './event-list-declaration.ts';
import { events, identity } from './events-declaration.ts';
import { list } from './list-declaration.ts';
import { objectDeclaration } from './object-declaration.ts';
import { pointer, texts } from './place.ts';

export type { ObjectDeclaration, ObjectDeclarationInput } from './object-declaration.ts';
export { objectDeclaration };

/** What an answer means beyond its status. The first rule that fits counts. */
const errorRule = z.strictObject({
  status: z.int().optional(),
  /** A header with exactly this value, or with any. */
  header: z.strictObject({ name: z.string(), value: z.string().optional() }).optional(),
  /** A text somewhere in the answer's words. */
  words: z.string().optional(),
  kind: z.enum([
    'AUTH_INVALIDATED',
    'FORBIDDEN',
    'BAD_REQUEST',
    'MISSING_OBJECT',
    'CURSOR_GONE',
    'RATE_LIMITED',
    'SERVER_ERROR',
    'RETRYABLE',
  ]),
});

/** A header that says when requests are taken again, if it is not Retry-After. */
const waitHeader = z.strictObject({
  name: z.string(),
  format: z.enum(['seconds', 'unixSeconds', 'unixMilliseconds', 'iso']),
});
export type WaitHeader = z.output<typeof waitHeader>;

export const declaration = z.strictObject({
  /** The version of the vendor's API, if a header or a path chooses it. */
  apiVersion: z.string().optional(),
  /** The vendor's documentation. */
  docsUrl: z.url(),
  /** What the facts were checked against; no live account was reached. */
  checkedAgainst: z.string().min(1),
  /** What the vendor has and the declaration does not use, or not fully: sentences for the docs. */
  notes: z.array(z.string()).default([]),
  /** Scopes to ask consent for, so that all objects can be read and written. */
  scopes: z.array(z.string()).default([]),
  /** What a connection must know beside its credentials; `{{name}}` in paths and headers. */
  inputs: z
    .record(
      z.string().regex(/^\w+$/),
      z.strictObject({
        displayName: z.string(),
        /** The vendor tells it only once there is a token: connecting goes without it. */
        isKnownLater: z.boolean().default(false),
      }),
    )
    .default({}),
  headers: texts,
  bodyFormat: z.enum(['json', 'form']).default('json'),
  /** The header of a key under which the vendor writes the same once, and for how long it surely does. */
  idempotency: z.strictObject({ header: z.string(), lifeMs: z.int().positive() }).optional(),
  errors: z.strictObject({
    /** Where the words of a refusal are: each may be a text, a list, or a map of texts. */
    messages: z.array(pointer).min(1),
    rules: z.array(errorRule).default([]),
    /** A member of a successful answer that means a failure. */
    inSuccess: pointer.optional(),
    waitHeaders: z.array(waitHeader).default([]),
    /** What to wait after a 429 that does not say it. */
    defaultRetryAfterMs: z.int().positive().optional(),
  }),
  objects: z.record(z.string().regex(/^[\w-]+(\/[\w-]+)*$/), objectDeclaration),
  /** Any other object of an account; paths have its name as `{object}`. */
  anyObject: objectDeclaration.optional(),
  /** The events that the vendor sends. The objects that it tells of can be read by their ids. */
  events: events.optional(),
  /** The same of a vendor that tells only that there is something new in a list. */
  eventList: eventList.optional(),
  /** Asks whose account it is; left out if the token's answer tells it, or nothing needs it. */
  identity: identity.optional(),
  /** Where the account lists its objects. */
  objectList: z.strictObject({ list, name: pointer, displayName: pointer }).optional(),
});
export type Declaration = z.output<typeof declaration>;
export type DeclarationInput = z.input<typeof declaration>;
