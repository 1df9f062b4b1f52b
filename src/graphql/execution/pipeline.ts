/**
 * What every operation goes through, over every transport: it is parsed, validated and measured, its caller is
 * admitted, its cost and its time are bounded, and errors become what clients read.
 */
import type { ExecutionArgs, ExecutionResult, OperationTypeNode } from 'graphql';
import type { Config } from '../../config.ts';
import type { Services } from '../../domain/call.ts';
import { type AcceptedAge, noteChange, readingServices } from '../../domain/viewer/accepted-age.ts';
import type { Admission } from '../../domain/viewer/admission.ts';
import type { Credentials } from '../../domain/viewer/viewer.ts';
import { inSpan } from '../../spans.ts';
import { operationMsMax, outOfTime, withDeadline } from '../../work/deadline.ts';
import { schema } from '../schema/schema.ts';
import { type Context, createContext } from './context.ts';
import { createErrorMapper, toGraphQLError } from './graphql-errors.ts';
import { createSubscribe, type Subscriptions } from './live-results.ts';
import { measured } from './measured.ts';
import type { Message } from './message.ts';
import { createPrepare, type Prepared, type Refused } from './prepare.ts';
import { costError } from './query-limits.ts';
import { traced } from './traced.ts';
import {
  createTrustedDocuments,
  type FoundDocument,
  type OwnDocuments,
  type Requested,
  type TrustedDocuments,
} from './trusted-documents.ts';

export type Results = ExecutionResult | AsyncIterable<Message>;

/** An operation as a client sends it. */
export interface OperationRequest extends Requested {
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
}

/** The caller, and how the operation was sent. */
export interface Caller extends AcceptedAge {
  requestId: string;
  /** The client's address. */
  address: string;
  /** The origin of the page that sends it, if that is neither the gateway's own nor the operator's. */
  page?: string | null | undefined;
  credentials: Credentials;
  /** Where an event stream that was cut begins again: a cursor. */
  lastEventId?: string | null;
  /** Whether extensions.cost is wanted. */
  wantsCost?: boolean;
  /** Sent by a safe HTTP method: it may change nothing. */
  isGet?: boolean;
}

/** Admitted, and not run yet. */
export interface Opened {
  args: ExecutionArgs & { contextValue: Context };
  cost: number;
  run: () => Promise<Results>;
}

export interface Pipeline {
  /** Answers with errors if nothing of the operation may run. */
  open(requested: OperationRequest, caller: Caller): Promise<Opened | Refused>;
  /** Opens and runs an operation. Never throws. */
  run(requested: OperationRequest, caller: Caller): Promise<Results>;
}

export function createPipeline(
  services: Services,
  admission: Admission,
  ownDocument?: OwnDocuments,
): Pipeline {
  const { config } = services;
  const mapError = createErrorMapper(services.log);
  const prepare = createPrepare(schema, config, mapError);
  const runPrepared = createRun(services, { streams: admission.streams, mapError });

  const documents = createTrustedDocuments(config, ownDocument);
  const open: Pipeline['open'] = async ({ operationName, variables, ...requested }, caller) => {
    const document = documents.find(requested);
    if ('errors' in document) return document;
    let kind: OperationTypeNode | undefined;
    try {
      const early = await admitEarly({ documents, admission }, document, caller);
      if (early?.refusal) return early.refusal;
      const prepared = prepare(document.text, operationName);
      if ('errors' in prepared) return prepared;
      kind = prepared.operation.operation;
      if (caller.isGet && kind === 'mutation') return MUTATION_BY_GET;
      const { credentials, requestId, lastEventId } = caller;
      const viewer = early ? early.viewer : await admission.admit(caller.credentials, caller);
      const cost = prepared.cost(variables);
      const tooCostly = costError(cost, config);
      if (tooCostly) return { errors: [tooCostly], kind, cost };
      const facts = { viewer, requestId, credentials, lastEventId };
      const own = kind === 'query' ? readingServices(services, viewer, caller) : services;
      const args = {
        schema,
        document: prepared.document,
        operationName: operationName || null,
        variableValues: variables,
        contextValue: createContext(own, facts),
      };
      const extensions = caller.wantsCost ? shownCost(cost, config) : undefined;
      return { args, cost, run: () => runPrepared(prepared, args, extensions) };
    } catch (error) {
      return { errors: [mapError(error)], ...(kind && { kind }) };
    }
  };

  const pipeline: Pipeline = {
    open,
    async run(requested, caller) {
      const opened = await open(requested, caller);
      return 'errors' in opened ? opened : opened.run();
    },
  };
  return traced(measured(pipeline, services.meters), services.tracer);
}

