/** The settings that limit the resources of one request, caller or process. */
import { milliseconds, wholeNumber } from './setting-kinds.ts';

/** Half of the maximum length of a string in Node. */
const TEXT_BYTES_MAX = 2 ** 28;
/** Documents are visited recursively, so much deeper documents would overflow the stack. */
const DEPTH_MAX = 500;
/** The largest request body with events, in bytes. No provider sends a larger one. */
export const EVENT_BODY_BYTES_MAX = 1024 * 1024;

/** Concurrency limits: the limits for all work, one project, one caller and one connection. */
const shareSettings = {
  LIMIT_REQUESTS: wholeNumber(1_000, 1).describe(
    'Requests that one process accepts at a time, running or waiting for their turn; more are refused with 503 and Retry-After',
  ),
  LIMIT_PROJECT_REQUESTS: wholeNumber(500, 1).describe(
    'Requests of one project that one process accepts at a time; more are refused with 429 and Retry-After',
  ),
  LIMIT_CALLER_REQUESTS: wholeNumber(300, 1).describe(
    'Requests of one API key, builder or end user that one process accepts at a time; more are refused with 429 and Retry-After',
  ),
  LIMIT_RUNNING: wholeNumber(64, 1).describe(
    'Requests that run at the same time in one process, weighted by cost; others wait for their turn',
  ),
  LIMIT_TURN_MS: milliseconds(5_000, 10).describe(
    'Milliseconds that a request waits for its turn before it is refused with 429 or 503 and Retry-After',
  ),
  LIMIT_COST_PER_REQUEST: wholeNumber(100, 1).describe(
    "Cost that counts as one request of the caller's rate; each further multiple counts as one more",
  ),
  LIMIT_HEAVY_COST: wholeNumber(2_000, 1).describe('Minimum cost of a heavy operation'),
  LIMIT_HEAVY: wholeNumber(2, 1).describe(
    'Heavy operations that run at the same time in one process; others wait for their turn',
  ),
  LIMIT_CALLER_HEAVY: wholeNumber(1, 1).describe(
    'Heavy operations of one caller that run at the same time in one process; others wait for their turn',
  ),
  LIMIT_PROVIDER_REQUESTS: wholeNumber(1_000, 1).describe(
    'Requests that wait for a provider in one process, counted apart from LIMIT_REQUESTS; more are refused with 503 and Retry-After',
  ),
  LIMIT_PROJECT_PROVIDER_REQUESTS: wholeNumber(200, 1).describe(
    'Requests of one project that wait for a provider in one process; more are refused with 429 and Retry-After',
  ),
  LIMIT_CALLER_PROVIDER_REQUESTS: wholeNumber(150, 1).describe(
    'Requests of one caller that wait for a provider in one process; more are refused with 429 and Retry-After',
  ),
  LIMIT_CONNECTION_REQUESTS: wholeNumber(150, 1).describe(
    'Requests through one connection that wait for a provider in one process; more are refused with 429 and Retry-After',
  ),
  LIMIT_SOCKETS: wholeNumber(20_000, 1).describe('WebSocket connections to one process'),
  LIMIT_PROJECT_SOCKETS: wholeNumber(10_000, 1).describe(
    'WebSocket connections of one project to one process',
  ),
  LIMIT_CALLER_SOCKETS: wholeNumber(5_000, 1).describe(
    'WebSocket connections of one caller to one process',
  ),
  LIMIT_PROCESS_SUBSCRIPTIONS: wholeNumber(50_000, 1).describe(
    'Open subscriptions of one process, over WebSockets and event streams',
  ),
  LIMIT_PROJECT_SUBSCRIPTIONS: wholeNumber(25_000, 1).describe(
    'Open subscriptions of one project in one process',
  ),
  LIMIT_SUBSCRIPTIONS: wholeNumber(10_000, 1).describe(
    'Open subscriptions of one caller in one process',
  ),
};

export const limitSettings = {
  LIMIT_BODY_BYTES: wholeNumber(1_048_576, 1024, TEXT_BYTES_MAX).describe(
    'Maximum bytes of a request body',
  ),
  LIMIT_DOCUMENT_BYTES: wholeNumber(65_536, 256, TEXT_BYTES_MAX).describe(
    'Maximum bytes of a GraphQL document',
  ),
  LIMIT_TOKENS: wholeNumber(2000, 10).describe('Tokens in a document'),
  LIMIT_DEPTH: wholeNumber(12, 1, DEPTH_MAX).describe('Nesting levels of fields in a document'),
  LIMIT_ALIASES: wholeNumber(30, 0).describe('Aliases in an operation'),
  LIMIT_ROOT_FIELDS: wholeNumber(30, 1).describe('Root fields of a query'),
  LIMIT_ROOT_MUTATIONS: wholeNumber(10, 1).describe('Root fields of a mutation'),
  LIMIT_DIRECTIVES: wholeNumber(20, 0).describe('Directives in an operation'),
  LIMIT_COST: wholeNumber(50_000, 1).describe(
    'Cost of an operation: 1 for each object and 100 for each page of a provider, times the enclosing page sizes',
  ),
  LIMIT_QUERY_MS: milliseconds(10_000, 100).describe('Milliseconds that a query may take'),
  LIMIT_MUTATION_MS: milliseconds(30_000, 100).describe(
    'Milliseconds that a mutation may take, which may wait for a provider',
  ),
  LIMIT_SWEEP_MS: milliseconds(30_000, 100).describe(
    'Milliseconds that a maintenance statement over all projects may take on PostgreSQL',
  ),
  LIMIT_PROXY_MS: milliseconds(300_000, 100).describe(
    'Milliseconds that a proxied request may take, to the end of the response',
  ),
  LIMIT_PENDING_DELIVERIES: wholeNumber(100_000, 1).describe(
    'Pending deliveries to enabled destinations of a project, above which its reads and writes wait',
  ),
  LIMIT_STREAM_BYTES: wholeNumber(1_073_741_824, 1_048_576).describe(
    'Bytes of messages that a stream keeps; above it, the oldest are removed within a minute',
  ),
  LIMIT_WAITING_EVENTS: wholeNumber(1_000_000, 1).describe(
    'Pending events of one provider app; more are refused with 503 and Retry-After',
  ),
  LIMIT_EVENT_REQUESTS_PER_SECOND: wholeNumber(2_000, 1).describe(
    'Event requests per second that one process accepts for one provider app, with a burst of twice as many; more are refused with 503 and Retry-After',
  ),
  LIMIT_EVENT_BYTES_PER_SECOND: wholeNumber(33_554_432, EVENT_BODY_BYTES_MAX).describe(
    'Bytes per second of event bodies that one process accepts for one provider app, with a burst of twice as many',
  ),
  ...shareSettings,
  LIMIT_HEAD_MS: milliseconds(5_000, 100).describe(
    'Milliseconds in which the head of a request must arrive',
  ),
  LIMIT_BODY_MS: milliseconds(5_000, 100).describe(
    'Milliseconds in which a body must arrive; a large one has more time by LIMIT_BODY_BYTES_PER_SECOND',
  ),
  LIMIT_BODY_BYTES_PER_SECOND: wholeNumber(32_768, 1).describe('Minimum speed of an arriving body'),
  LIMIT_UNFINISHED: wholeNumber(256, 1).describe(
    'Unfinished bodies of one address, and separately its WebSockets before connection_init; above it, the oldest that are older than a second are cut off',
  ),
  LIMIT_UNFINISHED_BYTES: wholeNumber(33_554_432, 65_536).describe(
    'Bytes of unfinished bodies of one address',
  ),
};
