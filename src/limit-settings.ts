/** The settings that limit the resources of one request, caller or process. */
import { milliseconds, wholeNumber } from './setting-kinds.ts';

/** Half of the maximum length of a string in Node. */
const TEXT_MAX_BYTES = 2 ** 28;
/** Documents are visited recursively: much deeper ones would overflow the stack. */
const DEPTH_MAX = 500;
/** The largest request body with events, in bytes. No provider sends a larger one. */
export const EVENT_BODY_BYTES_MAX = 1024 * 1024;

/** Shares of a process: the limits for all work, one project, one caller and one connection. */
const shareSettings = {
  LIMIT_REQUESTS: wholeNumber(1_000, 1).describe(
    'Requests that one process holds at a time, running or waiting for their turn; more are refused with 503 and Retry-After',
  ),
  LIMIT_PROJECT_REQUESTS: wholeNumber(500, 1).describe(
    'Of these, requests of one project; more are refused with 429 and Retry-After',
  ),
  LIMIT_CALLER_REQUESTS: wholeNumber(300, 1).describe(
    'Of these, requests of one API key, builder or end user; more are refused with 429 and Retry-After',
  ),
  LIMIT_RUNNING: wholeNumber(64, 1).describe(
    'Requests that run at the same time in one process, an operation as many as its cost counts as; others wait for their turn',
  ),
  LIMIT_TURN_MS: milliseconds(5_000, 10).describe(
    'Longest wait of a request for its turn; then it is refused with 429 or 503 and Retry-After',
  ),
  LIMIT_COST_PER_REQUEST: wholeNumber(100, 1).describe(
    'Cost of an operation that counts as one request of the rate of its caller; each further part of it counts as one more',
  ),
  LIMIT_HEAVY_COST: wholeNumber(2_000, 1).describe('Cost from which on an operation is heavy'),
  LIMIT_HEAVY: wholeNumber(2, 1).describe(
    'Heavy operations that run at the same time in one process; others wait for their turn',
  ),
  LIMIT_CALLER_HEAVY: wholeNumber(1, 1).describe('Of these, heavy operations of one caller'),
  LIMIT_PROVIDER_REQUESTS: wholeNumber(1_000, 1).describe(
    'Requests that wait for a provider in one process, beside LIMIT_REQUESTS; more are refused with 503 and Retry-After',
  ),
  LIMIT_PROJECT_PROVIDER_REQUESTS: wholeNumber(200, 1).describe(
    'Of these, requests of one project; more are refused with 429 and Retry-After',
  ),
  LIMIT_CALLER_PROVIDER_REQUESTS: wholeNumber(150, 1).describe(
    'Of these, requests of one caller; more are refused with 429 and Retry-After',
  ),
  LIMIT_CONNECTION_REQUESTS: wholeNumber(150, 1).describe(
    'Of these, requests to one connection; more are refused with 429 and Retry-After',
  ),
  LIMIT_SOCKETS: wholeNumber(20_000, 1).describe('WebSocket connections to one process'),
  LIMIT_PROJECT_SOCKETS: wholeNumber(10_000, 1).describe('Of these, WebSockets of one project'),
  LIMIT_CALLER_SOCKETS: wholeNumber(5_000, 1).describe('Of these, WebSockets of one caller'),
  LIMIT_PROCESS_SUBSCRIPTIONS: wholeNumber(50_000, 1).describe(
    'Subscriptions that one process has open, over WebSockets and event streams',
  ),
  LIMIT_PROJECT_SUBSCRIPTIONS: wholeNumber(25_000, 1).describe(
    'Of these, subscriptions of one project',
  ),
  LIMIT_SUBSCRIPTIONS: wholeNumber(10_000, 1).describe('Of these, subscriptions of one caller'),
};

export const limitSettings = {
  LIMIT_BODY_BYTES: wholeNumber(1_048_576, 1024, TEXT_MAX_BYTES).describe('Largest request body'),
  LIMIT_DOCUMENT_BYTES: wholeNumber(65_536, 256, TEXT_MAX_BYTES).describe(
    'Largest GraphQL document',
  ),
  LIMIT_TOKENS: wholeNumber(2000, 10).describe('Tokens in a document'),
  LIMIT_DEPTH: wholeNumber(12, 1, DEPTH_MAX).describe('Levels of fields'),
  LIMIT_ALIASES: wholeNumber(30, 0).describe('Aliases in an operation'),
  LIMIT_ROOT_FIELDS: wholeNumber(30, 1).describe('Root fields of a query'),
  LIMIT_ROOT_MUTATIONS: wholeNumber(10, 1).describe('Root fields of a mutation'),
  LIMIT_DIRECTIVES: wholeNumber(20, 0).describe('Directives in an operation'),
  LIMIT_COST: wholeNumber(50_000, 1).describe(
    'Cost of an operation: each object 1, and each page of a provider 100, times the page sizes around it',
  ),
  LIMIT_QUERY_MS: milliseconds(10_000, 100).describe('Time of a query'),
  LIMIT_MUTATION_MS: milliseconds(30_000, 100).describe(
    'Time of a mutation, which may wait for a provider',
  ),
  LIMIT_SWEEP_MS: milliseconds(30_000, 100).describe(
    'Time of one statement that looks after all projects, on PostgreSQL',
  ),
  LIMIT_PROXY_MS: milliseconds(300_000, 100).describe(
    'Time of a request that is forwarded to a provider, to the end of its answer',
  ),
  LIMIT_PENDING_DELIVERIES: wholeNumber(100_000, 1).describe(
    'Deliveries pending to enabled destinations of a project, from which on reads and writes wait',
  ),
  LIMIT_STREAM_BYTES: wholeNumber(1_073_741_824, 1_048_576).describe(
    'Bytes of messages that a stream keeps; the oldest beyond them are removed within a minute',
  ),
  LIMIT_WAITING_EVENTS: wholeNumber(1_000_000, 1).describe(
    'Events of one provider app that wait to be done, from which on more are refused with 503 and Retry-After',
  ),
  LIMIT_EVENT_REQUESTS_PER_SECOND: wholeNumber(2_000, 1).describe(
    'Requests that one process takes from the provider of one provider app; twice as many may come at once, more are refused with 503 and Retry-After',
  ),
  LIMIT_EVENT_BYTES_PER_SECOND: wholeNumber(33_554_432, EVENT_BODY_BYTES_MAX).describe(
    'Bytes of their bodies; twice as many may come at once',
  ),
  ...shareSettings,
  LIMIT_HEAD_MS: milliseconds(5_000, 100).describe(
    'Time in which the head of a request must arrive',
  ),
  LIMIT_BODY_MS: milliseconds(5_000, 100).describe(
    'Time for a body to come; a large one has more by LIMIT_BODY_BYTES_PER_SECOND',
  ),
  LIMIT_BODY_BYTES_PER_SECOND: wholeNumber(32_768, 1).describe('Lowest speed of a body'),
  LIMIT_UNFINISHED: wholeNumber(256, 1).describe(
    'Bodies and sockets of one address, each, that are unfinished for over a second; the oldest are cut off',
  ),
  LIMIT_UNFINISHED_BYTES: wholeNumber(33_554_432, 65_536).describe(
    'Bytes that unfinished bodies of one address may take',
  ),
};