function shownCost(cost: number, { LIMIT_COST: limit }: Pick<Config, 'LIMIT_COST'>) {
  return { cost: { cost, limit } };
}

interface Entrance {
  documents: TrustedDocuments;
  admission: Admission;
}

/** The caller of a text that only some may run, looked at before it is parsed; undefined for other documents. */
async function admitEarly(
  { documents, admission }: Entrance,
  { text, isTrusted }: FoundDocument,
  caller: Caller,
) {
  if (isTrusted || !documents.areOnly) return undefined;
  const viewer = await admission.admit(caller.credentials, caller);
  return { viewer, refusal: documents.refusalFor(viewer, text) };
}

/** Runs what was admitted. Never throws. */
function createRun(services: Services, subscriptions: Subscriptions) {
  const { mapError } = subscriptions;
  const subscribe = createSubscribe(services, subscriptions);
  return async (
    { operation: { operation }, execute, operationKey }: Prepared,
    args: Opened['args'],
    extensions: ExecutionResult['extensions'],
  ): Promise<Results> => {
    try {
      if (operation === 'subscription') {
        return await subscribe({ args, operationKey: operationKey(args.variableValues) });
      }
      const executing = inSpan('execute', {}, () => execute(args));
      const running =
        operation === 'mutation' ? noted(executing, services, args.contextValue) : executing;
      const result =
        running instanceof Promise ? await withinTime(running, operation, services) : running;
      const errors = result.errors?.map(mapError);
      return { ...result, ...(errors && { errors }), ...(extensions && { extensions }) };
    } catch (error) {
      return { errors: [mapError(error)] };
    }
  };
}

async function noted(
  executing: ExecutionResult | Promise<ExecutionResult>,
  services: Services,
  { viewer }: Context,
): Promise<ExecutionResult> {
  try {
    return await executing;
  } finally {
    await noteChange(services, viewer);
  }
}

const MUTATION_BY_GET: Refused = {
  errors: [
    toGraphQLError('GRAPHQL_VALIDATION_FAILED', 'A mutation must be sent by POST.', {
      extra: { status: 405 },
      http: { headers: { allow: 'POST' } },
    }),
  ],
};

/** Ends the answer to an operation that takes too long; its statements end by the database's own timeout. */
function withinTime(
  running: Promise<ExecutionResult>,
  operation: 'query' | 'mutation',
  { config, database }: Services,
): Promise<ExecutionResult> {
  const isChange = operation === 'mutation';
  const maximumMs = operationMsMax(config, { isChange });
  return withDeadline(running, maximumMs, () => {
    throw database.outages.waitedFor(outOfTime('operation', { isChange, maximumMs }));
  });
}

/** A client that sends it gets extensions.cost. */
export const COST_HEADER = 'x-query-cost';

/** What the headers of a request say about its caller. */
export function callerOf(
  header: (name: string) => string | null,
  {
    requestId,
    address,
    page,
    setHeader,
  }: Pick<Caller, 'requestId' | 'address' | 'page' | 'setHeader'>,
): Caller {
  return {
    requestId,
    address,
    page,
    setHeader,
    credentials: { apiKey: header('x-api-key'), authorization: header('authorization') },
    lastEventId: header('last-event-id'),
    wantsCost: header(COST_HEADER) !== null,
    cacheControl: header('cache-control'),
  };
}
