/**
 * The schema of a declared provider: where the vendor's lists are, how they page and filter by time, and where responses
 * hold ids, records and errors. Locations in JSON, such as `/data/id`, are JSON Pointers (RFC 6901). Declarations are
 * validated when their module loads.
 */
import { z } from 'zod';
import { behavior, errorMatch } from '../../behavior.ts';
import { eventList, eventsDeclaration, identityRequest } from './events-declaration.ts';
import { listDeclaration } from './list-declaration.ts';
import { objectDeclaration, writeOnlyObject } from './object-declaration.ts';
import { pointer, stringMap } from './request-location.ts';

export type {
  ListInput,
  ObjectDeclaration,
  ObjectDeclarationInput,
  StandardFields,
} from './object-declaration.ts';
export { objectDeclaration };

/**
 * The meaning of an error response. The first matching rule applies. Rate limits and expired cursors are declared in
 * `behavior`.
 */
const errorRule = errorMatch.extend({
  kind: z.enum([
    'AUTH_INVALIDATED',
    'FORBIDDEN',
    'BAD_REQUEST',
    'MISSING_OBJECT',
    'SERVER_ERROR',
    'RETRYABLE',
  ]),
  /** How long to wait before a retry if the response does not say. */
  waitMs: z.int().positive().optional(),
});

/** A header other than Retry-After that says when to retry. */
const retryHeader = z.strictObject({
  name: z.string(),
  format: z.enum(['seconds', 'unixSeconds', 'unixMilliseconds', 'iso']),
  /** The header counts only in responses that also have this one. */
  requires: errorMatch.shape.header,
});
export type RetryHeader = z.output<typeof retryHeader>;

const objectName = z.string().regex(/^[\w-]+(\/[\w-]+)*$/);

export const providerDeclaration = z.strictObject({
  /** The version of the vendor's API, if a header or a path selects it. */
  apiVersion: z.string().optional(),
  /** The URL of the vendor's documentation. */
  docsUrl: z.url(),
  /** The source that the declaration was checked against, for the provider's page. */
  checkedAgainst: z.string().min(1),
  /** Sentences for the provider's page: limits, and features of the vendor that are not used. */
  notes: z.array(z.string()).default([]),
  /** OAuth scopes that reading and writing all objects requires. */
  scopes: z.array(z.string()).default([]),
  /** Values that a connection needs besides credentials. Paths and headers refer to them by `{{name}}`. */
  inputs: z
    .record(
      z.string().regex(/^\w+$/),
      z.strictObject({
        displayName: z.string(),
        /** True if connecting does not require it, because the vendor reveals it only to a caller with a token. */
        isOptional: z.boolean().default(false),
      }),
    )
    .default({}),
  /** Headers of every request. */
  headers: stringMap,
  bodyFormat: z.enum(['json', 'form']).default('json'),
  /** The header of the vendor's idempotency keys, and how long the vendor is known to honor a key. */
  idempotency: z.strictObject({ header: z.string(), keyLifetimeMs: z.int().positive() }).optional(),
  errors: z.strictObject({
    /** Locations of error messages: each may hold a string, a list, or a map of strings. */
    messages: z.array(pointer).min(1),
    rules: z.array(errorRule).default([]),
    /** A member whose presence in a response with a success status means a failure. */
    failureMember: pointer.optional(),
    retryHeaders: z.array(retryHeader).default([]),
    /** Where the body of an error response says in how many seconds to retry. */
    retrySeconds: pointer.optional(),
  }),
  /** How the vendor's lists behave. A list's own `behavior` overrides it. */
  behavior,
  objects: z.record(objectName, objectDeclaration),
  /** Objects that the vendor only creates: it has neither a list nor a request for one of them. */
  writeOnlyObjects: z.record(objectName, writeOnlyObject).default({}),
  /** Declares all other objects of an account, such as custom ones. Paths refer to the object's name by `{object}`. */
  otherObjects: objectDeclaration.optional(),
  /** Events that the vendor sends. Their objects must be readable by id. */
  events: eventsDeclaration.optional(),
  /** Events of a vendor whose webhook only notifies of changes. */
  eventList: eventList.optional(),
  /** Finds the account of a token. Absent if the token response names it, or if nothing needs it. */
  identity: identityRequest.optional(),
  /** The list of the account's objects. */
  objectList: z
    .strictObject({ list: listDeclaration, name: pointer, displayName: pointer })
    .optional(),
});
export type Declaration = z.output<typeof providerDeclaration>;
export type DeclarationInput = z.input<typeof providerDeclaration>;
