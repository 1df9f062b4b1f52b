/**
 * The schema of a declared provider: where the vendor's lists are, how they page and filter by time, and where responses
 * hold ids, records and errors. Locations in JSON, such as `/data/id`, are JSON Pointers (RFC 6901). Declarations are
 * validated when their module loads.
 */
import { z } from 'zod';
import { DAY_MS } from '../../../work/durations.ts';
import { behavior, errorMatch } from '../../behavior.ts';
import { inputHelp } from '../../catalog/entry-schema.ts';
import { eventList, eventsDeclaration, identityRequest } from './events-declaration.ts';
import { listDeclaration } from './list-declaration.ts';
import { objectDeclaration, writeOnlyObject } from './object-declaration.ts';
import { headerMap, headerName, pointer } from './request-location.ts';

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
  waitMs: z
    .int()
    .positive()
    .max(DAY_MS)
    .optional()
    .describe('How long to wait before a retry if the response does not say.'),
});

const retryHeader = z
  .strictObject({
    name: z.string(),
    format: z.enum(['seconds', 'unixSeconds', 'unixMilliseconds', 'iso']),
    requires: errorMatch.shape.header.describe(
      'The header counts only in responses that also have this one.',
    ),
  })
  .describe('A header other than Retry-After that says when to retry.');
export type RetryHeader = z.output<typeof retryHeader>;

const objectName = z
  .string()
  .max(200)
  .regex(/^[\w-]+(\/[\w-]+)*$/);

export const providerDeclaration = z.strictObject({
  apiVersion: z
    .string()
    .optional()
    .describe("The version of the vendor's API, if a header or a path selects it."),
  docsUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional()
    .describe("The URL of the vendor's documentation."),
  checkedAgainst: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe("The source that the declaration was checked against, for the provider's page."),
  notes: z
    .array(z.string().max(2_000))
    .max(50)
    .default([])
    .describe(
      "Sentences for the provider's page: limits, and features of the vendor that are not used.",
    ),
  scopes: z
    .array(z.string().min(1).max(500))
    .max(200)
    .default([])
    .describe('OAuth scopes that reading and writing all objects requires.'),
  inputs: z
    .record(
      z.string().regex(/^\w{1,64}$/),
      inputHelp.extend({
        displayName: z.string().max(200),
        isOptional: z
          .boolean()
          .default(false)
          .describe(
            'True if connecting does not require it, because the vendor reveals it only to a caller with a token.',
          ),
      }),
    )
    .default({})
    .describe(
      'Values that a connection needs besides credentials. Paths and headers refer to them by `{{name}}`.',
    ),
  headers: headerMap.describe('Headers of every request.'),
  bodyFormat: z.enum(['json', 'form']).default('json'),
  idempotency: z
    .strictObject({
      header: headerName,
      keyLifetimeMs: z
        .int()
        .positive()
        .max(366 * DAY_MS),
    })
    .optional()
    .describe(
      "The header of the vendor's idempotency keys, and how long the vendor is known to honor a key.",
    ),
  errors: z
    .strictObject({
      messages: z
        .array(pointer)
        .min(1)
        .max(20)
        .default(['/error', '/errors', '/message', '/detail'])
        .describe(
          'Locations of error messages: each may hold a string, a list, or a map of strings.',
        ),
      rules: z.array(errorRule).max(50).default([]),
      failureMember: pointer
        .optional()
        .describe('A member whose presence in a response with a success status means a failure.'),
      retryHeaders: z.array(retryHeader).max(20).default([]),
      retrySeconds: pointer
        .optional()
        .describe('Where the body of an error response says in how many seconds to retry.'),
    })
    .prefault({}),
  behavior: behavior
    .prefault({})
    .describe("How the vendor's lists behave. A list's own `behavior` overrides it."),
  objects: z.record(objectName, objectDeclaration),
  writeOnlyObjects: z
    .record(objectName, writeOnlyObject)
    .default({})
    .describe(
      'Objects that the vendor only creates: it has neither a list nor a request for one of them.',
    ),
  otherObjects: objectDeclaration
    .optional()
    .describe(
      "Declares all other objects of an account, such as custom ones. Paths refer to the object's name by `{object}`.",
    ),
  events: eventsDeclaration
    .optional()
    .describe('Events that the vendor sends. Their objects must be readable by id.'),
  eventList: eventList
    .optional()
    .describe('Events of a vendor whose webhook only notifies of changes.'),
  identity: identityRequest
    .optional()
    .describe(
      'Finds the account of a token. Absent if the token response names it, or if nothing needs it.',
    ),
  objectList: z
    .strictObject({ list: listDeclaration, name: pointer, displayName: pointer })
    .optional()
    .describe("The list of the account's objects."),
});
export type Declaration = z.output<typeof providerDeclaration>;
export type DeclarationInput = z.input<typeof providerDeclaration>;
