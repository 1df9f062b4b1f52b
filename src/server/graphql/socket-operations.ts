/** Runs operations over WebSockets. graphql-ws implements the protocol, and Yoga's plugins run the operations. */
import type { IncomingHttpHeaders } from 'node:http';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { CloseCode, type Context, makeServer, type Server } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Admission } from '../../domain/access/viewer/admission.ts';
import type { Credentials } from '../../domain/access/viewer/find-viewer.ts';
import type { Viewer } from '../../domain/access/viewer/viewer.ts';
import {
  createErrorMapper,
  toGraphQLError,
  toPublicResult,
} from '../../graphql/execution/graphql-errors.ts';
import { type Message, surround, yieldMessage } from '../../graphql/execution/message.ts';
import type { OperationParams } from '../../graphql/execution/operation-context.ts';
import { DomainError, type ErrorCode } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { RequestClient } from '../http/request-client.ts';
import { type OpenedOperation, openOperation } from './open-operation.ts';
import { isResultStream } from './result-stream-format.ts';
import type { Send } from './socket-outbox.ts';
import type { Yoga } from './yoga.ts';

/** Close codes of RFC 6455. The codes of graphql-transport-ws are in `CloseCode`. */
export const CLOSE = {
  /** The server is stopping. A client that reconnects reaches another process. */
  goingAway: 1001,
  tryAgainLater: 1013,
} as const;

/** The maximum number of concurrent operations on one socket. */
const OPERATIONS_MAX = 100;
/** Time limit for the client to send connection_init. */
export const INIT_MS = 3_000;

/** The `extra` of graphql-ws: the socket, and metadata of its upgrade request. */
interface SocketExtra extends RequestClient {
  socket: WebSocket;
  headers: IncomingHttpHeaders;
  /** The project of a socket at /graphql/projects/{projectIdOrName}. */
  projectIdOrName: string | undefined;
  /** Resolves when the message is sent, or the client disconnects. */
  send: Send;
  /** Called when connection_init arrives, before its credentials are checked. */
  onInitReceived: () => void;
  /**
   * Called when the credentials are valid. Resolves when the socket may be used, which takes longer if the caller's sockets
   * were cut. Throws RATE_LIMITED or SERVICE_UNAVAILABLE if a limit of sockets is reached.
   */
  admit: (viewer: Viewer) => Promise<void>;
  /** The credentials that admitted the socket. */
  credentials?: Credentials;
  [name: string]: unknown;
}

export interface OperationServices {
  log: Log;
  yoga: Yoga;
  admission: Admission;
  initMs?: number;
}

type RunArgs = OpenedOperation['args'] & Pick<OpenedOperation, 'run'>;

export function createSocketOperations(services: OperationServices): Server<SocketExtra> {
  const { log, yoga, admission, initMs = INIT_MS } = services;
  const mapError = createErrorMapper(log);

  const open = async (
    { address, projectIdOrName, page, gatewayUrl, credentials = {} }: SocketExtra,
    params: OperationParams,
  ): Promise<RunArgs | readonly GraphQLError[]> => {
    const caller = { address, projectIdOrName, page, gatewayUrl, credentials, isOnSocket: true };
    const operation = await openOperation(yoga, params, caller);
    if ('errors' in operation) return operation.errors.map(mapError);
    return { ...operation.args, run: operation.run };
  };

  return makeServer<Record<string, unknown> | undefined, SocketExtra>({
    connectionInitWaitTimeout: initMs,
    onConnect: (context) => admit(context, admission),
    onSubscribe: ({ extra, subscriptions }, _id, payload) =>
      Object.keys(subscriptions).length > OPERATIONS_MAX
        ? [createTooManyOperationsError()]
        : open(extra, payload as OperationParams),
    execute: (args) => (args as RunArgs).run(),
    subscribe: (args) => (args as RunArgs).run(),
    onOperation: ({ extra }, id, _payload, _args, results) =>
      sendDirectly(isResultStream(results) ? results : yieldMessage(results as ExecutionResult), {
        id,
        send: extra.send,
      }),
    onError: (_context, _id, _payload, errors) =>
      toPublicResult({ errors: errors.map(mapError) }).errors ?? [],
  });
}

