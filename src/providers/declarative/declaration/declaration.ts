/**
 * The schema of a declared provider: where the vendor's lists are, how they page and filter by time, and where responses
 * hold ids, records and errors. Declarations are validated when their module loads.
 */
import { z } from 'zod';
import { eventList } from './event-list-declaration.ts';
import { events, identity } from './events-declaration.ts';
import { list } from './list-declaration.ts';
import { objectDeclaration } from './object-declaration.ts';
import { pointer, texts } from './request-location.ts';

export type {
  ListInput,
  ObjectDeclaration,
  ObjectDeclarationInput,
  StandardFields,
} from './object-declaration.ts';
export { objectDeclaration };

/** The meaning of an error response. The first matching rule applies. */
const errorRule = z.strictObject({
  status: z.int().optional(),
  /** Matches a header with this value, or with any value if none is given. */
  header: z.strictObject({ name: z.string(), value: z.string().optional() }).optional(),
  /** Matches a text in the messages of the response. */
  contains: z.string().optional(),
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

/** A header other than Retry-After that says when to retry. */
const waitHeader = z.strictObject({
  name: z.string(),
  format: z.enum(['seconds', 'unixSeconds', 'unixMilliseconds', 'iso']),
});
export type WaitHeader = z.output<typeof waitHeader>;

export const declaration = z.strictObject({
  /** The version of the vendor's API, if a header or a path selects it. */
  apiVersion: z.string().optional(),
  /** The URL of the vendor's documentation. */
  docsUrl: z.url(),
  /** The source that the declaration was checked against, for the provider's page. */
  checkedAgainst: z.string().min(1),
  /** Sentences for the provider's page: limits, and features of the vendor that are not used. */
  notes: z.array(z.string()).default([]),
  /** OAuth scopes that are needed to read and write all objects. */
  scopes: z.array(z.string()).default([]),
  /** Values that a connection needs besides its credentials. Paths and headers refer to them by `{{name}}`. */
  inputs: z
    .record(
      z.string().regex(/^\w+$/),
      z.strictObject({
        displayName: z.string(),
        /** Not required for connecting, because the vendor returns it only to a caller with a token. */
        isOptional: z.boolean().default(false),
      }),
    )
    .default({}),
  headers: texts,
  bodyFormat: z.enum(['json', 'form']).default('json'),
  /** The header of the vendor's idempotency keys, and how long the vendor is known to honor a key. */
  idempotency: z.strictObject({ header: z.string(), lifeMs: z.int().positive() }).optional(),
  errors: z.strictObject({
    /** Locations of error messages: each may hold a text, a list, or a map of texts. */
    messages: z.array(pointer).min(1),
    rules: z.array(errorRule).default([]),
    /** A member of a successful response that means a failure. */
    inSuccess: pointer.optional(),
    waitHeaders: z.array(waitHeader).default([]),
    /** How long to wait after a 429 that does not say when to retry. */
    defaultRetryAfterMs: z.int().positive().optional(),
  }),
  objects: z.record(z.string().regex(/^[\w-]+(\/[\w-]+)*$/), objectDeclaration),
  /** Any other object of an account. Paths refer to its name by `{object}`. */
  anyObject: objectDeclaration.optional(),
  /** Events that the vendor sends. Their objects must be readable by id. */
  events: events.optional(),
  /** Events of a vendor that only notifies about new entries in a list. */
  eventList: eventList.optional(),
  /** Finds the account of a token. Absent if the token response names the account, or nothing needs it. */
  identity: identity.optional(),
  /** The list of the account's objects. */
  objectList: z.strictObject({ list, name: pointer, displayName: pointer }).optional(),
});
export type Declaration = z.output<typeof declaration>;
export type DeclarationInput = z.input<typeof declaration>;
