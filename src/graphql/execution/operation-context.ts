/**
 * The context that Yoga's plugins share about an operation: its parameters, its caller, and the results of the plugins.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Context as TraceContext } from '@opentelemetry/api';
import type {
  DocumentNode,
  ExecutionArgs,
  ExecutionResult,
  GraphQLError,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Row } from '../../domain/access/scope.ts';
import type { Credentials } from '../../domain/access/viewer/find-viewer.ts';
import type { RequestSlot } from '../../domain/access/viewer/share/request-slot.ts';
import type { Pace } from '../../work/pace.ts';
import type { Context } from './context.ts';
import type { Message } from './message.ts';
import type { Cost } from './query-limits.ts';
import type { DocumentParams } from './trusted-documents.ts';

/** The result of an operation, or the messages of its subscription. */
export type Results = ExecutionResult | AsyncIterable<Message>;

/** An operation as a client sends it. */
export interface OperationParams extends DocumentParams {
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
}

/** The request that contains an operation, with the credentials of its caller. */
export interface OperationRequest {
  /** The client's address. */
  address: string;
  /**
   * The origin of the page that sends the operation. Null or absent for the gateway's own pages and those of
   * CORS_ORIGINS.
   */
  page?: string | null | undefined;
  /** An open stream checks them periodically. */
  credentials: Credentials;
  /** The cursor after which an interrupted event stream resumes. */
  lastEventId?: string | null;
  /** The URL by which the client reaches the gateway, if that replaces `Services.publicUrl`. */
  gatewayUrl?: string | null | undefined;
  /** The slot of the request. use-fair-shares.ts creates one for an operation of a WebSocket. */
  slot?: RequestSlot | undefined;
  /** The project of an operation at /graphql/projects/{projectIdOrName}. Absent at /graphql. */
  projectIdOrName?: string | undefined;
  /** Sets a header of the response. Absent on a WebSocket. */
  setHeader?: ((name: string, value: string) => void) | undefined;
  /** True if the result includes `extensions.cost`. */
  wantsCost?: boolean;
  /** True for an operation of a WebSocket, which belongs to no HTTP request. */
  isOnSocket?: boolean;
}

/** The state that plugins share about one operation. Members are absent before the plugin that sets them has run. */
export interface OperationContext extends OperationRequest, Omit<Context, keyof OperationRequest> {
  params: OperationParams;
  /** Set by use-documents.ts after parsing, together with `operation`, `text` and `isTrusted`. */
  document?: DocumentNode;
  operation?: OperationDefinitionNode;
  text?: string;
  isTrusted?: boolean;
  /** Set by use-documents.ts if the document must not be validated before the caller is identified. */
  validateLater?: (schema: GraphQLSchema) => readonly GraphQLError[];
  /** Set by useSchema: the schema of /graphql or of the project. */
  schema?: GraphQLSchema;
  /** Set by useSchema at /graphql/projects/{projectIdOrName}. */
  project?: Readonly<Row<'Project'>>;
  /** Set by argument-checks.ts if it has coerced the variables itself, and returned their errors. */
  hasCoercedVariables?: boolean;
  /** Set by use-cost.ts. */
  cost?: Cost;
  /** Set by use-fair-shares.ts: the number of requests that the operation counts as in rate limits. */
  weight?: number;
  /** Set by use-fair-shares.ts for a heavy operation. */
  pace?: Pace;
  /** Set by use-fair-shares.ts if the slot ends with the operation. */
  ownsSlot?: boolean;
  /** Set by use-metrics.ts: `performance.now()` at the start of the operation. */
  startMs?: number;
  /** Set by use-tracing.ts. `isOwn` is false if the span belongs to the HTTP request. */
  tracing?: { traceContext: TraceContext; isOwn: boolean };
}

export type OperationPlugin = Plugin<OperationContext>;

export type OperationArgs = ExecutionArgs & { contextValue: OperationContext };

/** Adds the credentials and options in the headers of a request to its metadata. */
export function readOperationRequest<Metadata extends Omit<OperationRequest, 'credentials'>>(
  headers: IncomingHttpHeaders,
  metadata: Metadata & Pick<Credentials, 'session'>,
): Metadata & OperationRequest {
  const readHeader = (name: string) => (headers[name] as string | undefined) ?? null;
  return {
    ...metadata,
    credentials: {
      apiKey: readHeader('x-api-key'),
      authorization: readHeader('authorization'),
      session: metadata.session,
    },
    lastEventId: readHeader('last-event-id'),
    wantsCost: COST_HEADER in headers,
  };
}

/** The header that requests `extensions.cost`. */
const COST_HEADER = 'x-query-cost';

/** Returns the errors of a step of the pipeline. A step throws one error, or an AggregateError with several. */
export function listErrors(error: unknown): readonly unknown[] {
  return error instanceof AggregateError ? error.errors : [error];
}