const MESSAGE_END = Buffer.from('}');

/**
 * Sends the messages of an operation directly, and returns only the end to the library. The library would serialize a
 * long result in one turn of the event loop, and each message of a subscription again for each subscriber.
 */
function sendDirectly(
  messages: AsyncIterable<Message>,
  { id, send }: { id: string; send: SocketExtra['send'] },
): AsyncGenerator<ExecutionResult> {
  const iterator = messages[Symbol.asyncIterator]();
  const messageStart = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
  const end = async (): Promise<IteratorResult<ExecutionResult>> => {
    await iterator.return?.();
    return { done: true, value: undefined };
  };
  return {
    async next() {
      for (;;) {
        const { done, value } = await iterator.next();
        if (done) return { done: true, value: undefined };
        await send(surround(messageStart, value.jsonParts, MESSAGE_END));
      }
    },
    return: end,
    async throw(error) {
      await end();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => {
      await end();
    },
  };
}

/** Codes of refusals that the client must not retry. */
const FINAL_CODES: readonly ErrorCode[] = ['UNAUTHENTICATED', 'FORBIDDEN'];

/**
 * Admits the client. Closes the socket if it may not connect, because the protocol has no refusal of connection_init.
 */
async function admit(
  { connectionParams, extra }: Context<Record<string, unknown> | undefined, SocketExtra>,
  admission: Admission,
): Promise<boolean> {
  const credentials = getCredentials(connectionParams, extra);
  extra.onInitReceived();
  try {
    const { address, page } = extra;
    const viewer = await admission.admit(credentials, { address, page });
    if (!viewer) {
      extra.socket.close(
        CloseCode.Unauthorized,
        'Send x-api-key or authorization in connection_init.',
      );
      return false;
    }
    await extra.admit(viewer);
  } catch (error) {
    const isRefused = error instanceof DomainError && FINAL_CODES.includes(error.code);
    extra.socket.close(
      isRefused ? CloseCode.Forbidden : CLOSE.tryAgainLater,
      createCloseReason(error),
    );
    return false;
  }
  extra.credentials = credentials;
  return true;
}

/** RFC 6455 allows 123 bytes for the reason. */
const REASON_MAX = 120;

/**
 * Returns the reason that accompanies a close code. If a limit is reached, the reason starts with what the headers of
 * an HTTP response would contain: status, limit and Retry-After.
 */
export function createCloseReason(error: unknown): string {
  if (!(error instanceof DomainError)) return 'Try again later.';
  const { status, limit, retryAfterSeconds, detail } = error.problem;
  const isLimited = typeof limit === 'string';
  const reason = isLimited
    ? `${status} ${limit}, Retry-After: ${retryAfterSeconds}. ${detail}`
    : detail;
  return reason.slice(0, REASON_MAX);
}

/**
 * Returns the credentials of connection_init, or else those of the upgrade request. In the upgrade request, browsers
 * can send only the cookie of the console.
 */
function getCredentials(
  params: Record<string, unknown> | undefined,
  { headers, session }: Pick<SocketExtra, 'headers' | 'session'>,
): Credentials {
  const entries = Object.entries(params ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const credentials = readCredentials(Object.fromEntries(entries));
  const hasCredentials = credentials.apiKey || credentials.authorization;
  return hasCredentials ? credentials : { ...readCredentials(headers), session };
}

function readCredentials(fields: Record<string, unknown>): Credentials {
  const read = (name: string) => {
    const value = fields[name];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  return { apiKey: read('x-api-key'), authorization: read('authorization') };
}

function createTooManyOperationsError(): GraphQLError {
  const detail = `This socket runs ${OPERATIONS_MAX} operations already, which is the limit. Complete one, or open another socket.`;
  const extra = { limit: 'operations of a socket', maximum: OPERATIONS_MAX };
  return toGraphQLError('QUERY_LIMIT_EXCEEDED', detail, { extra });
}
